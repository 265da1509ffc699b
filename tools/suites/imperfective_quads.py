"""Proves what `imperfective-quads` promises, and measures how far the surface gives telicity away.

`python -m tools.suites.imperfective_quads` prints the findings and the figures; it exits with status
1 where a promise is broken. The forms are compared with pyinflect, a development dependency.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from statistics import fmean

from rich.console import Console
from rich.table import Table

from tools.suites.leakage import FEATURES, Spread, accuracy_spread
from veridical.items import Item, Suite
from veridical.suites.imperfective.quads import Quad, build_suite, read_lexicon
from veridical.suites.imperfective.sentences import VerbPhrase

GOLD = {"A": ("False",), "B": ("True",), "C": ("Unknown",), "D": ("True",)}

# What the suite promises about its own size and variety.
MIN_QUADS, MIN_VERBS, MIN_INTERRUPTIONS = 70, 50, 30
MAX_PER_VERB, MAX_PER_SUBJECT = 2, 2
MIN_SHARE_OF_LIKE_LENGTH = 0.5
MIN_PER_CLASS = 8
MIN_BARE = 10
MAX_UNSHARED = 4
MAX_SHARE_OF_DEATHS = 0.4

DEATH = re.compile(r"\b(die[sd]?|dead|deaths?|drown\w*|kill\w*|froze|shot|stroke|swallowed)\b")

GENDERED = {"he": {"he", "him", "his", "himself"}, "she": {"she", "her", "hers", "herself"}}
TEXTS = {
    "A and B premises": ("premise", "AB"),
    "C and D premises": ("premise", "CD"),
    "hypotheses": ("hypothesis", "AB"),
}


@dataclass(frozen=True, slots=True)
class Quadruple:
    """An entry and the four items that the suite holds for it, by role."""

    quad: Quad
    items: dict[str, Item]

    def text(self, field: str, role: str) -> str:
        """A field's text in the item of a role."""
        return self.items[role].fields[field]


def quadruples(quads: Sequence[Quad], suite: Suite) -> list[Quadruple]:
    """Entries joined with their items. Raises KeyError for an entry whose set the suite lacks."""
    sets = suite.grouping("quad").sets()
    return [Quadruple(quad, {member.role: suite.by_id[member.item] for member in sets[quad.id]}) for quad in quads]


def has_four_roles(four: Quadruple) -> Iterator[str]:
    """A quadruple has the items A, B, C and D."""
    if set(four.items) != set(GOLD):
        yield f"roles are {', '.join(sorted(four.items))}, not A, B, C, D"


def gold_follows_role(four: Quadruple) -> Iterator[str]:
    """Every item has the gold label of its role."""
    for role, item in four.items.items():
        if item.gold != GOLD[role]:
            yield f"gold of {role} is {item.gold}, not {GOLD[role]}"


def ambiguous_is_prefix(four: Quadruple) -> Iterator[str]:
    """C within A and D within B, and what follows is the same interruption, verbatim."""
    for ambiguous, interrupted in (("C", "A"), ("D", "B")):
        stem = four.text("premise", ambiguous).removesuffix(".")
        rest = four.text("premise", interrupted).removeprefix(stem)
        if rest != f" {four.quad.interruption}.":
            yield f"{interrupted} is not {ambiguous} and the interruption: {rest!r} follows"


def hypothesis_matches_premise(four: Quadruple) -> Iterator[str]:
    """Subject, verb and complement are the same in premise and hypothesis, and fixed but for the complement."""
    quad = four.quad
    phrase = VerbPhrase(quad.verb, forms=quad.forms)
    for role, item in four.items.items():
        complement = quad.telic if role in "AC" else quad.atelic
        tail = f" {complement}." if complement else "."
        if item.fields["hypothesis"] != f"{quad.subject} {phrase.past}{tail}":
            yield f"hypothesis of {role} is {item.fields['hypothesis']!r}"
        if role in "CD" and item.fields["premise"] != f"{quad.subject} was {phrase.ing}{tail}":
            yield f"premise of {role} is {item.fields['premise']!r}"


def complements_differ(four: Quadruple) -> Iterator[str]:
    """The telic and the atelic complement are two texts."""
    if four.quad.telic == four.quad.atelic:
        yield "telic and atelic complement are the same"


def unshared_words(quad: Quad) -> tuple[int, int]:
    """Words of the telic and of the atelic complement outside what the two share, in order."""
    telic, atelic = quad.telic.split(), quad.atelic.split()
    blocks = SequenceMatcher(None, telic, atelic, autojunk=False).get_matching_blocks()
    shared = sum(block.size for block in blocks)
    return len(telic) - shared, len(atelic) - shared


def complements_are_minimal(four: Quadruple) -> Iterator[str]:
    """The complements differ in few words."""
    if (most := max(unshared_words(four.quad))) > MAX_UNSHARED:
        yield f"{most} words of one complement are not in the other; at most {MAX_UNSHARED} may differ"


def deaths_are_recorded(four: Quadruple) -> Iterator[str]:
    """So that the share of deaths can be counted from `rules_out`."""
    quad = four.quad
    if quad.rules_out != "died" and (word := DEATH.search(quad.interruption)):
        yield f"the interruption says {word.group()!r}, 'rules_out' is {quad.rules_out!r}, not 'died'"


def judgements_hold(four: Quadruple) -> Iterator[str]:
    """The recorded judgements of `in an hour` and `for an hour` are those of each telicity."""
    quad = four.quad
    if not quad.in_an_hour.telic or quad.for_an_hour.telic:
        yield "the telic verb phrase must pass 'in an hour' and fail 'for an hour'"
    if quad.in_an_hour.atelic or not quad.for_an_hour.atelic:
        yield "the atelic verb phrase must fail 'in an hour' and pass 'for an hour'"


def forms_agree(four: Quadruple) -> Iterator[str]:
    """pyinflect knows the past and the participle."""
    # Imported here: after lemminflect, whose import fails once pyinflect has extended spaCy.
    import pyinflect

    phrase = VerbPhrase(four.quad.verb, forms=four.quad.forms)
    for form, tag in ((phrase.past, "VBD"), (phrase.ing, "VBG")):
        known = pyinflect.getInflection(phrase.verb, tag) or ()
        if form not in known:
            yield f"{tag} of {phrase.verb!r} is {form!r}; pyinflect knows {', '.join(known) or 'none'}"


def interruption_is_clean(four: Quadruple) -> Iterator[str]:
    """A `when` clause with no full stop, no form of the verb and no pronoun of the other gender."""
    quad = four.quad
    words = quad.interruption.lower().replace(",", "").split()
    if words[0] != "when" or quad.interruption.endswith("."):
        yield "the interruption must begin with 'when' and have no full stop"
    phrase = VerbPhrase(quad.verb, forms=quad.forms)
    if forms := {phrase.verb, phrase.past, phrase.ing} & set(words):
        yield f"the interruption repeats the verb: {', '.join(sorted(forms))}"
    for pronoun, family in GENDERED.items():
        if pronoun != quad.pronoun and (strays := family & set(words)):
            yield f"pronoun {', '.join(sorted(strays))} in the interruption, {quad.pronoun!r} recorded"


PER_QUAD: tuple[Callable[[Quadruple], Iterator[str]], ...] = (
    has_four_roles,
    gold_follows_role,
    ambiguous_is_prefix,
    hypothesis_matches_premise,
    complements_differ,
    complements_are_minimal,
    deaths_are_recorded,
    judgements_hold,
    forms_agree,
    interruption_is_clean,
)


def length_difference(quad: Quad) -> int:
    """Words of the telic complement less words of the atelic one."""
    return len(quad.telic.split()) - len(quad.atelic.split())


def is_bare(quad: Quad) -> bool:
    """The atelic complement has nothing where the telic one has its object or goal."""
    return unshared_words(quad)[1] == 0


def variety_faults(quads: Sequence[Quad]) -> Iterator[str]:
    """Counts that hold for the suite as a whole."""
    verbs = Counter(quad.verb for quad in quads)
    subjects = Counter(quad.subject for quad in quads)
    interruptions = {quad.interruption for quad in quads}
    classes = Counter(quad.verb_class for quad in quads)
    floors = {
        "quadruples": (len(quads), MIN_QUADS),
        "verbs": (len(verbs), MIN_VERBS),
        "interruptions": (len(interruptions), MIN_INTERRUPTIONS),
        "quadruples with a bare atelic member": (sum(map(is_bare, quads)), MIN_BARE),
        **{f"quadruples of class {name}": (count, MIN_PER_CLASS) for name, count in classes.items()},
    }
    for name, (count, floor) in floors.items():
        if count < floor:
            yield f"{count} {name}; at least {floor} are promised"
    for counts, most in ((verbs, MAX_PER_VERB), (subjects, MAX_PER_SUBJECT)):
        yield from (f"{name!r} stands {n} times, more than {most}" for name, n in counts.items() if n > most)
    alike = sum(abs(length_difference(quad)) <= 1 for quad in quads)
    if alike < MIN_SHARE_OF_LIKE_LENGTH * len(quads):
        yield f"only {alike} of {len(quads)} quadruples have complements within one word of each other"
    deaths = sum(quad.rules_out == "died" for quad in quads)
    if deaths > MAX_SHARE_OF_DEATHS * len(quads):
        yield f"the agent dies in {deaths} of {len(quads)} quadruples, more than {MAX_SHARE_OF_DEATHS:.0%}"


def duplicate_texts(suite: Suite) -> Iterator[str]:
    """Premises that stand twice; a hypothesis may, within its set only."""
    premises = Counter(item.fields["premise"] for item in suite.items)
    yield from (f"premise stands {n} times: {text!r}" for text, n in premises.items() if n > 1)
    hypotheses = Counter(item.fields["hypothesis"] for item in suite.items)
    yield from (f"hypothesis stands {n} times: {text!r}" for text, n in hypotheses.items() if n > 2)


def violations(quads: Sequence[Quad], suite: Suite) -> list[str]:
    """Every broken promise, as 'entry: fault'; empty where the suite holds."""
    found = [
        f"{four.quad.id}: {fault}" for four in quadruples(quads, suite) for check in PER_QUAD for fault in check(four)
    ]
    return [*found, *variety_faults(quads), *duplicate_texts(suite)]


@dataclass(frozen=True, slots=True)
class Cue:
    """How well one kind of surface feature of one text tells telic from atelic, over partitions."""

    text: str
    features: str
    accuracy: Spread

    @property
    def gap(self) -> float:
        """The awareness gap of a responder with nothing else: True to what it takes for atelic, Unknown to the rest.

        Acc_D - TBR_C = P(atelic said | D) - P(atelic said | C), which is 2 * accuracy - 1 for as many C as D.
        """
        return 2 * self.accuracy.mean - 1


def surface_cues(fours: Sequence[Quadruple]) -> list[Cue]:
    """Accuracy at telling telic from atelic; folds by verb keep a quadruple together."""
    verbs = [four.quad.verb for four in fours]
    telic = [True] * len(fours) + [False] * len(fours)
    return [
        Cue(
            name,
            features.name,
            accuracy_spread([four.text(field, role) for role in roles for four in fours], telic, verbs * 2, features),
        )
        for name, (field, roles) in TEXTS.items()
        for features in FEATURES
    ]


def summary(quads: Sequence[Quad]) -> list[tuple[str, str]]:
    """Counts and lengths, as printed."""

    def counted(values: Sequence[str]) -> str:
        return ", ".join(f"{name} {n}" for name, n in Counter(values).most_common())

    differences = [length_difference(quad) for quad in quads]
    return [
        ("quadruples", str(len(quads))),
        ("verbs, subjects", f"{len({q.verb for q in quads})}, {len({q.subject for q in quads})}"),
        ("interruption clauses", str(len({q.interruption for q in quads}))),
        ("verb class", counted([q.verb_class for q in quads])),
        ("telicity by", counted([q.telicity_by for q in quads])),
        ("rules out", counted([q.rules_out for q in quads])),
        ("bare atelic member", str(sum(map(is_bare, quads)))),
        ("unshared words", f"{fmean(max(unshared_words(quad)) for quad in quads):.2f} on average in the longer"),
        ("words, telic complement", f"{fmean(len(q.telic.split()) for q in quads):.2f} on average"),
        ("words, atelic complement", f"{fmean(len(q.atelic.split()) for q in quads):.2f} on average"),
        ("within one word", f"{sum(abs(d) <= 1 for d in differences)} of {len(quads)}"),
        ("telic longer, atelic longer", f"{sum(d > 0 for d in differences)}, {sum(d < 0 for d in differences)}"),
    ]


def main() -> int:
    """Print counts, surface cues and faults. Returns 1 where there is a fault."""
    lexicon = read_lexicon()
    suite = build_suite(lexicon.quad, lexicon.version)
    console = Console(width=100)
    counts = Table("count", "value", title=f"{suite.name} {suite.version}")
    for name, value in summary(lexicon.quad):
        counts.add_row(name, value)
    title = "Telicity from the surface: TF-IDF, folds by verb (chance .500)"
    cues = Table("text", "features", "mean", "lowest", "highest", "gap from it", title=title)
    for cue in surface_cues(quadruples(lexicon.quad, suite)):
        spread = cue.accuracy
        figures = (spread.mean, spread.lowest, spread.highest, cue.gap)
        cues.add_row(cue.text, cue.features, *(f"{figure:.3f}" for figure in figures))
    console.print(counts, cues)
    found = violations(lexicon.quad, suite)
    for fault in found:
        console.print(fault, style="red", markup=False)
    console.print(f"{len(found)} violations of {len(PER_QUAD)} invariants a quadruple, variety and uniqueness")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
