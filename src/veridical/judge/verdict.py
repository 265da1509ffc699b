"""One plain sentence on what the numbers of an answering mean, by rules over its measures.

The rules are tried in the order of `RULES`; the first that applies speaks. A rule claims only what holds over
the whole interval and over every label that missing answers could have had: where either is too wide, the
sentence says that nothing is settled. All thresholds are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from veridical.items import Factor
from veridical.judge.baselines import CHANCE
from veridical.judge.constant import constant_label
from veridical.judge.measure import Measure
from veridical.rounding import decimals_of, percent, percentage, signed
from veridical.stats.interval import TOO_FEW

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

KEPT = 0.8
"""Matching correctness above which a model is called consistent over variants; below `MOST`, inconsistent."""

GROUPS_OF = {"True": ("B", "D", "completed"), "False": ("A",), "Unknown": ("C",)}
"""The groups of the imperfective suites by gold label."""


@dataclass(frozen=True)
class Reading:
    """The measures of one answering, by name and slice, without its contrasts, and the suite's levels of chance."""

    measures: tuple[Measure, ...]
    levels: tuple[Measure, ...] = ()

    def get(self, name: str, **where: Factor) -> Measure | None:
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
    return value + (_ends(measure) or f", {_no_interval(measure)}")


def _no_interval(measure: Measure) -> str:
    return "too few sets for an interval" if (measure.interval or "").startswith(TOO_FEW) else "no interval"


def _ends(measure: Measure, of: str = "") -> str:
    """`, interval 93 to 99 %`, or nothing."""
    if measure.low is None or measure.high is None:
        return ""
    decimals = decimals_of(measure.low, measure.high)
    return f", interval {percentage(measure.low, decimals)} to {percentage(measure.high, decimals)} %{of}"


def _difference(measure: Measure) -> str:
    # A gap is one side less another, whatever its record is of.
    decimals = decimals_of(measure.low, measure.high, difference=True)
    value = signed(measure.value, decimals)
    if measure.low is None or measure.high is None:
        return f"{value}, {_no_interval(measure)}"
    return f"{value}, interval {signed(measure.low, decimals)} to {signed(measure.high, decimals)}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _nothing(reading: Reading) -> str | None:
    whole = reading.named("accuracy")
    if whole is None:
        return "has no measure to read"
    if whole.statuses.get("ok", 0):
        return None
    return f"gives no usable answer to any of the {whole.n_items} items ({_statuses(whole)})"


def _constant(reading: Reading) -> str | None:
    share = reading.named("constant_share")
    if share is None or share.value is None or share.statuses.get("ok", 0) < FEWEST_ANSWERS:
        return None
    label = constant_label(share)
    if label is None:
        return None
    answered = share.statuses["ok"]
    part = "items" if answered == share.n_items else f"{answered} items that it answers"
    says = f"answers {label} to {percent(share.value * share.n_items / answered)} of the {part} whatever it is asked"
    groups = [g for g in GROUPS_OF.get(label, ()) if reading.get("accuracy", group=g)]
    if reading.get("tbr") is None or not groups:
        return f"{says}, so its accuracy says nothing"
    return f"{says}, so neither its accuracy in {_listed(groups)} nor its TBR says anything about aspect"


def _unanswered(reading: Reading) -> str | None:
    whole = reading.named("accuracy")
    if whole is None or not whole.n_items:
        return None
    missing = 1 - whole.statuses.get("ok", 0) / whole.n_items
    if missing <= MANY_UNANSWERED:
        return None
    says = f"gives no usable answer to {percent(missing)} of the items ({_statuses(whole)})"
    measure = reading.get("tbr") or whole
    name = "TBR" if measure.measure == "tbr" else "accuracy"
    if measure.bound_low is None or measure.bound_high is None:
        return f"{says}, so its {name} cannot be read"
    low, high = percent(measure.bound_low), percent(measure.bound_high)
    if low == high:
        return f"{says}; its {name} is {low} whatever the others would have been"
    return f"{says}, so its {name} could be anything from {low.removesuffix(' %')} to {high}"


def _biased(reading: Reading) -> str | None:
    tbr, gap = reading.get("tbr"), reading.get("aspectual_awareness_gap")
    if tbr is None or not reading.above("tbr", MOST):
        return None
    says = f"takes the goal as reached in most ambiguous accomplishments (TBR {rate(tbr)})"
    if gap is None:
        return f"strong teleological bias: {says}"
    if reading.above("aspectual_awareness_gap", 0):
        return f"teleological bias: {says}, though less often than it accepts activities (gap {_difference(gap)})"
    if reading.below("aspectual_awareness_gap", 0):
        return f"strong teleological bias: {says}, more often than it accepts activities (gap {_difference(gap)})"
    return f"strong teleological bias: {says}, and does not clearly tell them from activities (gap {_difference(gap)})"


def _denies_activities(reading: Reading) -> str | None:
    accuracy, cautious = reading.get("accuracy", group="D"), reading.get("overcaution")
    if accuracy is None or not reading.below("accuracy", MOST, group="D"):
        return None
    if cautious is not None and reading.above("overcaution", MOST):
        return (
            f"overcautious: answers Unknown to most activities too ({rate(cautious)} of D), "
            "so a low TBR is no sign of awareness"
        )
    return (
        f"rejects what does follow: right on few ambiguous activities (D {rate(accuracy)}), "
        "so a low TBR is no sign of awareness"
    )


def _reversed(reading: Reading) -> str | None:
    gap = reading.get("aspectual_awareness_gap")
    if gap is None or not reading.below("aspectual_awareness_gap", 0):
        return None
    return f"accepts accomplishments more often than activities, the reverse of the truth (gap {_difference(gap)})"


def _aware(reading: Reading) -> str | None:
    tbr, gap = reading.get("tbr"), reading.get("aspectual_awareness_gap")
    if tbr is None or gap is None or not reading.above("aspectual_awareness_gap", 0):
        return None
    if reading.below("tbr", MOST) and reading.above("accuracy", MOST, group="D"):
        says = (
            f"aware of aspect: accepts most activities and not most accomplishments (gap {_difference(gap)}; "
            f"TBR {rate(tbr)})"
        )
        cancelled = reading.get("cancelled_true_rate")
        if cancelled is not None and reading.above("cancelled_true_rate", MOST):
            says += f", yet affirms most cancelled ones (A {rate(cancelled)})"
        return says
    return (
        f"accepts activities more often than accomplishments (gap {_difference(gap)}), but how far is not settled "
        f"(TBR {rate(tbr)})"
    )


def _inconclusive(reading: Reading) -> str | None:
    tbr, gap = reading.get("tbr"), reading.get("aspectual_awareness_gap")
    if tbr is None:
        return None
    told = f"TBR {rate(tbr)}" + (f"; gap {_difference(gap)}" if gap else "")
    return f"inconclusive on {tbr.n_sets} {'set' if tbr.n_sets == 1 else 'sets'}: {told}"


def _consistency(reading: Reading) -> str | None:
    seeds = reading.get("seed_accuracy", variants="some") or reading.get("seed_accuracy")
    every, match = reading.get("seed_variant_accuracy", ct=1.0), reading.get("matching_correctness")
    if seeds is None or every is None or match is None:
        return None
    says = f"right on {rate(seeds)}, of {seeds.n_sets} seeds; on all variants of {rate(every)}"
    if match.value is None:
        return f"{says}; matching correctness {match.interval}"
    lowest = _lowest(reading, match.value)
    tied = lowest < match.value
    lead = ""
    # A tie that reaches down to low thresholds says nothing of consistency unless most seeds still pass at a high one.
    kept = not tied or lowest > KEPT or reading.above("seed_variant_accuracy", MOST, ct=KEPT)
    if kept and reading.above("matching_correctness", KEPT) and reading.above("seed_accuracy", MOST, **seeds.slice):
        lead = "accurate, and consistent over small changes: "
    elif reading.below("matching_correctness", MOST):
        lead = "inconsistent over small changes: "
    if tied:
        whole = f"{percent(lowest)} to {percent(match.value)}"
        says += f"; matching correctness anywhere from {whole} (a tie{_ends(match, ' of its upper end')})"
    else:
        says += f"; matching correctness {rate(match)}"
    chance = reading.get("matching_correctness", line="reference")
    if chance is not None:
        says += f" (as many errors at random: {percent(chance.value or 0.0)})"
    without = reading.get("seed_accuracy", variants="none")
    return f"{lead}{says}" + (f"; {without.n_sets} more seeds have no variants" if without else "")


def _lowest(reading: Reading, highest: float) -> float:
    """The other end of a tie in matching correctness; `highest` where there is none."""
    lowest = reading.get("matching_correctness", tied="lowest")
    return highest if lowest is None or lowest.value is None else lowest.value


def _accuracy(reading: Reading) -> str | None:
    whole, sets = reading.named("accuracy"), reading.get("set_accuracy")
    if whole is None:
        return None
    says = f"{_against_chance(reading, whole)}right on {rate(whole)}, of {whole.n_items} items"
    if (chance := reading.chance(whole)) is not None:
        says += f" (guessing: {percent(chance)})"
    if sets is None:
        return says
    says += f"; on all items of {rate(sets)}, of {sets.n_sets} {'set' if sets.n_sets == 1 else 'sets'}"
    references = [("guessing", reading.chance(sets))]
    independent = reading.get("set_accuracy_reference")
    references.append(("if errors were independent", independent.value if independent else None))
    known = [f"{name}: {percent(value)}" for name, value in references if value is not None]
    return f"{says} ({'; '.join(known)})" if known else says


def _against_chance(reading: Reading, whole: Measure) -> str:
    """What comes before a score that a uniform guess may get too."""
    chance = reading.chance(whole)
    if chance is None or reading.above("accuracy", chance):
        return ""
    return "worse than guessing: " if reading.below("accuracy", chance) else "not told apart from guessing: "


RULES: tuple[Callable[[Reading], str | None], ...] = (
    _nothing,
    _constant,
    _unanswered,
    _biased,
    _denies_activities,
    _reversed,
    _aware,
    _inconclusive,
    _consistency,
    _accuracy,
)


def verdict(measures: Sequence[Measure], *, name_suite: bool = False, levels: Sequence[Measure] = ()) -> str:
    """One sentence on one answering: its measures, contrasts left aside. `name_suite` says which suite it is about.

    `levels` are the suite's levels of chance (`judge.chance`), without which nothing is compared with a guess.

    Raises ValueError where the measures are of no answering or of several.
    """
    own = tuple(measure for measure in measures if measure.against is None)
    keys = {_key(measure) for measure in own}
    if len(keys) != 1:
        raise ValueError(f"a verdict is about one answering, not {len(keys)}")
    reading = Reading(own, tuple(levels))
    first = own[0]
    who = ", ".join(part for part in (first.suite if name_suite else "", first.model, first.prompt, first.mode) if part)
    for rule in RULES:
        sentence = rule(reading)
        if sentence is not None:
            spoken = rule not in (_nothing, _constant)
            return f"{who}: {sentence}{_reservation(reading) if spoken else ''}."
    return f"{who}: has no measure to read."


def verdicts(measures: Iterable[Measure]) -> list[str]:
    """A sentence for each answering that saw the whole item and is no baseline, in the order of appearance.

    Where there are several suites, each sentence names its own.
    """
    grouped: dict[tuple[str, ...], list[Measure]] = {}
    levels: dict[str, list[Measure]] = {}
    for measure in measures:
        if measure.answerer == CHANCE:
            levels.setdefault(measure.suite, []).append(measure)
        if measure.against is None and measure.input == "full" and measure.answerer == "model":
            grouped.setdefault(_key(measure), []).append(measure)
    several = len({key[0] for key in grouped}) > 1
    return [verdict(group, name_suite=several, levels=levels.get(key[0], ())) for key, group in grouped.items()]


def _key(measure: Measure) -> tuple[str, ...]:
    return (measure.suite, measure.model, measure.answerer, measure.input, measure.prompt, measure.mode)


def _reservation(reading: Reading) -> str:
    """What weakens the answers as answers."""
    said = ""
    mass = reading.named("label_mass")
    if mass is not None and mass.value is not None and reading.below("label_mass", LITTLE_MASS):
        said += f"; the labels together have only {percent(mass.value)} of its probability"
    order = reading.named("order_sensitivity")
    if order is not None and order.value is not None and reading.above("order_sensitivity", UNSTABLE):
        said += f"; {percent(order.value)} of its answers change with the order of the labels"
    return said


def _statuses(measure: Measure) -> str:
    counts = sorted(((n, name) for name, n in measure.statuses.items() if name != "ok" and n), reverse=True)
    return ", ".join(f"{n} {name.replace('_', ' ')}" for n, name in counts)
