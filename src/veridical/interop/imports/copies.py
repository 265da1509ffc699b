"""Logs that are exact copies of one another, and records that are."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from veridical.interop.imports.logged import LoggedModel
from veridical.runs.provenance import LeftOut


def without_copies(models: Sequence[LoggedModel]) -> list[LoggedModel]:
    """The evaluations without those that repeat another of the same model; the one that is kept says which."""
    kept: list[LoggedModel] = []
    for model in models:
        first = next((other for other in kept if _is_copy(model, other)), None)
        if first is None:
            kept.append(model)
        else:
            first.left_out.append(LeftOut(what=model.where, reason=f"it repeats {first.where}"))
    return kept


def _is_copy(one: LoggedModel, other: LoggedModel) -> bool:
    alike = one.size == other.size > 0 and (one.harness, one.name) == (other.harness, other.name)
    names = [task.name for task in one.tasks] == [task.name for task in other.tasks]
    return alike and names and one.content() == other.content()


def whole_record(record: object) -> str:
    """All that a record says, whatever the order of its keys."""
    return json.dumps(record, sort_keys=True)


@dataclass
class Repeats:
    """Which time a question is answered, in logs that do not number their epochs.

    A record that stands in the log twice, letter for letter, is one answer and no second epoch. Where every question is
    answered equally often and some answers differ, equal answers are epochs too: a model may well repeat itself.
    All records are expected before the first is numbered.
    """

    _expected: Counter[str] = field(default_factory=Counter)
    _contents: set[int] = field(default_factory=set)
    _numbers: dict[int, int] = field(default_factory=dict)
    _seen: Counter[str] = field(default_factory=Counter)

    def expect(self, question: str, record: str) -> None:
        """Count a record: what it asks, and all that it says."""
        self._expected[question] += 1
        self._contents.add(hash((question, record)))

    def number(self, question: str, record: str) -> int:
        """Which answer to its question the record is, from 0: a copy has the number of what it repeats."""
        content = hash((question, record))
        if content in self._numbers and not self._sampled:
            return self._numbers[content]
        place = self._seen[question]
        self._seen[question] += 1
        self._numbers[content] = place
        return place

    @cached_property
    def _sampled(self) -> bool:
        """Whether the log is of epochs."""
        return len(set(self._expected.values())) == 1 and len(self._contents) > len(self._expected)
