"""What the harness's numbers come to, counted answer by answer beside the numbers that it reported."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from veridical.interop.imports.answer import Answer, number
from veridical.runs.provenance import Metric

SAME = 1e-9
"""Two means that differ by no more are one number: sums in another order."""

PREFERRED = ("acc", "exact_match", "accuracy", "match", "includes", "choice", "quasi_exact_match")
"""Metrics by which answers are graded where there are several that are 0 or 1: the first of these, else the first."""


@dataclass(slots=True)
class Tally:
    """One metric under one reading: sums over answers."""

    n: int = 0
    own: float = 0.0
    numbers: int = 0
    ones: int = 0
    zeros: int = 0
    recomputed: float = 0.0
    n_recomputed: int = 0
    differing: int = 0

    def add(self, value: object, again: float | None) -> None:
        self.n += 1
        own = number(value)
        if own is not None and math.isfinite(own):
            self.numbers += 1
            self.own += own
            self.ones += own == 1.0
            self.zeros += own == 0.0
        if again is not None:
            self.n_recomputed += 1
            self.recomputed += again
            self.differing += own is not None and abs(own - again) > SAME

    @property
    def is_grade(self) -> bool:
        """Whether every score is 0 or 1."""
        return self.n > 0 and self.ones + self.zeros == self.n


@dataclass
class Tallies:
    """The tallies of one task."""

    found: dict[tuple[str, str], Tally] = field(default_factory=dict)

    def add(self, answer: Answer) -> None:
        for metric, value in answer.metrics.items():
            tally = self.found.setdefault((metric, answer.part or answer.reading), Tally())
            tally.add(value, answer.recomputed.get(metric))

    def grading(self) -> str | None:
        """The metric that grades answers: 0 or 1 for each of them, under every reading."""
        names = dict.fromkeys(metric for metric, _ in self.found)
        grades: list[str] = []
        for name in names:
            own = [tally for (metric, _), tally in self.found.items() if metric == name]
            # A score of another kind may be 0 throughout: one that is not known by name must have been both.
            varied = any(tally.ones for tally in own) and any(tally.zeros for tally in own)
            if all(tally.is_grade for tally in own) and (varied or name in PREFERRED):
                grades.append(name)
        return next((name for name in PREFERRED if name in grades), grades[0] if grades else None)

    def metrics(self, reported: Iterable[tuple[str, str, float]]) -> Iterator[Metric]:
        """Every metric, those first that the log has answer by answer, then those that were only reported."""
        given = {(metric, reading): value for metric, reading, value in reported}
        for key, tally in self.found.items():
            yield _metric(key, tally, given.get(key))
        for key, value in given.items():
            if key not in self.found:
                reason = "the log has no score of single answers for it"
                yield Metric(metric=key[0], reading=key[1], reported=value, reason=reason)


def _metric(key: tuple[str, str], tally: Tally, reported: float | None) -> Metric:
    metric, reading = key
    own = tally.own / tally.numbers if tally.numbers == tally.n and tally.n else None
    complete = tally.n_recomputed == tally.n
    recomputed = tally.recomputed / tally.n if complete and tally.n else None
    if metric == "perplexity" and recomputed is not None:
        own, recomputed = math.exp(-own) if own is not None else None, math.exp(-recomputed)
    return Metric(
        metric=metric,
        reading=reading,
        reported=reported,
        own=own,
        recomputed=recomputed,
        n=tally.n,
        differing=tally.differing,
        reason="" if recomputed is not None else _reason(tally),
    )


def _reason(tally: Tally) -> str:
    if tally.n_recomputed:
        return f"{tally.n - tally.n_recomputed} of {tally.n} answers lack what it needs"
    if tally.numbers > tally.n // 2 and tally.numbers < tally.n:
        return f"{tally.n - tally.numbers} of {tally.n} scores are no numbers"
    if tally.numbers < tally.n:
        return "its scores are not numbers: it is made of all answers together"
    return "the harness's own score of each answer, taken as it is"


def told_differing(metrics: Iterable[Metric]) -> Iterator[str]:
    """Lines on metrics that come out otherwise than the harness has them, which is a reason to look before trusting."""
    for one in metrics:
        if one.differing:
            yield (
                f"{one.metric} ({one.reading}): {one.differing:,} of {one.n:,} answers come by its rule to another "
                "score than the harness's own; look at these before the measures are trusted"
            )
