"""Which of the harness's own scores says whether an answer is right."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from veridical.interop.imports.direction import is_lower_better

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

MOST_ODD = 0.2
"""Share of scores outside [0, 1] up to which an accuracy is still taken as one. Our choice."""

_ACCURACIES = ("acc", "exact_match", "correct", "match", "solved", "pass")


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

    def is_grade_under(self, metric: str) -> bool:
        """Whether it marks most answers as right or wrong, and none as anything else.

        A few odd values (-1 where an answer failed) do not make a score something else whose name says that it is an
        accuracy: their answers are not ok.
        """
        graded = self.ones + self.zeros
        odd = MOST_ODD * (graded + self.partial + self.other) if is_accuracy(metric) else 0
        return graded > 0 and self.other <= odd and self.partial <= graded


@dataclass(frozen=True, slots=True)
class Grading:
    """The metric that grades, the readings that it grades, and whether 0 is right.

    `others` are the other metrics that could have been chosen, `lower` those that are 0 or 1 and of which less is
    better, which are never chosen unasked, `lower_readings` the readings (filters, scorers) in which they are so.
    """

    metric: str
    readings: tuple[str, ...] = ()
    inverted: bool = False
    others: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    lower_readings: tuple[str, ...] = ()


def choose(
    spreads: Mapping[tuple[str, str], Spread],
    *,
    wanted: str | None = None,
    parts: Collection[str] | None = None,
    declared: Collection[str] = (),
    higher_is_better: Mapping[str, bool] | None = None,
) -> Grading | None:
    """The metric that grades the answers of a task, None where no metric does.

    Arguments:
        spreads: by metric and reading.
        wanted: the metric that was asked for.
        parts: the readings under which it was asked for; any where None.
        declared: the metrics that the log itself names; other keys of its records are not metrics.
        higher_is_better: by metric or by reading, where the log says it.
    """
    ways = higher_is_better or {}
    usable: dict[str, list[str]] = {}
    turned: dict[str, list[str]] = {}
    for (metric, reading), spread in spreads.items():
        if parts is not None and reading not in parts:
            continue
        if spread.is_grade_under(metric) and (not declared or metric in declared or metric == wanted):
            way = turned if is_lower_better(metric, reading, ways) else usable
            way.setdefault(metric, []).append(reading)
    lower = tuple(sorted(turned))
    lower_readings = tuple(dict.fromkeys(reading for readings in turned.values() for reading in readings))
    if wanted is not None:
        found = usable.get(wanted) or turned.get(wanted)
        if found is None:
            return None
        return Grading(wanted, tuple(found), wanted not in usable, lower=lower, lower_readings=lower_readings)
    ranked = sorted((metric for metric in usable if _is_both(metric, spreads)), key=_rank)
    if not ranked:
        return Grading("", lower=lower, lower_readings=lower_readings) if lower else None
    first, *others = ranked
    return Grading(first, tuple(usable[first]), others=tuple(others), lower=lower, lower_readings=lower_readings)


def _is_both(metric: str, spreads: Mapping[tuple[str, str], Spread]) -> bool:
    """Whether a metric is a grade and not another kind of score that happens to be 0 or 1 throughout."""
    if is_accuracy(metric):
        return True
    own = [spread for (name, _), spread in spreads.items() if name == metric]
    return any(spread.ones for spread in own) and any(spread.zeros for spread in own)


def is_accuracy(metric: str) -> bool:
    """Whether a metric's name says that 1 is a right answer."""
    return _rank(metric)[0] < len(PREFERRED) + 1


def _rank(metric: str) -> tuple[int, str]:
    if metric in PREFERRED:
        return PREFERRED.index(metric), metric
    words = metric.lower()
    return len(PREFERRED) + (not any(part in words for part in _ACCURACIES)), metric


def names(metrics: Iterable[str]) -> str:
    """Names for a message, at most six."""
    found = list(metrics)
    return ", ".join(found[:6]) + (f" and {len(found) - 6} more" if len(found) > 6 else "")
