"""What the harness's numbers come to, counted answer by answer, for comparison with the numbers that it reported."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from veridical.interop.imports.answer import Answer, number
from veridical.interop.imports.grading import Spread
from veridical.interop.imports.logged import Reported
from veridical.runs.provenance import Metric
from veridical.status import Status

SAME = 1e-9
"""Two means that differ by no more are one number: sums in another order."""
LARGEST_SCORE = 1e300
"""A larger score is not averaged: sums would not be finite."""


@dataclass(slots=True)
class Tally:
    """One metric under one reading: sums over answers."""

    n: int = 0
    own: float = 0.0
    numbers: int = 0
    ones: int = 0
    zeros: int = 0
    partial: int = 0
    missing: int = 0
    recomputed: float = 0.0
    n_recomputed: int = 0
    differing: int = 0
    judged: int = 0
    """Answers that have a score of 0 or 1 and are judged here by something else than that score."""
    judged_otherwise: int = 0
    """Those of them that are right here and not by that score, or the other way round."""
    right: int = 0
    """Those that are right here."""
    not_ok_ones: int = 0
    """Answers that are not ok, or to items whose right answer is not known, and that the harness scored 1."""
    not_ok_zeros: int = 0
    scored: int = 0
    """Answers that are judged by this score of 0 or 1, and whose log-likelihoods say too whether they are right."""
    scored_right: int = 0
    scored_otherwise: int = 0
    """Those of them that are right by their log-likelihoods, and those of which the two say different things."""
    by_document: dict[str, tuple[float, int]] = field(default_factory=dict)

    def add(self, value: object, again: float | None, answer: Answer) -> None:
        """Count one score: the harness's own, the same recomputed, and the answer that it is of."""
        self.n += 1
        own = number(value)
        if own is None:
            self.missing += value is None
        elif not math.isfinite(own) or abs(own) > LARGEST_SCORE:
            self.missing, own = self.missing + 1, None
        else:
            self._count(own, answer)
        if again is not None:
            self.n_recomputed += 1
            self.recomputed += again
            self.differing += own is not None and abs(own - again) > SAME

    def _count(self, own: float, answer: Answer) -> None:
        self.numbers += 1
        self.own += own
        self.ones += own == 1.0
        self.zeros += own == 0.0
        self.partial += 0.0 < own < 1.0
        total, count = self.by_document.get(answer.document, (0.0, 0))
        self.by_document[answer.document] = total + own, count + 1
        if own not in (0.0, 1.0):
            return
        not_judged = answer.status is not Status.OK or answer.gold_unknown
        self.not_ok_ones += own == 1.0 and not_judged
        self.not_ok_zeros += own == 0.0 and not_judged
        if answer.by_scores is not None:
            self.scored += 1
            self.scored_right += answer.by_scores
            self.scored_otherwise += answer.by_scores != (own == 1.0)
        if (
            answer.choices
            and answer.gold
            and (answer.scores or answer.status is not Status.OK or answer.label is not None)
        ):
            right = is_right(answer)
            self.judged += 1
            self.right += right
            self.judged_otherwise += right != (own == 1.0)

    @property
    def spread(self) -> Spread:
        """How many of the scores are 1, 0, between, missing, and of another kind."""
        other = self.n - self.missing - self.ones - self.zeros - self.partial
        return Spread(self.ones, self.zeros, self.partial, self.missing, other)

    @property
    def mean(self) -> float | None:
        """The mean of the scores that are numbers, where all others are missing."""
        return self.own / self.numbers if self.numbers and self.numbers + self.missing == self.n else None

    @property
    def stderr(self) -> float | None:
        """Standard error of the mean, with the documents as the sample."""
        means = [total / count for total, count in self.by_document.values()]
        n = len(means)
        if self.mean is None or n < 2:
            return None
        centre = math.fsum(means) / n
        variance = math.fsum((one - centre) ** 2 for one in means) / (n - 1)
        return math.sqrt(variance / n) if math.isfinite(variance) else None


def is_right(answer: Answer) -> bool:
    """Whether an answer whose choices are known is right as it is judged here: ties and non-finite scores are not."""
    if answer.status is not Status.OK:
        return False
    if not answer.scores:
        return answer.label is not None and answer.label in [answer.labels[place] for place in answer.gold]
    best, *rest = sorted(answer.scores, reverse=True)
    if rest and best - rest[0] <= TIE:
        return False
    return answer.scores.index(best) in answer.gold


TIE = 1e-6
"""As `veridical.judge.answers.TIE`, which is not imported: reading logs needs nothing that judges."""


@dataclass
class Tallies:
    """The tallies of one task."""

    found: dict[tuple[str, str], Tally] = field(default_factory=dict)
    parts: dict[str, dict[str, None]] = field(default_factory=dict)
    """For what the harness reports its numbers, by reading: the reading itself, or its splits."""

    def add(self, answer: Answer) -> None:
        """Count every score of an answer."""
        part = answer.part or answer.reading
        self.parts.setdefault(answer.reading, {})[part] = None
        for metric in (*answer.metrics, *(name for name in answer.recomputed if name not in answer.metrics)):
            tally = self.found.setdefault((metric, part), Tally())
            tally.add(answer.metrics.get(metric), answer.recomputed.get(metric), answer)

    def of(self, metric: str, reading: str) -> list[Tally]:
        """The tallies of a metric under one reading."""
        keys = ((metric, part) for part in self.parts.get(reading, ()))
        return [self.found[key] for key in keys if key in self.found]

    def readings(self, parts: Collection[str]) -> tuple[str, ...]:
        """The readings that any of these parts is of."""
        return tuple(reading for reading, own in self.parts.items() if any(part in parts for part in own))

    def spreads(self) -> dict[tuple[str, str], Spread]:
        """The spread of every metric, by (metric, part)."""
        return {key: tally.spread for key, tally in self.found.items()}

    def metrics(
        self, reported: Iterable[Reported], stderr: Mapping[tuple[str, str], float] | None = None
    ) -> Iterator[Metric]:
        """Every metric, those first that the log has answer by answer, then those that were only reported."""
        given = {(metric, reading): value for metric, reading, value in reported}
        errors = stderr or {}
        for key, tally in self.found.items():
            yield _metric(key, tally, given.get(key), errors.get(key))
        for key, value in given.items():
            if key in self.found:
                continue
            reason = "the log has no score of single answers for it"
            if not math.isfinite(value):
                reason = f"reported as {value}, which is not a finite number"
            yield Metric(
                metric=key[0], reading=key[1], reported=_finite(value), reason=reason, stderr=_finite(errors.get(key))
            )


def _metric(key: tuple[str, str], tally: Tally, reported: float | None, stderr: float | None) -> Metric:
    metric, reading = key
    own = tally.mean
    complete = tally.n_recomputed == tally.n
    recomputed = tally.recomputed / tally.n if complete and tally.n else None
    if metric == "perplexity" and recomputed is not None:
        own, recomputed = None if own is None else _exponential(-own), _exponential(-recomputed)
    reason = "" if recomputed is not None else _reason(tally)
    if reported is not None and not math.isfinite(reported):
        reason = f"reported as {reported}, which is not a finite number"
    return Metric(
        metric=metric,
        reading=reading,
        reported=_finite(reported),
        own=_finite(own),
        recomputed=_finite(recomputed),
        n=tally.n,
        differing=tally.differing,
        reason=reason,
        stderr=_finite(stderr),
        own_stderr=None if metric == "perplexity" else tally.stderr,
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _exponential(value: float) -> float:
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _reason(tally: Tally) -> str:
    if tally.n_recomputed:
        return f"{tally.n - tally.n_recomputed} of {tally.n} answers lack what it needs"
    if tally.missing and tally.numbers + tally.missing == tally.n:
        return f"{tally.missing} of {tally.n} scores are missing or not finite"
    if tally.numbers > tally.n // 2 and tally.numbers < tally.n:
        return f"{tally.n - tally.numbers} of {tally.n} scores are not numbers"
    if tally.numbers < tally.n:
        return "its scores are not numbers: it is made of all answers together"
    return "the harness's own score of each answer, taken as it is"


def differing_remarks(metrics: Iterable[Metric]) -> Iterator[str]:
    """Lines on metrics that come out otherwise than the harness has them, which is a reason to look before trusting."""
    for one in metrics:
        if one.differing:
            yield (
                f"{one.metric} ({one.reading}): {one.differing:,} of {one.n:,} answers come by its rule to another "
                "score than the harness's own; look at these before the measures are trusted"
            )
