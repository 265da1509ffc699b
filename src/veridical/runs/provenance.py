"""Where an imported run came from, as its manifest has it."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field

from veridical.items import Frozen

LIKELIHOODS, ANSWERS = "log-likelihoods", "answers"
"""What says which answers are right, where it is not a metric of the harness's."""

UNKNOWN = "unknown"
"""The version of a task whose log does not say it."""


class SourceFile(Frozen):
    """A file that was read: its name, size in bytes and SHA-256."""

    name: str
    bytes: int
    sha256: str


class Metric(Frozen):
    """One metric of a task, under one way of reading the answers (a filter, a scorer).

    `reported` is the number in the harness's results; `own` the mean of the scores that the log gives to single
    answers; `recomputed` the same number from what the log says of each answer, by the harness's own rule, over
    `n` answers, `differing` of which come out otherwise than the log has them. `reason` says why a number is not
    recomputed. `stderr` is the harness's own standard error of `reported`, `own_stderr` that of `own`: the standard
    deviation of the documents' scores (each the mean of its repeats) over the root of their number.
    """

    metric: str
    reading: str
    reported: float | None = None
    own: float | None = None
    recomputed: float | None = None
    n: int = 0
    differing: int = 0
    reason: str = ""
    stderr: float | None = None
    own_stderr: float | None = None


class LeftOut(Frozen):
    """Something in the logs that is not in the run, and why: a file, a task, a whole evaluation, or `n` records."""

    what: str
    reason: str
    n: int = 1


class HarnessTask(Frozen):
    """A task of the harness's that became a suite.

    `judged_by` is what says which answers are right: `log-likelihoods`, `answers`, or the name of a metric of the
    harness's that is 0 or 1; empty where nothing does. With such a metric `readings` are the ways of reading that it
    grades (all where empty), and `inverted` says that 0 is right. `lacks` says what the log does not hold, `skipped`
    counts what was left out, and `fields` are what item sets can be made of. `label_mass` says whether the choices
    were scored in one context, so that their probabilities can be added. `notices` must be read before the numbers:
    where what is judged differs from what the harness reported.
    """

    suite: str
    records: int
    judged_by: str
    metrics: tuple[Metric, ...] = ()
    lacks: tuple[str, ...] = ()
    skipped: Mapping[str, int] = Field(default_factory=dict)
    fields: tuple[str, ...] = ()
    readings: tuple[str, ...] = ()
    inverted: bool = False
    label_mass: bool = True
    notices: tuple[str, ...] = ()


class Imported(Frozen):
    """Where an imported run came from."""

    harness: str
    version: str = ""
    date: str = ""
    files: tuple[SourceFile, ...] = ()
    tasks: tuple[HarnessTask, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def notices(self) -> tuple[str, ...]:
        """What must be read before the numbers of any task."""
        return (
            *(notice for task in self.tasks for notice in task.notices),
            *(f"{one.what} {'is' if one.n == 1 else 'are'} left out: {one.reason}" for one in self.left_out),
        )
