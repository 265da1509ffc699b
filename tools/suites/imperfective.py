"""Proves the invariants of the suite `imperfective`, and prints them: `python -m tools.suites.imperfective`.

Each check returns a finding: what was found, what is required, and whether it holds. A check that needs a
package that is not installed says so and holds nothing against the suite.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from statistics import fmean

from lemminflect import getAllInflections
from rich.console import Console
from rich.table import Table

from tools.suites.leakage import FEATURES, accuracy_spread
from veridical.errors import UserError
from veridical.suites.imperfective.builder import build_sets
from veridical.suites.imperfective.lexicon import Lexicon, read_lexicon
from veridical.suites.imperfective.rules import ITEM_RULES, Finding, VerbSets, finding, none_of

CLASSES = ("Creation", "Change_of_State", "Consumption", "Motion_to_Goal")

MINIMUM_VERBS = 110
MINIMUM_CLASS = 20
MINIMUM_FRAMES = 40
MAXIMUM_FRAME_USES = 6
MAXIMUM_SUBJECT_USES = 3
MINIMUM_ATELIC_WITH_COMPLEMENT = 0.5
MINIMUM_TELIC_WITHOUT_OBJECT = 0.2
MAXIMUM_FRAME_IMBALANCE = 3
MAXIMUM_DEATHS = 0.5
MAXIMUM_WORD_DIFFERENCE = 1.0
MAXIMUM_LEAKAGE = 0.60


# --- counts and balance of the lexicon


def verb_counts(lexicon: Lexicon) -> Iterable[Finding]:
    """There are enough verbs of each telicity, and of each class of telic verbs."""
    for telicity, entries in (("telic", lexicon.telic), ("atelic", lexicon.atelic)):
        count = len({entry.verb for entry in entries})
        yield finding(f"{telicity} verbs", count, f">= {MINIMUM_VERBS}", count >= MINIMUM_VERBS)
    classes = Counter(str(entry.verb_class) for entry in lexicon.telic)
    for name in CLASSES:
        yield finding(f"verbs of {name}", classes[name], f">= {MINIMUM_CLASS}", classes[name] >= MINIMUM_CLASS)


def judgements(lexicon: Lexicon) -> Iterable[Finding]:
    """The readings in an hour, for an hour, and from progressive to past, as each telicity requires them."""
    wanted = [(e, (True, False, False)) for e in lexicon.telic]
    wanted += [(e, (False, True, True)) for e in lexicon.atelic]  # type: ignore[misc]
    faults = [
        e.verb
        for e, expected in wanted
        if (e.judgements.in_an_hour, e.judgements.for_an_hour, e.judgements.progressive_entails_past) != expected
    ]
    yield none_of("recorded judgements", faults, "entry judged against its telicity")


def frame_balance(lexicon: Lexicon) -> Iterable[Finding]:
    """Frames are many, used a few times each, by telic and atelic verbs alike, and not mostly about deaths."""
    telic = Counter(entry.frame for entry in lexicon.telic)
    atelic = Counter(entry.frame for entry in lexicon.atelic)
    uses = telic + atelic
    yield finding("frames in use", len(uses), f">= {MINIMUM_FRAMES}", len(uses) >= MINIMUM_FRAMES)
    most = max(uses.values())
    yield finding("uses of a frame, at most", most, f"<= {MAXIMUM_FRAME_USES}", most <= MAXIMUM_FRAME_USES)
    apart = max(abs(telic[frame] - atelic[frame]) for frame in uses)
    required = f"<= {MAXIMUM_FRAME_IMBALANCE}"
    yield finding("telic against atelic uses", apart, required, apart <= MAXIMUM_FRAME_IMBALANCE)
    unused = [frame.id for frame in lexicon.frame if not uses[frame.id]]
    yield none_of("unused frames", unused, "frame without an entry")
    one_sided = [frame for frame in uses if not (telic[frame] and atelic[frame])]
    yield none_of("frames of one telicity", one_sided, "frame that gives telicity away")
    deaths = fmean(frame.rules_out.startswith("the agent dies") for frame in lexicon.frame)
    yield finding("frames that kill", f"{deaths:.2f}", f"<= {MAXIMUM_DEATHS:.2f}", deaths <= MAXIMUM_DEATHS)


def subject_uses(lexicon: Lexicon) -> Iterable[Finding]:
    """No subject occurs in many entries."""
    uses = Counter(entry.subject.lower() for entry in (*lexicon.telic, *lexicon.atelic))
    most = max(uses.values())
    required = f"<= {MAXIMUM_SUBJECT_USES}"
    yield finding("uses of a subject, at most", most, required, most <= MAXIMUM_SUBJECT_USES)


def complements(lexicon: Lexicon) -> Iterable[Finding]:
    """A complement does not give telicity away: enough atelic entries have one, enough telic ones have no object."""
    atelic = fmean(bool(entry.object or entry.phrase) for entry in lexicon.atelic)
    least = MINIMUM_ATELIC_WITH_COMPLEMENT
    yield finding("atelic with an object or phrase", f"{atelic:.2f}", f">= {least:.2f}", atelic >= least)
    telic = fmean(entry.object is None for entry in lexicon.telic)
    least = MINIMUM_TELIC_WITHOUT_OBJECT
    yield finding("telic without an object", f"{telic:.2f}", f">= {least:.2f}", telic >= least)


def completions(lexicon: Lexicon) -> Iterable[Finding]:
    """A completed premise must not answer by repeating the hypothesis's verb."""
    faults = []
    for entry in lexicon.telic:
        forms = {form for group in getAllInflections(entry.verb, "VERB").values() for form in group}
        forms |= {entry.verb, entry.verb_phrase.ing, entry.verb_phrase.past}
        if repeated := forms & set(re.findall(r"[\w'-]+", entry.completion.lower())):
            faults.append(f"{entry.verb}: {', '.join(sorted(repeated))}")
    yield none_of("completion repeats the verb", faults, "form of the verb in a completion")


def verb_forms(lexicon: Lexicon) -> Iterable[Finding]:
    """Every form is pyinflect's first, or one of its variants where the lexicon itself gives the form.

    pyinflect is a development dependency.
    """
    name = "forms agree with pyinflect"
    try:
        from pyinflect import getInflection
    except ImportError:
        yield Finding(name, "pyinflect is not installed", "no disagreement", "skipped")
        return
    faults = []
    for entry in (*lexicon.telic, *lexicon.atelic):
        phrase, own = entry.verb_phrase, entry.forms
        for tag, form, override in (("VBG", phrase.ing, own.ing), ("VBD", phrase.past, own.past)):
            known = getInflection(entry.verb, tag) or ()
            if form not in (known if override else known[:1]):
                faults.append(f"{entry.verb} {tag}: {form}")
    yield none_of(name, faults, "disagreement")


# --- the items


def lengths(sets: VerbSets) -> Iterable[Finding]:
    """Premises of telic and of atelic verbs are of like length in words."""
    words: dict[str, list[int]] = defaultdict(list)
    for items in sets.values():
        for group, item in items.items():
            words[group].append(len(item.fields["premise"].split()))
    for telic, atelic in (("A", "B"), ("C", "D")):
        means = fmean(words[telic]), fmean(words[atelic])
        yield finding(
            f"mean words, {telic} and {atelic}",
            f"{means[0]:.2f} and {means[1]:.2f}",
            f"within {MAXIMUM_WORD_DIFFERENCE:g}",
            abs(means[0] - means[1]) <= MAXIMUM_WORD_DIFFERENCE,
        )


def leakage(sets: VerbSets) -> Iterable[Finding]:
    """Accuracy of surface classifiers for telicity, with folds by verb and with folds by frame, however cut."""
    views = (
        ("C and D premises", "CD", "premise"),
        ("A and B premises", "AB", "premise"),
        ("hypotheses", "CD", "hypothesis"),
    )
    for view, groups, field in views:
        items = [item for items in sets.values() for group, item in items.items() if group in groups]
        texts = [item.fields[field] for item in items]
        telic = [item.factors["telicity"] == "telic" for item in items]
        for fold in ("verb", "frame"):
            parts = [str(item.factors[fold]) for item in items]
            for features in FEATURES:
                spread = accuracy_spread(texts, telic, parts, features)
                yield finding(
                    f"telicity from {features.name} of {view}, folds by {fold}",
                    f"{spread.mean:.3f} ({spread.lowest:.3f} to {spread.highest:.3f})",
                    f"all <= {MAXIMUM_LEAKAGE:.2f}",
                    spread.highest <= MAXIMUM_LEAKAGE,
                )


LEXICON_CHECKS: tuple[Callable[[Lexicon], Iterable[Finding]], ...] = (
    verb_counts,
    judgements,
    frame_balance,
    subject_uses,
    complements,
    completions,
    verb_forms,
)
ITEM_CHECKS: tuple[Callable[[VerbSets], Iterable[Finding]], ...] = (
    *ITEM_RULES,
    lengths,
    leakage,
)


def check(lexicon: Lexicon) -> list[Finding]:
    """Every finding on a lexicon and on the items built from it."""
    sets = build_sets(lexicon)
    return [
        *(found for run in LEXICON_CHECKS for found in run(lexicon)),
        *(found for run in ITEM_CHECKS for found in run(sets)),
    ]


def main() -> int:
    """Print the findings. Returns 1 when one of them fails, or when the lexicon cannot be read."""
    console = Console(width=120)
    try:
        findings = check(read_lexicon())
    except UserError as error:
        console.print(f"fails: {error}", markup=False)
        return 1
    table = Table("check", "found", "required", "")
    for found in findings:
        table.add_row(found.check, found.found, found.required, found.verdict)
    console.print(table)
    return 1 if any(found.fails for found in findings) else 0


if __name__ == "__main__":
    sys.exit(main())
