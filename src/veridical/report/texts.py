"""How numbers, intervals and names read, the same in the terminal, the charts and the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from veridical.items import Factor
from veridical.judge.measure import Measure
from veridical.wording import MISSING, decimals_of, number, p_value, signed, spaced, span


@dataclass(frozen=True, slots=True)
class MeasureText:
    """A measure in words: its name in a heading, and one sentence on what it says."""

    label: str
    meaning: str


MEASURES: Mapping[str, MeasureText] = {
    "accuracy": MeasureText("Accuracy", "Share of items answered with a gold label; 1 is best."),
    "accuracy_over_repeats": MeasureText(
        "Accuracy over repeats",
        "Mean over items of the share of their repeats (epochs, trials) that are right. Accuracy is of the first "
        "repeat.",
    ),
    "changed_over_repeats": MeasureText(
        "Changed over repeats",
        "Share of the items asked more than once whose answers differ. A model asked greedily would have 0.",
    ),
    "pair_consistency": MeasureText(
        "Pair consistency", "Share of sets that are right in both roles of a pair. 1 is best."
    ),
    "set_accuracy": MeasureText("Set accuracy", "Share of sets with every item right. 1 is best."),
    "set_accuracy_reference": MeasureText(
        "Set accuracy, independent",
        "What set accuracy would be if each item were right with the accuracy of its role, whatever else is right in "
        "its set (p to the k for sets of k items of one role). Set accuracy above it: errors gather in some sets.",
    ),
    "worst_of_set": MeasureText(
        "Worst of set",
        "Lowest probability of the gold label among the items of a set, averaged over sets. 1 is best: sure of every "
        "item.",
    ),
    "order_sensitivity": MeasureText(
        "Order sensitivity",
        "Share of items whose answer changes when the labels are named in another order. 0 is best.",
    ),
    "label_mass": MeasureText(
        "Label mass",
        "Probability that the model gives to the labels together. Where it is small, the answer is picked from "
        "among things the model would hardly say.",
    ),
    "constant_share": MeasureText(
        "Constant share", "Share of the most frequent answer. Near 1 is a constant responder, whatever it scores."
    ),
    "agreement": MeasureText(
        "Agreement", "Share of items on which two models give the same label, right or wrong. 1: they never differ."
    ),
    "balanced_accuracy": MeasureText("Balanced accuracy", "Mean recall over the gold labels that occur."),
    "selectivity": MeasureText("Selectivity", "Readout accuracy less that of the same readout on control labels."),
    "encoded_expressed_gap": MeasureText(
        "Encoded less expressed", "What a readout recovers from hidden states less what the model answers."
    ),
}
"""Measures of suites of any kind; a suite's own are in its `Presentation`."""

NOT_A_DIFFERENCE = ("agreement",)
"""Measures of two sides together, which have no sign."""

STATUSES: Mapping[str, str] = {
    "ok": "answered",
    "unparsed": "no label found in the text",
    "ambiguous": "several labels found in the text",
    "empty": "nothing came back",
    "truncated": "cut off before an answer",
    "tied": "two choices scored the same",
    "non_finite": "a score is not a finite number",
    "too_long": "longer than the model's window",
    "filtered": "held back by a server's content filter",
    "below_k": "no choice among the first tokens that a server lists",
    "error": "the request failed",
    "missing": "asked for, with no response stored",
}


def estimate(measure: Measure | None) -> str:
    """`.47 [.38, .57]`; differences carry their sign, and more decimals where two do not distinguish the values."""
    if measure is None:
        return MISSING
    return f"{point(measure)} {interval(measure)}".rstrip()


def interval(measure: Measure) -> str:
    """`[.38, .57]`, with the decimals of the value before it."""
    return span(measure.low, measure.high, _decimals(measure))


def point(measure: Measure | None) -> str:
    """The value alone: `.47`; a difference carries its sign, and before a tied value stands the tie's other end."""
    if measure is None:
        return MISSING
    if is_difference(measure):
        return signed(measure.value, _decimals(measure))
    tied = f"{number(measure.tied[0])}–" if measure.tied else ""
    return tied + number(measure.value, _decimals(measure))


def _decimals(measure: Measure) -> int:
    return decimals_of(measure.low, measure.high, difference=is_difference(measure))


def disagreement(measure: Measure | None) -> str:
    """Why the test of a difference says something else than its interval; empty where the two agree.

    Wilson, Newcombe and the bootstrap are approximations that are near their level on average; McNemar's and Fisher's
    tests are exact and so never above it, which costs them power where counts are small.
    """
    if measure is None or measure.p is None or measure.low is None or measure.high is None or measure.level is None:
        return ""
    if not is_difference(measure) or measure.adjusted:
        return ""
    excludes = measure.low > 0 or measure.high < 0
    if excludes == (measure.p <= 1 - measure.level + 1e-9):
        return ""
    where = "excludes 0" if excludes else "includes 0"
    test, kind = _TESTS.get(measure.test or "", ("the test", "of another kind"))
    return (
        f"the interval ({measure.interval}) {where} and p is {p_value(measure.p)}: {test} is {kind}, the interval an "
        "approximation, so near the level the two can part; go by the test"
    )


_TESTS: Mapping[str, tuple[str, str]] = {
    "mcnemar_exact": ("McNemar's test", "exact"),
    "fisher_exact": ("Fisher's test", "exact"),
    "sign_flip": ("the sign-flip test", "exact where the two sides can be exchanged"),
    "bootstrap_inverted": ("the test", "held back where so few sets differ that their signs show no more"),
}
"""A test's name and kind in words."""


def is_difference(measure: Measure) -> bool:
    """Whether it is one side less another."""
    return measure.against is not None and measure.measure not in NOT_A_DIFFERENCE


def bounds(measure: Measure) -> str:
    """`⟨.50, .60⟩`: the least and greatest value over what is not `ok`; nothing where the two are one."""
    low, high = number(measure.bound_low), number(measure.bound_high)
    return "" if low == high else f"⟨{low}, {high}⟩"


def level(measure: Measure | None) -> str:
    """The confidence level as a percentage: `95%`."""
    return "" if measure is None or measure.level is None else f"{100 * measure.level:g}%"


def slice_label(where: Mapping[str, Factor]) -> str:
    """`group C, verb class Creation`; empty for everything."""
    return ", ".join(f"{key.replace('_', ' ')} {spaced(str(value))}" for key, value in where.items())


def not_ok(statuses: Mapping[str, int]) -> int:
    """How many responses have no label."""
    return sum(count for status, count in statuses.items() if status != "ok")


def status_list(statuses: Mapping[str, int]) -> str:
    """`unparsed 3, tied 1`: what is not `ok`, the most frequent first."""
    rest = sorted(((n, s) for s, n in statuses.items() if s != "ok" and n), key=lambda pair: (-pair[0], pair[1]))
    return ", ".join(f"{spaced(status)} {count}" for count, status in rest)


def parameter_count(count: int) -> str:
    """`135M`, `1.5B`: the number of parameters as a model card gives it."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if count >= size:
            return f"{count / size:.3g}{letter}"
    return str(count)
