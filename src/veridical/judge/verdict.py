"""One plain sentence on what the numbers of an answering mean, by rules over its measures.

A suite's rules are tried in their order (`RULES` where its measure set names none); the first that applies speaks. A
rule claims only what holds over the whole interval and over every label that missing answers could have had: where
either is too wide, the sentence says that nothing is settled. All thresholds are Veridical's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from veridical.items import Factor
from veridical.judge.baselines import CHANCE
from veridical.judge.constant import constant_label
from veridical.judge.measure import Measure
from veridical.wording import counted, decimals_of, percent, percentage, signed

FEWEST_ANSWERS = 20
"""Answers below which nothing is called constant."""
MANY_UNANSWERED = 0.2
"""Share of items without a usable answer above which that is what the sentence is about."""
MOST = 0.5
"""A rate is that of most items where all its interval lies above this."""
LITTLE_MASS = 0.1
"""Label mass below which the answers are picked among things that the model would hardly say."""
UNSTABLE = 0.2
"""Order sensitivity above which it is mentioned."""


class Complete(str):
    """A sentence that needs no word on label mass or on the order of labels behind it."""

    __slots__ = ()


@dataclass(frozen=True)
class MeasureIndex:
    """The measures of one answering, by name and slice, without its contrasts, and the suite's levels of chance."""

    measures: tuple[Measure, ...]
    levels: tuple[Measure, ...] = ()

    def get(self, name: str, **where: Factor) -> Measure | None:
        """The measure of that name with exactly that slice, or None."""
        for measure in self.measures:
            if measure.measure == name and dict(measure.slice) == where:
                return measure
        return None

    def chance(self, measure: Measure) -> float | None:
        """What a uniform guess is expected to get of the same measure; None where that is not known."""
        same = (m.value for m in self.levels if (m.measure, m.slice) == (measure.measure, measure.slice))
        return next(same, None)

    def named(self, name: str) -> Measure | None:
        """The first measure of that name, whatever its slice."""
        return next((measure for measure in self.measures if measure.measure == name), None)

    def above(self, name: str, threshold: float, **where: Factor) -> bool:
        """Whether interval and bounds lie above the threshold altogether."""
        measure = self.get(name, **where)
        return measure is not None and _floor(measure) > threshold

    def below(self, name: str, threshold: float, **where: Factor) -> bool:
        """Whether interval and bounds lie below the threshold altogether."""
        measure = self.get(name, **where)
        return measure is not None and _ceiling(measure) < threshold


def _floor(measure: Measure) -> float:
    if measure.low is None:
        return float("-inf")
    return measure.low if measure.bound_low is None else min(measure.low, measure.bound_low)


def _ceiling(measure: Measure) -> float:
    if measure.high is None:
        return float("inf")
    return measure.high if measure.bound_high is None else max(measure.high, measure.bound_high)


def rate(measure: Measure) -> str:
    """`98 %, interval 93 to 99 %`."""
    decimals = decimals_of(measure.low, measure.high)
    value = percent(measure.value or 0.0, decimals)
    return value + (interval_ends(measure) or f", {_no_interval(measure)}")


def _no_interval(measure: Measure) -> str:
    return "too few sets for an interval" if measure.reason == "too_few_units" else "no interval"


def interval_ends(measure: Measure, of: str = "") -> str:
    """`, interval 93 to 99 %`, or nothing."""
    if measure.low is None or measure.high is None:
        return ""
    decimals = decimals_of(measure.low, measure.high)
    return f", interval {percentage(measure.low, decimals)} to {percentage(measure.high, decimals)} %{of}"


def difference(measure: Measure) -> str:
    """A difference with its sign and its interval, as text."""
    # A gap is one side less another, whatever its record is of.
    decimals = decimals_of(measure.low, measure.high, difference=True)
    value = signed(measure.value, decimals)
    if measure.low is None or measure.high is None:
        return f"{value}, {_no_interval(measure)}"
    return f"{value}, interval {signed(measure.low, decimals)} to {signed(measure.high, decimals)}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b` or `a, b and c`; `names` is not empty."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def no_answers(index: MeasureIndex) -> str | None:
    """That there is nothing to read."""
    whole = index.named("accuracy")
    if whole is None:
        return Complete("has no measure to read")
    if whole.statuses.get("ok", 0):
        return None
    return Complete(f"gives no usable answer to any of the {whole.n_items} items ({_statuses(whole)})")


def constant_answer(index: MeasureIndex) -> str | None:
    """That one label is given to nearly everything."""
    return constant_sentence(index, lambda _: "its accuracy says nothing")


def constant_sentence(index: MeasureIndex, consequence: Callable[[str], str]) -> str | None:
    """The sentence on a constant answer; `consequence` says, by the label, what it takes away."""
    share = index.named("constant_share")
    if share is None or share.value is None or share.statuses.get("ok", 0) < FEWEST_ANSWERS:
        return None
    label = constant_label(share)
    if label is None:
        return None
    answered = share.statuses["ok"]
    part = "items" if answered == share.n_items else f"{answered} items that it answers"
    says = f"answers {label} to {percent(share.value * share.n_items / answered)} of the {part} whatever it is asked"
    return Complete(f"{says}, so {consequence(label)}")


def unanswered(index: MeasureIndex) -> str | None:
    """That many items have no usable answer, and what that leaves open of accuracy."""
    return unanswered_sentence(index, "accuracy", index.named("accuracy"))


def unanswered_sentence(index: MeasureIndex, name: str, measure: Measure | None) -> str | None:
    """The sentence on missing answers, with the bounds of `measure`, which is called `name`."""
    whole = index.named("accuracy")
    if whole is None or not whole.n_items or measure is None:
        return None
    missing = 1 - whole.statuses.get("ok", 0) / whole.n_items
    if missing <= MANY_UNANSWERED:
        return None
    says = f"gives no usable answer to {percent(missing)} of the items ({_statuses(whole)})"
    if measure.bound_low is None or measure.bound_high is None:
        return f"{says}, so its {name} cannot be read"
    low, high = percent(measure.bound_low), percent(measure.bound_high)
    if low == high:
        return f"{says}; its {name} is {low} whatever the others would have been"
    return f"{says}, so its {name} could be anything from {low.removesuffix(' %')} to {high}"


def overall_accuracy(index: MeasureIndex) -> str | None:
    """How much is right, of items and of sets, against a guess."""
    whole, sets = index.named("accuracy"), index.get("set_accuracy")
    if whole is None:
        return None
    says = f"{_against_chance(index, whole)}right on {rate(whole)}, of {counted(whole.n_items, 'item')}"
    if (chance := index.chance(whole)) is not None:
        says += f" (guessing: {percent(chance)})"
    if sets is None:
        return says
    says += f"; on all items of {rate(sets)}, of {counted(sets.n_sets, 'set')}"
    references = [("guessing", index.chance(sets))]
    independent = index.get("set_accuracy_reference")
    references.append(("if errors were independent", independent.value if independent else None))
    known = [f"{name}: {percent(value)}" for name, value in references if value is not None]
    return f"{says} ({'; '.join(known)})" if known else says


def _against_chance(index: MeasureIndex, whole: Measure) -> str:
    """What comes before a score that a uniform guess may get too."""
    chance = index.chance(whole)
    if chance is None or index.above("accuracy", chance):
        return ""
    return "worse than guessing: " if index.below("accuracy", chance) else "not distinguished from guessing: "


Rule = Callable[[MeasureIndex], str | None]
"""What speaks where it applies, and is None elsewhere."""

RULES: tuple[Rule, ...] = (no_answers, constant_answer, unanswered, overall_accuracy)
"""The rules of suites that name none of their own."""


def verdict(
    measures: Sequence[Measure],
    *,
    name_suite: bool = False,
    levels: Sequence[Measure] = (),
    rules: Sequence[Rule] = RULES,
) -> str:
    """One sentence on one answering: its measures, contrasts left aside. `name_suite` says which suite it is about.

    `levels` are the suite's levels of chance (`judge.chance`), without which nothing is compared with a guess. The
    first of `rules` that applies speaks.

    Raises ValueError where the measures are of no answering or of several.
    """
    own = tuple(measure for measure in measures if measure.against is None)
    keys = {_key(measure) for measure in own}
    if len(keys) != 1:
        raise ValueError(f"a verdict is about one answering, not {len(keys)}")
    index = MeasureIndex(own, tuple(levels))
    first = own[0]
    who = ", ".join(part for part in (first.suite if name_suite else "", first.model, first.prompt, first.mode) if part)
    for rule in rules:
        sentence = rule(index)
        if sentence is not None:
            return f"{who}: {sentence}{'' if isinstance(sentence, Complete) else _reservation(index)}."
    return f"{who}: has no measure to read."


def verdicts(measures: Iterable[Measure], rules: Mapping[str, Sequence[Rule]] | None = None) -> list[str]:
    """A sentence for each answering that saw the whole item and is not a baseline, in the order of appearance.

    Where there are several suites, each sentence names its own. `rules` are those of each suite by its name, `RULES`
    for any other.
    """
    own_rules = rules or {}
    grouped: dict[tuple[str, ...], list[Measure]] = {}
    levels: dict[str, list[Measure]] = {}
    for measure in measures:
        if measure.answerer == CHANCE:
            levels.setdefault(measure.suite, []).append(measure)
        if measure.against is None and measure.input == "full" and measure.answerer == "model":
            grouped.setdefault(_key(measure), []).append(measure)
    several = len({key[0] for key in grouped}) > 1
    return [
        verdict(group, name_suite=several, levels=levels.get(key[0], ()), rules=own_rules.get(key[0]) or RULES)
        for key, group in grouped.items()
    ]


def _key(measure: Measure) -> tuple[str, ...]:
    return (measure.suite, measure.model, measure.answerer, measure.input, measure.prompt, measure.mode)


def _reservation(index: MeasureIndex) -> str:
    """What weakens the answers as answers."""
    said = ""
    mass = index.named("label_mass")
    if mass is not None and mass.value is not None and index.below("label_mass", LITTLE_MASS):
        said += f"; the labels together have only {percent(mass.value)} of its probability"
    order = index.named("order_sensitivity")
    if order is not None and order.value is not None and index.above("order_sensitivity", UNSTABLE):
        said += f"; {percent(order.value)} of its answers change with the order of the labels"
    return said


def _statuses(measure: Measure) -> str:
    counts = sorted(((n, name) for name, n in measure.statuses.items() if name != "ok" and n), reverse=True)
    return ", ".join(f"{n} {name.replace('_', ' ')}" for n, name in counts)
