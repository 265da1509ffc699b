"""Which of a task's readings (filters, scorers) are of choices and which of grades, and the labels of their items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from veridical.interop.imports.answer import Answer, number
from veridical.interop.imports.grading import names
from veridical.judge.table import NOT_LOGGED
from veridical.runs.imported import CORRECT, INCORRECT
from veridical.status import Status

GRADED_LABELS = (CORRECT, INCORRECT)


@dataclass
class ReadingKinds:
    """The readings whose answers are choices, how many choices most of them have, and the readings with too few.

    A reading that occurs later than the answers from which the others were decided is of the kind of its first answer.
    """

    choices: set[str]
    n_choices: int
    few: tuple[str, ...] = ()
    graded: set[str] = field(default_factory=set)
    by_metric: bool = False
    """Whether a metric that was asked for judges all answers, whatever choices they have."""
    not_used: Counter[str] = field(default_factory=Counter)
    """Answers whose choices do not judge, by reading: no other reason than that those before them had none."""
    by_grade_alone: Counter[str] = field(default_factory=Counter)
    """Answers without choices under readings of choices that are judged by the log's own grade."""

    @classmethod
    def of(cls, answers: Sequence[Answer], metric: str | None) -> ReadingKinds:
        """The kinds as the first answers show them; where a `metric` of the harness's judges, all are graded."""
        offered, graded, sizes = Counter[str](), Counter[str](), Counter[int]()
        for answer in answers:
            if answer.choices:
                offered[answer.reading] += 1
                sizes[len(answer.choices)] += 1
            elif is_graded(answer):
                graded[answer.reading] += 1
        readings = {answer.reading for answer in answers}
        if metric is not None:
            return cls(set(), 0, graded=readings, by_metric=True)
        found = {reading for reading, n in offered.items() if n >= graded[reading]}
        few = tuple(reading for reading in offered if reading not in found)
        return cls(found, max(sizes, key=lambda size: sizes[size], default=0), few, readings - found)

    @staticmethod
    def can_tell(answers: Sequence[Answer]) -> bool:
        """Whether the answers show the kind of every reading: answers that failed show none."""
        shown = {answer.reading for answer in answers if answer.choices or is_graded(answer)}
        return all(answer.reading in shown for answer in answers)

    def remarks(self) -> Iterator[str]:
        """Lines on readings that are judged otherwise than some of their records could be."""
        if self.few:
            yield f"{names(self.few)}: most records have no choices: all are judged by the log's own scores"

    def notices(self) -> Iterator[str]:
        """Lines on answers that are judged otherwise than most of their reading; complete once all are read."""
        for reading, n in self.not_used.items():
            if reading not in self.few:
                yield (
                    f"{n:,} answers ({reading}) have choices that do not judge, since the answers before them have "
                    "none: all are judged by the log's own scores"
                )
        for reading, n in self.by_grade_alone.items():
            yield (
                f"{n:,} answers ({reading}) have no choices in the log, or none that it calls right, and are judged by "
                "its own grade; the others by their choices"
            )

    def labels(self, answer: Answer) -> list[str]:
        """The labels of an answer's item; choices that do not judge are taken from the answer.

        Where a reading is of choices, an item whose choices are not known has as many as the others.
        """
        reading = answer.reading
        if reading not in self.choices and reading not in self.graded:
            of_choices = not self.by_metric and bool(answer.choices or (self.choices and not is_graded(answer)))
            (self.choices if of_choices else self.graded).add(reading)
            if of_choices and not self.n_choices:
                self.n_choices = len(answer.choices)
        if answer.choices and reading in self.choices:
            return list(answer.labels)
        if answer.choices:
            self.not_used[reading] += not self.by_metric
            answer.choices, answer.labels, answer.choice_contexts, answer.gold, answer.label = (), (), (), (), None
            if not self.by_metric:
                grades = [number(value) for value in answer.metrics.values()]
                answer.label = CORRECT if 1.0 in grades else INCORRECT if 0.0 in grades else None
        if reading not in self.choices:
            return list(GRADED_LABELS)
        labels = unknown_labels(max(self.n_choices, 2))
        if answer.label is not None and not answer.gold_unknown:
            self.by_grade_alone[reading] += 1
            answer.label, answer.labels, answer.gold = labels[answer.label != CORRECT], labels, (0,)
        return labels


def is_graded(answer: Answer) -> bool:
    """Whether the harness graded an answer that is ok."""
    return answer.status is Status.OK and any(number(value) is not None for value in answer.metrics.values())


def unknown_labels(count: int) -> list[str]:
    """Labels of an item of whose choices nothing is known but their number; the first stands for the right one."""
    return [f"{NOT_LOGGED} {place + 1}" for place in range(count)]
