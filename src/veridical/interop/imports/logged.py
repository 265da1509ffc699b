"""What every format's reader gives: models that were evaluated, and their tasks with the answers in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from veridical.files.ledger import Ledger
from veridical.interop.imports.answer import Answer
from veridical.runs.provenance import LeftOut, SourceFile

NO_MODEL = "no name of the model: --model NAME gives it one"

Reported = tuple[str, str, float]
"""Metric, reading and value, as the harness gave them."""


@dataclass
class LoggedTask:
    """One task of one evaluation.

    `answers` reads the log once, as a stream; then alone `lacks` (what it does not hold or was assumed), `notices`
    (what must be read before its numbers), `ledger` (what was read, and what of it left out) and `sources` are
    complete. `total` is about how many answers there are. `declared` are the metrics that the log names,
    `higher_is_better` says of a metric or of a reading which way is better, and `aggregated` how the harness makes its
    number of the single scores, where the log says it. `stderr` is its standard error by metric and reading.
    """

    name: str
    answers: Callable[[], Iterator[Answer]]
    version: str = ""
    shots: int = 0
    reported: list[Reported] = field(default_factory=list)
    lacks: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    sources: Callable[[], list[SourceFile]] = list
    total: int = 0
    declared: set[str] = field(default_factory=set)
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    aggregated: dict[str, str] = field(default_factory=dict)
    stderr: dict[tuple[str, str], float] = field(default_factory=dict)


@dataclass
class LoggedModel:
    """A model as one harness evaluated it. `settings` distinguishes its answers from those of others of that name."""

    harness: str
    name: str
    version: str
    tasks: list[LoggedTask]
    settings: Mapping[str, str] = field(default_factory=dict)
    where: str = ""
    """What to call the evaluation in a message: a file or a folder."""
    date: str = ""
    left_out: list[LeftOut] = field(default_factory=list)
    size: int = 0
    content: Callable[[], str] = str
    """Logs of one size and one content are copies of each other; of those of size 0 it is not known."""
