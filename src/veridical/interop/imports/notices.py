"""What must be read before the numbers of an imported task: where they differ from the harness's, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from veridical.files.ledger import reasons
from veridical.interop.imports.answer import Answer
from veridical.interop.imports.direction import says_lower
from veridical.interop.imports.grading import Grading, names
from veridical.interop.imports.logged import LoggedTask
from veridical.interop.imports.reported import reported_otherwise
from veridical.interop.imports.tally import Tallies, Tally, is_right
from veridical.runs.provenance import Metric, Notice
from veridical.status import Status

DIFFERING = 0.01
"""Share of answers judged otherwise than the log's own grade above which it must be said first."""


@dataclass
class Counts:
    """The answers of one task under one reading, by status, and the log's records that they are of."""

    statuses: Counter[str] = field(default_factory=Counter)
    right: int = 0
    """Those that are right by their choices."""
    without_gold: int = 0
    repeats: set[int] = field(default_factory=set)
    with_gold: set[int] = field(default_factory=set)
    gold_unknown: set[int] = field(default_factory=set)
    """Records whose right answer is known, and those whose is not."""

    def add(self, answer: Answer) -> None:
        """Count one answer."""
        self.statuses[answer.status.value] += 1
        unknown = answer.gold_unknown or (bool(answer.choices) and not answer.gold)
        self.without_gold += unknown
        self.right += bool(answer.labels) and is_right(answer)
        self.repeats.add(answer.repeat)
        if answer.in_log and answer.record is not None:
            (self.gold_unknown if unknown else self.with_gold).add(answer.record)

    @property
    def n(self) -> int:
        """The number of answers."""
        return self.statuses.total()

    @property
    def n_graded(self) -> int:
        """The number of answers to items whose right answer is known."""
        return self.n - self.without_gold


def notices(
    tallies: Tallies,
    repeated: Tallies,
    counts: Mapping[str, Counts],
    metrics: Sequence[Metric],
    grading: Grading | None,
    logged: LoggedTask,
    *,
    by_grade: bool,
) -> Iterator[Notice]:
    """Notices, the gravest first.

    Arguments:
        tallies, counts: of the task's answers, the counts by reading.
        repeated: of the answers that were left out, since their document has one already.
        metrics: its metrics as reported and as they come out of the log.
        grading: which of its own scores grades its answers.
        logged: the task as its log has it.
        by_grade: whether answers are judged by that score, and not by their choices.
    """
    task, grade = logged.name, grading.metric if grading else ""
    inverted = bool(by_grade and grading and grading.inverted)
    for reading, own in counts.items():
        parts = tallies.of(grade, reading)
        who = f"{task} ({reading})" if len(counts) > 1 else task
        if parts and by_grade:
            yield from _scored_otherwise(who, grade, parts)
        if parts:
            yield from _graded_otherwise(who, grade, parts, own, by_grade=by_grade, inverted=inverted)
    accuracy = {} if by_grade else {name: (own.right, own.n - own.without_gold) for name, own in counts.items()}
    yield from reported_otherwise(logged, tallies, repeated, metrics, accuracy)
    yield from _left_out(logged)
    for reading, own in counts.items():
        who = f"{task} ({reading})" if len(counts) > 1 else task
        if len(own.repeats) > 1:
            yield Notice(
                task=who,
                says=f"documents were asked up to {len(own.repeats)} times (epochs, trials)",
                means="every measure is of the first time, and accuracy over repeats is of all",
            )
        if own.without_gold:
            right = _right_by_grade(tallies.of(grade, reading), inverted=inverted) if by_grade else own.right
            yield Notice(
                task=who,
                says=f"{own.without_gold:,} of {own.n:,} answers are to items without a right answer that the log "
                f"says: accuracy {_share(right, own.n_graded)} is over the other {own.n_graded:,}, and "
                f"{_share(right, own.n)} over all {own.n:,}",
                means="they are not in the denominator of accuracy",
            )
    if grading is not None:
        yield from _chosen(task, grading, tallies, by_grade=by_grade)


def _left_out(logged: LoggedTask) -> Iterator[Notice]:
    """What the log's reader could not read, or left out."""
    ledger = logged.ledger
    if lost := ledger.left_out.total():
        yield Notice(
            task=logged.name,
            says=f"{lost:,} of {ledger.read:,} records left out ({reasons(ledger.left_out)})",
            means="what is measured is of the rest",
        )


def _scored_otherwise(who: str, grade: str, parts: Sequence[Tally]) -> Iterator[Notice]:
    """Where answers are judged by the log's own grade, and log-likelihoods that it has too say something else."""
    scored, otherwise = sum(tally.scored for tally in parts), sum(tally.scored_otherwise for tally in parts)
    if not otherwise:
        return
    ones, graded = sum(tally.ones for tally in parts), sum(tally.ones + tally.zeros for tally in parts)
    right = sum(tally.scored_right for tally in parts)
    yield Notice(
        task=who,
        says=f"accuracy {_share(ones, graded)} of {graded:,} by the log's own {grade}, by which answers are judged, "
        f"and {_share(right, scored)} of {scored:,} by its log-likelihoods: {otherwise:,} of {scored:,} answers differ",
        means="the task has a rule of its own, or scores were altered",
    )


def _graded_otherwise(
    who: str, grade: str, parts: Sequence[Tally], own: Counts, *, by_grade: bool, inverted: bool
) -> Iterator[Notice]:
    """Where what is judged here is not what the log's own grade says, for more than a hundredth of the answers."""
    numbers, total = sum(tally.numbers for tally in parts), sum(tally.own for tally in parts)
    if by_grade:
        hits = _right_by_grade(parts, inverted=inverted)
        lost = sum(tally.not_ok_zeros if inverted else tally.not_ok_ones for tally in parts)
        odd = sum(tally.partial + tally.spread.other for tally in parts)
        otherwise, right = lost + odd, hits
    else:
        otherwise, right = sum(tally.judged_otherwise for tally in parts), own.right
    n = own.n - own.without_gold
    absent = own.n - numbers
    reason = _why(own)
    if otherwise > DIFFERING * own.n and numbers:
        yield Notice(
            task=who,
            says=f"{otherwise:,} of {own.n:,} answers are judged otherwise than by the log's own {grade}: "
            f"accuracy {_share(right, n)} of {n:,}, and {_share(total, numbers)} of {numbers:,} by {grade}{reason}",
        )
    elif absent > DIFFERING * own.n and numbers:
        yield Notice(
            task=who,
            says=f"{absent:,} of {own.n:,} answers have no {grade} in the log and stay in the denominator: "
            f"accuracy {_share(right, n)} of {n:,}, and {_share(total, numbers)} of the {numbers:,} that have one"
            f"{reason}",
        )


def _right_by_grade(parts: Sequence[Tally], *, inverted: bool) -> int:
    """How many answers are right as the log's own grade says it of those that are ok."""
    return sum(tally.zeros - tally.not_ok_zeros if inverted else tally.ones - tally.not_ok_ones for tally in parts)


def _why(own: Counts) -> str:
    rest = [
        f"{n:,} {status.replace('_', ' ')}" for status, n in own.statuses.most_common() if status != Status.OK.value
    ]
    return f" ({', '.join(rest)})" if rest else ""


def _share(count: float, of: int) -> str:
    return f"{count / of:.3f}".removeprefix("0") if of else "of nothing"


def _chosen(task: str, grading: Grading, tallies: Tallies, *, by_grade: bool) -> Iterator[Notice]:
    """Which of several scores grades, which way round it is read, and which readings it does not grade."""
    if by_grade and grading.inverted:
        yield Notice(task=task, says=f"of {_lower(grading)} less is better", means="an answer is right where it is 0")
    if by_grade and grading.metric and grading.others:
        yield Notice(
            task=task,
            says=f"right is what {grading.metric} says, one of {len(grading.others) + 1} scores that are 0 or 1 "
            f"(the others: {names(grading.others)}); --metric NAME chooses another",
        )
    if by_grade and not grading.metric and grading.lower:
        yield Notice(
            task=task,
            says=f"not judged: of {_lower(grading)} less is better; --metric {_name_of_lower(grading)} judges "
            "it, with 0 as right",
        )
    if not by_grade:
        return
    graded = tallies.readings(grading.readings)
    rest = [reading for reading in tallies.parts if reading not in graded]
    turned = [reading for reading in rest if reading in grading.lower_readings]
    if grading.metric and turned:
        yield Notice(
            task=task,
            says=f"{names(turned)}: not judged, since less is better there; --metric {turned[0]} judges it",
        )
    if grading.metric and (other := [reading for reading in rest if reading not in turned]):
        yield Notice(task=task, says=f"{names(other)}: not judged, since {grading.metric} is not 0 or 1 there")


def _name_of_lower(grading: Grading) -> str:
    """What `--metric` is given for what less is better of: a reading's own name, where that says it."""
    own = [reading for reading in grading.lower_readings if says_lower(reading)]
    return own[0] if own and not says_lower(grading.lower[0]) else grading.lower[0]


def _lower(grading: Grading) -> str:
    """What less is better of: the metric, with the reading where that has a name of its own."""
    own = [reading for reading in grading.lower_readings if reading not in grading.lower]
    which = names(grading.lower if not grading.inverted else (grading.metric,))
    return f"{which} ({names(own)})" if own else which
