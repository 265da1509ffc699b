"""What went into every filter and what came out of it: counted, stored with the variants and reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

Thing = TypeVar("Thing")

EXAMPLES = 3
"""How many of what a stage drops are kept to be shown."""


@dataclass(slots=True)
class Stage:
    """A filter with its counts. `unit` is what it counts; `examples` are the first things that it dropped."""

    name: str
    unit: str
    entered: int = 0
    left: int = 0
    examples: list[str] = field(default_factory=list)

    @property
    def dropped(self) -> int:
        """How many did not pass."""
        return self.entered - self.left

    @property
    def leaves_nothing(self) -> bool:
        """Whether something entered and nothing passed."""
        return self.entered > 0 and self.left == 0

    def record(self) -> dict[str, object]:
        """The stage as it is stored in the stages file (`FILE.stages.json`)."""
        return {
            "stage": self.name,
            "unit": self.unit,
            "in": self.entered,
            "out": self.left,
            "dropped_examples": self.examples,
        }


class Stages:
    """Stages in the order in which they are first counted. A stage that nothing reached is counted with 0."""

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}

    def __iter__(self) -> Iterator[Stage]:
        return iter(self._stages.values())

    def __getitem__(self, name: str) -> Stage:
        return self._stages[name]

    def stage(self, name: str, unit: str) -> Stage:
        """The stage of this name, made with counts of 0 where there is none yet."""
        return self._stages.setdefault(name, Stage(name, unit))

    def sift(
        self,
        name: str,
        unit: str,
        things: Iterable[Thing],
        keep: Callable[[Thing], bool],
        show: Callable[[Thing], str] = str,
    ) -> list[Thing]:
        """Those that pass, in their order; all are counted."""
        stage = self.stage(name, unit)
        kept: list[Thing] = []
        for thing in things:
            stage.entered += 1
            if keep(thing):
                stage.left += 1
                kept.append(thing)
            elif len(stage.examples) < EXAMPLES:
                stage.examples.append(show(thing))
        return kept

    def passes(self, name: str, unit: str, holds: bool, show: str) -> bool:
        """Count one thing, and say whether it passes."""
        return bool(self.sift(name, unit, [show], lambda _: holds))

    def warnings(self) -> list[str]:
        """A sentence for every stage at which nothing was left."""
        return [
            f"nothing left at the stage {stage.name!r}: 0 of {stage.entered:,} {stage.unit}"
            + (f"; dropped, for example: {'; '.join(stage.examples)}" if stage.examples else "")
            for stage in self
            if stage.leaves_nothing
        ]
