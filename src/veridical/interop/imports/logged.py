"""What every format's reader gives: models that were evaluated, and their tasks with the answers in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from veridical.interop.imports.answer import Answer
from veridical.runs.provenance import SourceFile

Reported = tuple[str, str, float]
"""Metric, reading and value, as the harness gave them."""


@dataclass
class LoggedTask:
    """One task of one evaluation.

    `answers` reads the log once, as a stream; only then `lacks` (what it does not hold, and what was assumed),
    `skipped` (counts of what was left out) and `sources` are complete. `total` is about how many answers there are.
    """

    name: str
    answers: Callable[[], Iterator[Answer]]
    version: str = ""
    shots: int = 0
    reported: list[Reported] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    sources: Callable[[], list[SourceFile]] = list
    total: int = 0


@dataclass
class LoggedModel:
    """A model as one harness evaluated it. `settings` is what tells its answers from another's of that name."""

    harness: str
    name: str
    version: str
    tasks: list[LoggedTask]
    settings: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    """What to call the evaluation in a message: a file or a folder."""
