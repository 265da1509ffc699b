"""What must be read before the numbers of an imported task: where they differ from the harness's, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from veridical.interop.imports.answer import Answer
from veridical.interop.imports.grading import Grading, names
from veridical.interop.imports.tally import Tallies, Tally
from veridical.runs.provenance import Metric
from veridical.status import Status

DIFFERING = 0.01
"""Share of answers judged otherwise than the log's own grade above which it must be said first."""
LARGEST_ROUNDING = 0.005
"""A reported number with few decimals may be a rounded one: it may differ from the mean of the log's scores by half a
unit of its last decimal, and by no more than this."""

_MEANS = ("", "mean", "acc_all", "nanmean")


@dataclass
class Counts:
    """The answers of one task under one reading, by status, and those without a right answer that is known."""

    statuses: Counter[str] = field(default_factory=Counter)
    without_gold: int = 0
    repeats: set[int] = field(default_factory=set)

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        self.statuses[answer.status.value] += 1
        self.without_gold += bool(answer.choices) and not answer.gold
        self.repeats.add(answer.repeat)

    @property
    def n(self) -> int:
        """The number of answers."""
        return self.statuses.total()


def notices(
    task: str,
    tallies: Tallies,
    counts: Mapping[str, Counts],
    metrics: Iterable[Metric],
    grading: Grading | None,
    aggregated: Mapping[str, str],
    *,
    by_grade: bool,
) -> Iterator[str]:
    """Lines, the gravest first.

    Arguments:
        task: what to call the task.
        tallies, counts: of its answers, the counts by reading.
        metrics: its metrics as reported and as they come out of the log.
        grading: which of its own scores grades its answers.
        aggregated: by metric, how the harness makes its number of the single scores, where the log says it.
        by_grade: whether answers are judged by that score, and not by their choices.
    """
    yield from _altered(task, metrics, aggregated)
    grade = grading.metric if grading else ""
    for reading, own in counts.items():
        who = f"{task} ({reading})" if len(counts) > 1 else task
        parts = tallies.of(grade, reading)
        if parts:
            yield from _graded_otherwise(who, grade, parts, own, by_grade=by_grade)
        if len(own.repeats) > 1:
            yield (
                f"{who}: documents were asked up to {len(own.repeats)} times (epochs, trials): every measure is of the "
                "first time, and accuracy over repeats is of all"
            )
        if own.without_gold:
            yield (
                f"{who}: {own.without_gold:,} of {own.n:,} answers are to items without a right answer that the log "
                "says, and are not in the denominator of accuracy"
            )
    if by_grade and grading is not None:
        yield from _chosen(task, grading, tallies)


def _altered(task: str, metrics: Iterable[Metric], aggregated: Mapping[str, str]) -> Iterator[str]:
    """Metrics whose reported number is not what the log's own scores come to."""
    for one in metrics:
        found = one.own if one.own is not None else one.recomputed
        if one.reported is None or found is None or aggregated.get(one.metric, "") not in _MEANS:
            continue
        if not _is_same(one.reported, found) and not _is_same(one.reported, 100 * found):
            yield (
                f"{task}: {one.metric} ({one.reading}) is reported as {one.reported:.4g}, and the scores of the "
                f"{one.n:,} answers in the log come to {found:.4g}: the two are not of the same answers, or one was "
                "altered"
            )


def _is_same(reported: float, found: float) -> bool:
    decimals = len(repr(reported).partition(".")[2]) if "e" not in repr(reported) else 16
    tolerance = max(1e-6, min(0.5000001 * 10.0**-decimals, LARGEST_ROUNDING)) * max(1.0, abs(reported))
    return abs(reported - found) <= tolerance


def _graded_otherwise(who: str, grade: str, parts: list[Tally], own: Counts, *, by_grade: bool) -> Iterator[str]:
    """Where what is judged here is not what the log's own grade says, for more than a hundredth of the answers."""
    numbers, ones = sum(tally.numbers for tally in parts), sum(tally.ones for tally in parts)
    total = sum(tally.own for tally in parts)
    if by_grade:
        otherwise = sum(tally.not_ok_ones + tally.partial for tally in parts)
        right = ones - sum(tally.not_ok_ones for tally in parts)
    else:
        otherwise = sum(tally.judged_otherwise for tally in parts)
        right = sum(tally.right for tally in parts)
    n = own.n - own.without_gold
    absent = own.n - numbers
    reason = _why(own)
    if otherwise > DIFFERING * own.n and numbers:
        yield (
            f"{who}: {otherwise:,} of {own.n:,} answers are judged otherwise than by the log's own {grade}: "
            f"accuracy {_share(right, n)}, and {_share(total, numbers)} by {grade}{reason}"
        )
    elif absent > DIFFERING * own.n and numbers:
        yield (
            f"{who}: {absent:,} of {own.n:,} answers have no {grade} in the log and stay in the denominator: "
            f"accuracy {_share(right, n)}, and {_share(total, numbers)} over the {numbers:,} that have one{reason}"
        )


def _why(own: Counts) -> str:
    rest = [
        f"{n:,} {status.replace('_', ' ')}" for status, n in own.statuses.most_common() if status != Status.OK.value
    ]
    return f" ({', '.join(rest)})" if rest else ""


def _share(count: float, of: int) -> str:
    return f"{count / of:.3f}".removeprefix("0") if of else "of nothing"


def _chosen(task: str, grading: Grading, tallies: Tallies) -> Iterator[str]:
    """Which of several scores grades, which way round it is read, and which readings it does not grade."""
    if grading.inverted:
        yield f"{task}: of {grading.metric} less is better: an answer is right where it is 0"
    if grading.metric and grading.others:
        yield (
            f"{task}: right is what {grading.metric} says, one of {len(grading.others) + 1} scores that are 0 or 1 "
            f"(the others: {names(grading.others)}); --metric NAME chooses another"
        )
    if not grading.metric and grading.lower:
        yield (
            f"{task}: not judged: of {names(grading.lower)} less is better; --metric {grading.lower[0]} judges it, "
            "with 0 as right"
        )
    graded = tallies.readings(grading.readings)
    rest = [reading for reading in tallies.parts if reading not in graded]
    if grading.metric and rest:
        yield f"{task}: {names(rest)}: not judged, since {grading.metric} is not 0 or 1 there"
