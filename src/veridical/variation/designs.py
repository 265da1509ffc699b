"""Which words of a suite may be replaced, and what a variant of it must keep: a table of designs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import takewhile

from veridical.items import Item, Suite
from veridical.variation.dictionary import MASS, forms_of_verb, inflections, is_count_noun
from veridical.variation.nouns import Seed, Target, Variant
from veridical.variation.persons import fits, gender_of
from veridical.variation.words import form

SideFields = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WordRule:
    """Whether a word of a seed may be replaced at all."""

    name: str
    keep: Callable[[Seed, Target], bool]


@dataclass(frozen=True, slots=True)
class VariantRule:
    """Whether a variant keeps what its suite promises."""

    name: str
    keep: Callable[[Seed, Variant], bool]


@dataclass(frozen=True, slots=True)
class Design:
    """How a suite's problems are varied.

    A word is replaced that stands in one of the fields of each of the two `sides`; it is replaced in every field.
    The items that one set of the first grouping in `bound_by` binds are varied together. `dropped_factors` speak of
    the seed's own words, and are not passed on.
    """

    sides: tuple[SideFields, SideFields]
    bound_by: tuple[str, ...] = ()
    word_rules: tuple[WordRule, ...] = ()
    variant_rules: tuple[VariantRule, ...] = ()
    dropped_factors: frozenset[str] = frozenset()


def _leaves_compounds(seed: Seed, variant: Variant) -> bool:
    return not variant.target.compound


# --- the imperfective suites: telicity stays


def _leaves_the_verb(seed: Seed, target: Target) -> bool:
    return target.form not in _verb_forms(seed)


def _no_adverb(seed: Seed, target: Target) -> bool:
    """Adverbs may move the endpoint: `walked home`, `walked around`."""
    return target.word_class != "adverb"


def _only_in_the_subject(seed: Seed, target: Target) -> bool:
    """Where the complement alone sets telicity, it stays: in hypotheses the word stands in the subject alone.

    The subject is what premise and hypothesis begin with in common.
    """
    for item in seed.items:
        premise, hypothesis = item.fields["premise"], item.fields["hypothesis"]
        subject = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(premise, hypothesis, strict=False)))
        if any(slot.text == hypothesis and slot.stop > subject for slot in target.slots):
            return False
    return True


def _brings_no_form_of_the_verb(seed: Seed, variant: Variant) -> bool:
    return variant.replacement not in _verb_forms(seed)


def _keeps_count_nouns(seed: Seed, variant: Variant) -> bool:
    return variant.target.tag != "NN" or variant.target.form in MASS or is_count_noun(variant.replacement)


def _keeps_bare_masses(seed: Seed, variant: Variant) -> bool:
    """`A piece of machinery` must not become `a piece of seat`. Where a count noun stood bare (`Man smoking`), another
    may."""
    target = variant.target
    return not target.bare or is_count_noun(target.form) or not is_count_noun(variant.replacement)


def _keeps_persons(seed: Seed, variant: Variant) -> bool:
    """Nobody constructs a child for a windmill, and no museum pens a tragedy."""
    # Of whatever class: taggers take the first noun of a compound for an adjective.
    return (gender_of(variant.target.form) is None) == (gender_of(variant.replacement) is None)


def _fits_the_pronouns(seed: Seed, variant: Variant) -> bool:
    """`My sister was drowning when they pulled her out` can be said neither of a brother nor of a boat."""
    target = variant.target
    return fits(target.form, variant.replacement, {slot.text for slot in target.slots})


def _passes_the_checker(seed: Seed, variant: Variant) -> bool:
    """Every rule of the suite's checker on a verb's items that the seed holds, the variant holds."""
    return set(_imperfective_faults(seed, variant.items)) <= set(_imperfective_faults(seed, seed.items))


def _imperfective_faults(seed: Seed, items: tuple[Item, ...]) -> Iterator[str]:
    from veridical.suites.imperfective.rules import ITEM_RULES

    sets = {seed.name: {member.role: item for member, item in zip(seed.members, items, strict=True)}}
    for rule in ITEM_RULES:
        yield from (found.check for found in rule(sets) if found.fails)  # type: ignore[arg-type]


def _verb_forms(seed: Seed) -> frozenset[str]:
    verbs = {str(item.factors["verb"]) for item in seed.items if "verb" in item.factors}
    return frozenset().union(*(forms_of_verb(verb) for verb in verbs))


# --- evidence: one statement, word for word, under both targets

_WORD = re.compile(r"[^\W\d_]+")


def _no_other_inflection(seed: Seed, target: Target) -> bool:
    """The label rests on what is the same thing in several fields: where one says `warden`, another `wardens`."""
    others = inflections(target.form, target.word_class) - {target.form}
    return not any(form(word) in others for text in seed.texts for word in _WORD.findall(text))


# "an accident", "40 percent", "three kilos of rice": a replacement would change what is counted or measured.
_COUNTED = re.compile(
    r"""
    \b(?: an? | per | each | every | half
        | two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand|million
        | (?:gram|kilo|kilogram|ton|tonne|pound|ounce|lit(?:er|re)|gallon|cup|spoon|bottle|barrel|bag|box|piece|slice
        |   degree|percent|pair|dozen|(?:centi|milli|kilo)?met(?:er|re)|mile|foot|acre|hectare)(?:e?s)?\ of
    )\s+$
    | [\d%]\s*$
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _is_not_counted(seed: Seed, target: Target) -> bool:
    return target.word_class != "noun" or not any(_COUNTED.search(slot.text[: slot.start]) for slot in target.slots)


def _keeps_the_evidence(seed: Seed, variant: Variant) -> bool:
    evidence = {item.fields["evidence"] for item in variant.items}
    conditions = {item.fields["condition"] for item in variant.items}
    return len(evidence) == 1 and len(conditions) == len({item.fields["condition"] for item in seed.items})


def _names_no_label(seed: Seed, variant: Variant) -> bool:
    from veridical.suites.evidence.surface import LABEL_WORD

    def named(items: tuple[Item, ...]) -> int:
        return sum(len(re.findall(LABEL_WORD, text)) for item in items for text in item.fields.values())

    return named(variant.items) <= named(seed.items)


_THE_VERB_STAYS = WordRule("not the suite's verb", _leaves_the_verb)
_NO_ADVERB = WordRule("no adverb, which may move the endpoint", _no_adverb)
_NO_FORM_OF_IT = VariantRule("brings in no form of the suite's verb", _brings_no_form_of_the_verb)
_PERSONS = VariantRule("a person stays a person, a thing a thing", _keeps_persons)
_PRONOUNS = VariantRule("persons and genders as the pronouns have them", _fits_the_pronouns)
_COUNT_NOUNS = VariantRule("a singular count noun stays one", _keeps_count_nouns)
_BARE_MASSES = VariantRule("a mass without an article stays one", _keeps_bare_masses)

_COMPOUNDS = VariantRule("no part of a compound of several words", _leaves_compounds)

PROBLEMS = Design(sides=(("premise",), ("hypothesis",)), variant_rules=(_BARE_MASSES, _COMPOUNDS, _PRONOUNS))
"""Premise and hypothesis, each problem by itself."""

DESIGNS: dict[str, Design] = {
    "imperfective": Design(
        sides=PROBLEMS.sides,
        bound_by=("verb",),
        word_rules=(_THE_VERB_STAYS, _NO_ADVERB),
        variant_rules=(
            _NO_FORM_OF_IT,
            _COUNT_NOUNS,
            _BARE_MASSES,
            _PERSONS,
            _PRONOUNS,
            VariantRule("the suite's checker", _passes_the_checker),
        ),
    ),
    "imperfective-quads": Design(
        sides=PROBLEMS.sides,
        bound_by=("quad",),
        word_rules=(_THE_VERB_STAYS, _NO_ADVERB, WordRule("in the subject alone", _only_in_the_subject)),
        variant_rules=(_NO_FORM_OF_IT, _COUNT_NOUNS, _BARE_MASSES, _PERSONS, _PRONOUNS),
    ),
    "evidence": Design(
        sides=(("evidence",), ("target",)),
        bound_by=("pair", "evidence"),
        word_rules=(
            WordRule("no other inflection of it in the texts", _no_other_inflection),
            WordRule("no noun behind a number, a measure or a/an", _is_not_counted),
        ),
        variant_rules=(
            _COUNT_NOUNS,
            _BARE_MASSES,
            _PERSONS,
            VariantRule("the evidence is verbatim in both endpoints", _keeps_the_evidence),
            VariantRule("names no label", _names_no_label),
        ),
        dropped_factors=frozenset({"reasoning"}),
    ),
}
"""By the suite's measures; any other suite is varied by the two fields of its `pair`."""


def design_of(suite: Suite) -> Design:
    """The design for a suite's measures; without one, each item alone, by the two fields of the suite's `pair`."""
    first, second = suite.pair
    return DESIGNS.get(suite.measures, replace(PROBLEMS, sides=((first,), (second,))))
