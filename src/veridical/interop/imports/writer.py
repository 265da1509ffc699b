"""The answers to a task, written into a run folder as a stream.

Items, requests and responses go to disk in parts of some thousand answers, so that memory does not grow with the log.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
from pydantic_core import to_json

from veridical.interop.imports.answer import Answer, as_text, number
from veridical.interop.imports.columns import list_column, score_column
from veridical.interop.imports.grading import Grading, choose
from veridical.interop.imports.logged import LoggedTask
from veridical.interop.imports.notices import Counts, notices
from veridical.interop.imports.run_writer import PART, RunWriter
from veridical.interop.imports.tally import Tallies, differing_remarks
from veridical.items import FULL, Item, Mode, Suite, digest
from veridical.prompts.template import Prompt
from veridical.runs.imported import CORRECT, IMPORTED_REQUESTS, IMPORTED_RESPONSES, INCORRECT, SCORES
from veridical.runs.manifest import SuiteEntry
from veridical.runs.provenance import ANSWERS, LIKELIHOODS, UNKNOWN, HarnessTask
from veridical.runs.stored import SCHEMA as ITEMS
from veridical.status import Status

ALIKE = 20
"""Items from which a right answer that always stands in one place is taken as the task's way of writing, and choices
named by their place as no answers of the model's. Our choice."""

REPEATED = "a second answer to a document under one filter or scorer"
GRADED_LABELS = (CORRECT, INCORRECT)
_NOT_KEPT = "what was put to the model is in requests/*.parquet, column contexts"


class TaskWriter:
    """The answers to one task, as one suite of a run."""

    def __init__(self, run: RunWriter, task: LoggedTask, harness: str, metric: str | None = None) -> None:
        """`metric` is the score of the harness's by which answers are judged, in place of their choices."""
        self.run, self.task, self.suite, self.version = run, task, task.name, task.version or UNKNOWN
        self.title, self.metric = f"{task.name} ({harness})", metric
        self.tallies = Tallies()
        self.readable = 0
        self._one_context = True
        self._counts: dict[str, Counts] = {}
        self.skipped: Counter[str] = Counter()
        self.records = 0
        self._documents: dict[str, str] = {}
        self._answered: set[int] = set()
        self._labels: dict[str, None] = {}
        self._readings: dict[str, None] = {}
        self._golds: Counter[str] = Counter()
        self._fields: dict[str, None] = {}
        self._kinds: Counter[str] = Counter()
        self._by_place = True
        self._first: Item | None = None
        self._items: dict[str, list[Any]] = {"id": [], "json": [], "labels": [], "gold": []}
        self._rows: list[tuple[str, str, Answer, list[str]]] = []

    def add(self, answer: Answer) -> None:
        """Keep an answer; a second one to the same document under the same reading is left out and counted."""
        if self.metric is not None and answer.choices:
            answer.choices, answer.labels, answer.choice_contexts, answer.gold, answer.label = (), (), (), (), None
        labels = list(answer.labels) if answer.choices else list(GRADED_LABELS)
        item = self._item(answer, labels)
        key = f"{self.suite}/{item}/{answer.reading}/{answer.repeat}"
        if hash(key) in self._answered:
            self.skipped[REPEATED] += 1
            return
        self._answered.add(hash(key))
        self._readings[answer.reading] = None
        self.records += 1
        self.readable += answer.status is not Status.ERROR or bool(answer.metrics)
        self.tallies.add(answer)
        self._counts.setdefault(answer.reading, Counts()).add(answer)
        self._one_context = self._one_context and not (answer.choices and len(answer.contexts) > 1)
        self._kinds[_kind(answer)] += 1
        self._rows.append((key, item, answer, labels))
        if len(self._rows) >= PART:
            self._flush()

    def _item(self, answer: Answer, labels: list[str]) -> str:
        """The item's id; the item is kept where it is new. A document with another's content is named by a number."""
        copy = 1
        while True:
            content, gold = _content(answer, labels)
            item = hashlib.sha256(content).hexdigest()[:16]
            known = self._documents.setdefault(item, answer.document)
            if known == answer.document:
                break
            copy += 1
            answer.fields["copy"] = str(copy)
        if len(self._documents) > len(self._items["id"]) + self._written:
            self._keep(item, content, answer, labels, gold)
        return item

    _written = 0

    def _keep(self, item: str, content: bytes, answer: Answer, labels: list[str], gold: list[str]) -> None:
        kept = self._items
        kept["id"].append(item)
        factors = {name: value for name, value in answer.factors.items() if name not in answer.fields}
        rest = b',"human":{},"factors":%b,"name":%b}' % (to_json(factors), to_json(answer.document))
        kept["json"].append((content[:-1] + rest).decode())
        kept["labels"].append(labels)
        kept["gold"].append(gold)
        self._labels.update(dict.fromkeys(labels))
        self._golds.update(gold)
        self._fields.update(dict.fromkeys((*answer.fields, *answer.factors)))
        self._by_place = self._by_place and bool(answer.choices) and list(labels) != list(answer.choices)
        if self._first is None:
            # One is checked as every item is; the others are made the same way.
            self._first = Item.model_validate_json(kept["json"][0])

    def _flush(self) -> None:
        if not self._rows:
            return
        n = len(self._items["id"])
        if n:
            lists = {name: list_column(self._items[name]) for name in ("labels", "gold")}
            frame = pl.DataFrame({"suite": self.suite, "kind": "item", **self._items, **lists}, schema=ITEMS)
            self.run.add_items(frame)
            self._written += n
            self._items = {name: [] for name in self._items}
        self.run.add_answers(self._requests(), self._responses(), self._own_scores())
        self._rows = []

    def _requests(self) -> pl.DataFrame:
        rows = self._rows
        return pl.DataFrame(
            {
                "key": [key for key, *_ in rows],
                "suite": self.suite,
                "item": [item for _, item, *_ in rows],
                "input": FULL,
                "prompt": [answer.reading for _, _, answer, _ in rows],
                "order": 0,
                "mode": [_mode(answer) for _, _, answer, _ in rows],
                "repeat": [answer.repeat for _, _, answer, _ in rows],
                "labels": list_column([labels for *_, labels in rows]),
                "notes": list_column([[]] * len(rows)),
                "joined": False,
                "sequences": None,
                "unconditional": None,
                "max_new_tokens": None,
                "messages": None,
                "continuations": None,
                "contexts": list_column([answer.contexts for _, _, answer, _ in rows]),
            },
            schema=IMPORTED_REQUESTS,
        )

    def _responses(self) -> pl.DataFrame:
        answers = [answer for _, _, answer, _ in self._rows]
        frame = pl.DataFrame(
            {
                "key": [key for key, *_ in self._rows],
                "status": [answer.status.value for answer in answers],
                "text": [answer.text for answer in answers],
                "n_tokens": None,
                "finish": "stop",
                "detail": [answer.detail for answer in answers],
                "label": [answer.label for answer in answers],
            },
            schema={name: kind for name, kind in IMPORTED_RESPONSES.items() if name != "scores"},
        )
        return frame.with_columns(scores=score_column(answers)).select(list(IMPORTED_RESPONSES))

    def _own_scores(self) -> pl.DataFrame:
        held = [(item, answer) for _, item, answer, _ in self._rows for _ in answer.metrics]
        values = [_score(value) for _, _, answer, _ in self._rows for value in answer.metrics.values()]
        return pl.DataFrame(
            {
                "suite": self.suite,
                "item": [item for item, _ in held],
                "prompt": [answer.reading for _, answer in held],
                "repeat": [answer.repeat for _, answer in held],
                "metric": [metric for _, _, answer, _ in self._rows for metric in answer.metrics],
                "value": [value for value, _ in values],
                "json": [text for _, text in values],
            },
            schema=SCORES,
        )

    def finish(self) -> tuple[SuiteEntry, HarnessTask] | None:
        """Write what is left; what the manifest records about the task. None where no answer was read.

        To be called once the task's answers are read: only then does it say what it lacks and what was left out.
        """
        if self._first is None or not self.readable:
            return None
        self._flush()
        logged = self.task
        grading = choose(
            self.tallies.spreads(),
            wanted=self.metric,
            declared=logged.declared,
            higher_is_better=logged.higher_is_better,
        )
        judged_by, graded = self._judged_by(grading)
        inverted = bool(graded and grading and grading.inverted)
        suite = self._suite(judged_by, inverted=inverted)
        self.run.add_head(suite)
        # The log does not say what the whole task is: each item is identified by its own content.
        content = digest(["imported", suite.name])
        entry = SuiteEntry(name=suite.name, version=suite.version, content_hash=content, shots=logged.shots)
        metrics = tuple(self.tallies.metrics(logged.reported, logged.stderr))
        leading = notices(suite.name, self.tallies, self._counts, metrics, grading, logged.aggregated, by_grade=graded)
        task = HarnessTask(
            suite=suite.name,
            records=self.records,
            judged_by=judged_by,
            metrics=metrics,
            lacks=(*logged.lacks, *differing_remarks(metrics)),
            skipped=dict(logged.skipped),
            fields=tuple(self._fields),
            readings=self.tallies.readings(grading.readings) if graded and grading else (),
            inverted=inverted,
            label_mass=self._one_context,
            notices=(*leading, *(f"{suite.name}: {notice}" for notice in logged.notices)),
        )
        return entry, task

    def _judged_by(self, grading: Grading | None) -> tuple[str, bool]:
        """What says which answers are right, and whether that is a score of the harness's."""
        only_lower = grading is not None and not grading.metric and bool(grading.lower)
        if self.metric is None and not only_lower:
            for kind in (LIKELIHOODS, ANSWERS):
                if self._kinds[kind]:
                    return kind, False
        return grading.metric if grading else "", True

    def _suite(self, judged_by: str, *, inverted: bool) -> Suite:
        if self._first is None:
            raise ValueError("a suite without items")
        n_gold = sum(self._golds.values())
        in_one_place = self._by_place and len(self._golds) == 1 and n_gold >= ALIKE
        by_score = judged_by not in (LIKELIHOODS, ANSWERS)
        way = " (0 is right)" if inverted else ""
        return Suite(
            name=self.suite,
            version=self.version,
            title=f"{self.title}, right by {judged_by}{way}" if by_score and judged_by else self.title,
            labels=tuple(self._labels),
            measures="graded" if by_score or in_one_place else "accuracy",
            prompts=tuple(Prompt(name=reading, user=_NOT_KEPT, plain=True) for reading in self._readings),
            items=(self._first,),
        )


def _mode(answer: Answer) -> Mode:
    return "loglikelihood" if answer.text is None else "generate"


def _kind(answer: Answer) -> str:
    if not answer.choices:
        return ""
    return LIKELIHOODS if answer.scores else ANSWERS if answer.label is not None else ""


def _content(answer: Answer, labels: list[str]) -> tuple[bytes, list[str]]:
    """What an item's id is made of, as `veridical.items.Item.id` makes it (canonical JSON); the gold labels."""
    choices: list[dict[str, str | None]]
    if answer.choices:
        contexts: Sequence[str | None] = answer.choice_contexts or [None] * len(labels)
        choices = [
            {"context": context, "continuation": text, "label": label}
            for label, text, context in zip(labels, answer.choices, contexts, strict=True)
        ]
        gold = [labels[place] for place in answer.gold]
    else:
        choices = [{"context": None, "continuation": label, "label": label} for label in labels]
        gold = [CORRECT]
    fields = {name: answer.fields[name] for name in sorted(answer.fields)}
    return to_json({"choices": choices, "fields": fields, "gold": gold, "golds": {}}), gold


def _score(value: object) -> tuple[float | None, str | None]:
    found = number(value)
    if found is None or found != found or found in (float("inf"), float("-inf")):
        return None, as_text(value)
    return found, None
