"""What the numbers of seeds and their variants mean, in one sentence."""

from __future__ import annotations

from veridical.judge.verdict import (
    MOST,
    MeasureIndex,
    Rule,
    constant_answer,
    interval_ends,
    no_answers,
    overall_accuracy,
    rate,
    unanswered,
)
from veridical.wording import percent

KEPT = 0.8
"""Matching correctness above which a model is called consistent over variants; below `MOST`, inconsistent."""


def _consistency(index: MeasureIndex) -> str | None:
    """How many seeds are right, and whether their variants are."""
    seeds = index.get("seed_accuracy", variants="some") or index.get("seed_accuracy")
    every, match = index.get("seed_variant_accuracy", ct=1.0), index.get("matching_correctness")
    if seeds is None or every is None or match is None:
        return None
    says = f"right on {rate(seeds)}, of {seeds.n_sets} seeds; on all variants of {rate(every)}"
    if match.value is None:
        return f"{says}; matching correctness {match.interval}"
    lowest = _lowest(index, match.value)
    tied = lowest < match.value
    lead = ""
    # A tie that reaches low thresholds is not evidence of consistency unless most seeds still pass at a high one.
    kept = not tied or lowest > KEPT or index.above("seed_variant_accuracy", MOST, ct=KEPT)
    if kept and index.above("matching_correctness", KEPT) and index.above("seed_accuracy", MOST, **seeds.slice):
        lead = "accurate, and consistent over small changes: "
    elif index.below("matching_correctness", MOST):
        lead = "inconsistent over small changes: "
    if tied:
        whole = f"{percent(lowest)} to {percent(match.value)}"
        says += f"; matching correctness anywhere from {whole} (a tie{interval_ends(match, ' of its upper end')})"
    else:
        says += f"; matching correctness {rate(match)}"
    chance = index.get("matching_correctness", line="reference")
    if chance is not None:
        says += f" (as many errors at random: {percent(chance.value or 0.0)})"
    without = index.get("seed_accuracy", variants="none")
    return f"{lead}{says}" + (f"; {without.n_sets} more seeds have no variants" if without else "")


def _lowest(index: MeasureIndex, highest: float) -> float:
    """The other end of a tie in matching correctness; `highest` where there is none."""
    lowest = index.get("matching_correctness", tied="lowest")
    return highest if lowest is None or lowest.value is None else lowest.value


RULES: tuple[Rule, ...] = (no_answers, constant_answer, unanswered, _consistency, overall_accuracy)
