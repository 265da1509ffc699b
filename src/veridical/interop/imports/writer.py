"""The answers to a task, written into a run folder as a stream.

Items, requests and responses go to disk in parts of some thousand answers, so that memory does not grow with the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import count

from veridical.digests import digest
from veridical.interop.imports.answer import Answer, made_fit
from veridical.interop.imports.answer_frames import Row, own_scores, request_frame, response_frame
from veridical.interop.imports.grading import Grading, choose
from veridical.interop.imports.logged import LoggedTask
from veridical.interop.imports.metric_choice import WantedMetric
from veridical.interop.imports.notices import Counts, notices
from veridical.interop.imports.reading_kinds import GRADED_LABELS, ReadingKinds
from veridical.interop.imports.run_writer import PART, RunWriter
from veridical.interop.imports.sentinels import Sentinels
from veridical.interop.imports.tally import Tallies, differing_remarks
from veridical.interop.imports.task_items import TaskItems
from veridical.items import Suite
from veridical.prompts.template import Prompt
from veridical.runs.manifest import SuiteEntry
from veridical.runs.provenance import ANSWERS, LIKELIHOODS, UNKNOWN, HarnessTask, Notice
from veridical.status import Status

ALIKE = 20
"""Items from which a right answer that always stands in one place is taken as the task's way of writing, and choices
named by their place as no answers of the model's. Our choice."""

MOST_WAITING = 40 * PART
"""Answers after which kinds of readings are decided though some show none. Our choice: these are held in memory."""

REPEATED = "a second answer to a document under one filter or scorer"
NO_GOLD = "without a right answer that the log says"
NOT_GRADED = "under a filter or scorer whose scores are not 0 or 1"
NOTHING_GRADES = "of which no score in the log is 0 or 1"
_NOT_KEPT = "what was put to the model is in requests/*.parquet, column contexts"


class TaskWriter:
    """The answers to one task, as one suite of a run."""

    def __init__(
        self,
        run: RunWriter,
        task: LoggedTask,
        harness: str,
        wanted: WantedMetric | None = None,
        missing: Iterable[float] = (),
    ) -> None:
        """`wanted` is the score of the harness's by which answers are judged, in place of their choices; `missing` are
        numbers that stand for a missing score."""
        self.run, self.task, self.suite, self.version = run, task, task.name, task.version or UNKNOWN
        self.title = f"{task.name} ({harness})"
        self.metric = wanted.metric if wanted else None
        self._under = wanted.reading if wanted else ""
        self.tallies, self.repeated = Tallies(), Tallies()
        self._sentinels = Sentinels(missing)
        self.readable = 0
        self.records = 0
        self.absent: set[str] = set()
        self._items = TaskItems(self.suite)
        self._one_context = True
        self._counts: dict[str, Counts] = {}
        self._answered: set[int] = set()
        self._kinds: Counter[str] = Counter()
        self._of: ReadingKinds | None = None
        self._numbers = count(-1, -1)
        self._waiting: list[Answer] = []
        self._rows: list[Row] = []
        self._kept: set[int] = set()
        self._again: list[int] = []

    def add(self, answer: Answer) -> None:
        """Keep an answer; a second one to the same document under the same reading is left out and counted."""
        made_fit(answer)
        self._sentinels.clean(answer)
        if answer.record is None:
            answer.record = next(self._numbers)
        if self._of is not None:
            self._place(answer, self._of)
            return
        self._waiting.append(answer)
        if len(self._waiting) % PART == 0 and (
            ReadingKinds.can_tell(self._waiting) or len(self._waiting) >= MOST_WAITING
        ):
            self._settle()

    @property
    def has_written(self) -> bool:
        """Whether some of the task's answers are in the run's folder already."""
        return self.records > len(self._rows)

    def _settle(self) -> None:
        """Decide from the first answers which readings are of choices and which of grades, and place the answers."""
        self._of = ReadingKinds.of(self._waiting, self.metric)
        self.task.lacks.extend(self._of.remarks())
        waiting, self._waiting = self._waiting, []
        for answer in waiting:
            self._place(answer, self._of)

    def _place(self, answer: Answer, kinds: ReadingKinds) -> None:
        record = answer.record or 0
        labels = kinds.labels(answer)
        item = self._items.item_of(answer, labels)
        key = f"{self.suite}/{item}/{answer.reading}/{answer.repeat}"
        if hash(key) in self._answered:
            self._again.append(record)
            self.repeated.add(answer)
            return
        self._answered.add(hash(key))
        self.records += 1
        if answer.in_log:
            self._kept.add(record)
        else:
            self.absent.add(f"{answer.document}/{answer.repeat}")
        self.readable += answer.status is not Status.ERROR or bool(answer.metrics)
        self.tallies.add(answer)
        self._counts.setdefault(answer.reading, Counts()).add(answer)
        self._one_context = self._one_context and not (answer.choices and len(answer.contexts) > 1)
        self._kinds[_kind(answer)] += 1
        self._rows.append((key, item, answer, labels))
        if len(self._rows) >= PART:
            self._flush()

    def _flush(self) -> None:
        if not self._rows:
            return
        if (items := self._items.part()) is not None:
            self.run.add_items(items)
        self.run.add_answers(
            request_frame(self.suite, self._rows), response_frame(self._rows), own_scores(self.suite, self._rows)
        )
        self._rows = []

    def finish(self) -> tuple[SuiteEntry, HarnessTask] | None:
        """Write what is left; what the manifest records about the task. None where no answer was read.

        To be called once the task's answers are read: only then does it say what it lacks and what was left out. Raises
        UserError where the counts of what was read, judged and left out do not agree.
        """
        if self._of is None:
            self._settle()
        logged = self.task
        logged.ledger.leave(REPEATED, len({record for record in self._again if record not in self._kept}))
        if self._items.first is None or not self.readable:
            return None
        self._flush()
        grading = choose(
            self.tallies.spreads(),
            wanted=self.metric,
            parts=tuple(self.tallies.parts.get(self._under, ())) if self._under else None,
            declared=logged.declared,
            higher_is_better=logged.higher_is_better,
        )
        judged_by, graded = self._judged_by(grading)
        inverted = bool(graded and grading and grading.inverted)
        readings = self.tallies.readings(grading.readings) if graded and grading else ()
        suite = self._suite(judged_by, inverted=inverted)
        self.run.add_head(suite)
        # The log does not say what the whole task is: each item is identified by its own content.
        content = digest(["imported", suite.name])
        entry = SuiteEntry(name=suite.name, version=suite.version, content_hash=content, shots=logged.shots)
        metrics = tuple(self.tallies.metrics(logged.reported, logged.stderr))
        unjudged = self._unjudged(judged_by, readings)
        leading = list(notices(self.tallies, self.repeated, self._counts, metrics, grading, logged, by_grade=graded))
        task = HarnessTask(
            suite=suite.name,
            records=self.records,
            judged_by=judged_by,
            metrics=metrics,
            lacks=(*logged.lacks, *differing_remarks(metrics)),
            skipped=dict(logged.ledger.left_out),
            fields=tuple(self._items.fields),
            readings=readings,
            inverted=inverted,
            label_mass=self._one_context,
            notices=(
                *leading,
                *(Notice(task=suite.name, says=notice) for notice in self._remarks()),
            ),
            read=logged.ledger.read,
            judged=logged.ledger.used - unjudged.total(),
            unjudged=dict(unjudged),
            absent=len(self.absent),
        )
        return entry, task

    def _remarks(self) -> Iterator[str]:
        """What the reader, the readings and the scores give to say before the numbers."""
        yield from self.task.notices
        if self._of is not None:
            yield from self._of.notices()
        yield from self._sentinels.notices()

    def _unjudged(self, judged_by: str, readings: tuple[str, ...]) -> Counter[str]:
        """Records that are kept and not judged, by reason. Every record of the log is accounted for, or this raises."""
        ledger = self.task.ledger
        ledger.use(len(self._kept))
        ledger.check(f"task {self.suite}")
        judging = [own for name, own in self._counts.items() if judged_by and (not readings or name in readings)]
        judged = set[int]().union(*(own.with_gold for own in judging))
        without = set[int]().union(*(own.gold_unknown for own in judging)) - judged
        rest = len(self._kept - judged - without)
        return +Counter({NO_GOLD: len(without), (NOT_GRADED if judged_by else NOTHING_GRADES): rest})

    def _judged_by(self, grading: Grading | None) -> tuple[str, bool]:
        """What says which answers are right, and whether that is a score of the harness's."""
        only_lower = grading is not None and not grading.metric and bool(grading.lower)
        if self.metric is None and not only_lower:
            for kind in (LIKELIHOODS, ANSWERS):
                if self._kinds[kind]:
                    return kind, False
        return grading.metric if grading else "", True

    def _suite(self, judged_by: str, *, inverted: bool) -> Suite:
        items = self._items
        if items.first is None:
            raise ValueError("a suite without items")
        n_gold = sum(items.golds.values())
        in_one_place = items.by_place and len(items.golds) == 1 and n_gold >= ALIKE
        by_score = judged_by not in (LIKELIHOODS, ANSWERS)
        # Where one filter or scorer has choices and another only grades, no constant answer stands for both.
        mixed = (
            not by_score and not {*GRADED_LABELS}.isdisjoint(items.labels) and len(items.labels) > len(GRADED_LABELS)
        )
        details = ", ".join(part for part in (self._under, "0 is right" if inverted else "") if part)
        way = f" ({details})" if details else ""
        return Suite(
            name=self.suite,
            version=self.version,
            title=f"{self.title}, right by {judged_by}{way}" if by_score and judged_by else self.title,
            labels=tuple(items.labels),
            measures="graded" if by_score or in_one_place or mixed else "accuracy",
            prompts=tuple(Prompt(name=reading, user=_NOT_KEPT, plain=True) for reading in self._counts),
            items=(items.first,),
        )


def _kind(answer: Answer) -> str:
    if not answer.choices:
        return ""
    return LIKELIHOODS if answer.scores else ANSWERS if answer.label is not None else ""
