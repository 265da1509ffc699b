"""Which of a task's readings (filters, scorers) are of choices and which of grades, and the labels of their items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from veridical.interop.imports.answer import Answer, number
from veridical.interop.imports.grading import names
from veridical.judge.table import NOT_LOGGED
from veridical.runs.imported import CORRECT, INCORRECT
from veridical.status import Status

GRADED_LABELS = (CORRECT, INCORRECT)


@dataclass(frozen=True, slots=True)
class ReadingKinds:
    """The readings whose answers are choices, how many choices most of them have, and the readings with too few."""

    choices: frozenset[str]
    n_choices: int
    few: tuple[str, ...] = ()

    @classmethod
    def of(cls, answers: Sequence[Answer], metric: str | None) -> ReadingKinds:
        """The kinds as the first answers show them; where a `metric` of the harness's judges, all are graded."""
        offered, graded, sizes = Counter[str](), Counter[str](), Counter[int]()
        for answer in answers:
            if answer.choices:
                offered[answer.reading] += 1
                sizes[len(answer.choices)] += 1
            elif answer.status is Status.OK and any(number(value) is not None for value in answer.metrics.values()):
                graded[answer.reading] += 1
        if metric is not None:
            return cls(frozenset(), 0)
        found = frozenset(reading for reading, n in offered.items() if n >= graded[reading])
        few = tuple(reading for reading in offered if reading not in found)
        return cls(found, max(sizes, key=lambda size: sizes[size], default=0), few)

    def remarks(self) -> Iterator[str]:
        """Lines on readings that are judged otherwise than some of their records could be."""
        if self.few:
            yield f"{names(self.few)}: most records have no choices: all are judged by the log's own scores"

    def labels(self, answer: Answer, *, known: bool) -> list[str]:
        """The labels of an answer's item; choices that do not judge are taken from the answer.

        Where a reading is of choices, an item whose choices are not known has as many as the others. `known` is whether
        the reading occurred before.
        """
        if answer.choices and (answer.reading in self.choices or (self.choices and not known)):
            return list(answer.labels)
        if answer.choices:
            answer.choices, answer.labels, answer.choice_contexts, answer.gold, answer.label = (), (), (), (), None
            if self.choices:
                grades = [number(value) for value in answer.metrics.values()]
                answer.label = CORRECT if 1.0 in grades else INCORRECT if 0.0 in grades else None
        if answer.reading not in self.choices:
            return list(GRADED_LABELS)
        labels = unknown_labels(self.n_choices)
        if answer.label is not None:
            answer.label, answer.labels, answer.gold = labels[answer.label != CORRECT], labels, (0,)
        return labels


def unknown_labels(count: int) -> list[str]:
    """Labels of an item of whose choices nothing is known but their number; the first stands for the right one."""
    return [f"{NOT_LOGGED} {place + 1}" for place in range(count)]
