"""Where an imported run came from, as its manifest has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from pydantic import Field

from veridical.files.ledger import reasons
from veridical.items import Frozen

LIKELIHOODS, ANSWERS = "log-likelihoods", "answers"
"""What says which answers are right, where it is not a metric of the harness's."""

MOST_NAMED = 12
"""Tasks that a notice of several names one by one."""

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
    """Something in the logs that is not in the run, and why: a file, a task, a whole evaluation, or `n` records.

    `records` counts by reason those of the log's records among it that no task counts.
    """

    what: str
    reason: str
    n: int = 1
    records: Mapping[str, int] = Field(default_factory=dict)


class Notice(Frozen):
    """What must be read before the numbers of a task: what is so in `task`, and what that `means`.

    Notices of several tasks that mean one thing are one line.
    """

    task: str
    says: str
    means: str = ""

    def __str__(self) -> str:
        return ": ".join(part for part in (self.task, self.says, self.means) if part)


class HarnessTask(Frozen):
    """A task of the harness's that became a suite.

    `judged_by` is what says which answers are right: `log-likelihoods`, `answers`, or the name of a metric of the
    harness's that is 0 or 1; empty where nothing does. With such a metric `readings` are the ways of reading that it
    grades (all where empty), and `inverted` says that 0 is right. `lacks` says what the log does not hold, and `fields`
    are what item sets can be made of. `label_mass` says whether the choices were scored in one context, so that their
    probabilities can be added. `notices` must be read before the numbers: where what is judged differs from what the
    harness reported.

    `records` counts the answers that are kept. Of `read` records of the log `judged` are judged; `unjudged` counts by
    reason those that are kept and not judged, and `skipped` those that are left out. `absent` were asked and are not in
    the log: they are judged as not answered. `read` is None in runs that were imported before these were counted.
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
    notices: tuple[Notice | str, ...] = ()
    read: int | None = None
    judged: int = 0
    unjudged: Mapping[str, int] = Field(default_factory=dict)
    absent: int = 0

    @property
    def account(self) -> str:
        """What became of the records: `24 records in the log = 18 judged + 6 left out (6 no JSON object)`."""
        if self.read is None:
            return ""
        records = "1 record" if self.read == 1 else f"{self.read:,} records"
        counted = f"{records} in the log"
        if self.read == self.judged:
            counted += ", all judged"
        else:
            counted += f" = {self.judged:,} judged"
        if kept := sum(self.unjudged.values()):
            counted += f" + {kept:,} kept and not judged ({reasons(self.unjudged)})"
        if lost := sum(self.skipped.values()):
            counted += f" + {lost:,} left out ({reasons(self.skipped)})"
        if self.absent:
            counted += f"; {self.absent:,} more asked and not in the log, which count as not answered"
        return counted


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
            *_merged([notice for task in self.tasks for notice in task.notices]),
            *(f"{one.what} {'is' if one.n == 1 else 'are'} left out: {one.reason}" for one in self.left_out),
        )

    @property
    def account(self) -> str:
        """What became of the records of all tasks; empty for runs that were imported before these were counted."""
        counted = [task for task in self.tasks if task.read is not None]
        if not counted:
            return ""
        skipped: Counter[str] = Counter()
        unjudged: Counter[str] = Counter()
        for task in counted:
            skipped.update(task.skipped)
            unjudged.update(task.unjudged)
        elsewhere: Counter[str] = Counter()
        for one in self.left_out:
            elsewhere.update(one.records)
        skipped.update(elsewhere)
        return HarnessTask(
            suite="",
            records=0,
            judged_by="",
            skipped=skipped,
            unjudged=unjudged,
            read=sum(task.read or 0 for task in counted) + elsewhere.total(),
            judged=sum(task.judged for task in counted),
            absent=sum(task.absent for task in counted),
        ).account


def _merged(notices: Sequence[Notice | str]) -> Iterator[str]:
    """Notices as lines, those of several tasks that mean one thing as one."""
    kinds: dict[str, list[Notice | str]] = {}
    for place, notice in enumerate(notices):
        meaning = notice.means if isinstance(notice, Notice) else ""
        kinds.setdefault(meaning or f"\0{place}", []).append(notice)
    for meaning, own in kinds.items():
        if len(own) == 1:
            yield str(own[0])
            continue
        said = [f"{notice.task}: {notice.says}" for notice in own if isinstance(notice, Notice)]
        more = f"; and {len(said) - MOST_NAMED} more" if len(said) > MOST_NAMED else ""
        yield f"{meaning} ({len(said)} times): {'; '.join(said[:MOST_NAMED])}{more}"
