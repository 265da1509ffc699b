"""Which of the harness's own scores says whether an answer is right."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

PREFERRED = (
    "chain_of_thought_correctness",
    "acc",
    "exact_match",
    "accuracy",
    "match",
    "includes",
    "choice",
    "quasi_exact_match",
)
"""Metrics by which answers are graded where several are 0 or 1: the first of these. Then, in the order of the alphabet,
those whose names say that they are accuracies, then all others: the choice does not depend on a log's values."""

_ACCURACIES = ("acc", "exact_match", "correct", "match", "solved", "pass")
_LOWER_IS_BETTER = ("toxic", "stereotyp", "bias", "harm", "hallucinat", "error", "violation", "perplex", "loss")
"""Parts of the names of metrics of which less is better, where the log does not say which way is better."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The scores of single answers under one metric and one reading, counted by kind.

    `graded` are 0 or 1, `partial` lie between, `missing` are null or not finite, `other` are not grades at all: texts,
    lists, numbers outside [0, 1].
    """

    ones: int = 0
    zeros: int = 0
    partial: int = 0
    missing: int = 0
    other: int = 0

    @property
    def is_grade(self) -> bool:
        """Whether it marks most answers as right or wrong, and none as anything else."""
        graded = self.ones + self.zeros
        return graded > 0 and self.other == 0 and self.partial <= graded


@dataclass(frozen=True, slots=True)
class Grading:
    """The metric that grades, the readings that it grades, and whether 0 is right.

    `others` are the other metrics that could have been chosen, `lower` those that are 0 or 1 and of which less is
    better, which are never chosen unasked.
    """

    metric: str
    readings: tuple[str, ...] = ()
    inverted: bool = False
    others: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()


def is_lower_better(metric: str, higher_is_better: Mapping[str, bool]) -> bool:
    """Whether less of a metric is better: as the log says, else by its name."""
    if metric in higher_is_better:
        return not higher_is_better[metric]
    name = metric.lower()
    return any(part in name for part in _LOWER_IS_BETTER)


def choose(
    spreads: Mapping[tuple[str, str], Spread],
    *,
    wanted: str | None = None,
    declared: Collection[str] = (),
    higher_is_better: Mapping[str, bool] | None = None,
) -> Grading | None:
    """The metric that grades the answers of a task, None where no metric does.

    Arguments:
        spreads: by metric and reading.
        wanted: the metric that was asked for.
        declared: the metrics that the log itself names; other keys of its records are not metrics.
        higher_is_better: by metric, where the log says it.
    """
    ways = higher_is_better or {}
    usable: dict[str, list[str]] = {}
    for (metric, reading), spread in spreads.items():
        if spread.is_grade and (not declared or metric in declared or metric == wanted):
            usable.setdefault(metric, []).append(reading)
    both = [metric for metric in usable if _is_both(metric, spreads)]
    lower = tuple(sorted(metric for metric in usable if is_lower_better(metric, ways)))
    if wanted is not None:
        if wanted not in usable:
            return None
        return Grading(wanted, tuple(usable[wanted]), is_lower_better(wanted, ways), lower=lower)
    ranked = sorted((metric for metric in both if metric not in lower), key=_rank)
    if not ranked:
        return Grading("", lower=lower) if lower else None
    return Grading(ranked[0], tuple(usable[ranked[0]]), others=tuple(ranked[1:]), lower=lower)


def _is_both(metric: str, spreads: Mapping[tuple[str, str], Spread]) -> bool:
    """Whether a metric is a grade and not another kind of score that happens to be 0 or 1 throughout."""
    if _rank(metric)[0] < len(PREFERRED) + 1:
        return True
    own = [spread for (name, _), spread in spreads.items() if name == metric]
    return any(spread.ones for spread in own) and any(spread.zeros for spread in own)


def _rank(metric: str) -> tuple[int, str]:
    if metric in PREFERRED:
        return PREFERRED.index(metric), metric
    words = metric.lower()
    return len(PREFERRED) + (not any(part in words for part in _ACCURACIES)), metric


def names(metrics: Iterable[str]) -> str:
    """Names for a message, at most six."""
    found = list(metrics)
    return ", ".join(found[:6]) + (f" and {len(found) - 6} more" if len(found) > 6 else "")
