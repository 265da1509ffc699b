"""The items of an imported task, as they stand in `items.parquet`: made of the documents that were asked."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import polars as pl
from pydantic_core import to_json

from veridical.interop.imports.answer import Answer
from veridical.interop.imports.columns import list_column
from veridical.items import Item
from veridical.judge.table import NOT_LOGGED
from veridical.runs.stored import SCHEMA as ITEMS


class TaskItems:
    """The items of one task. They are handed over in parts, and what is said of all of them is kept."""

    def __init__(self, suite: str) -> None:
        self.suite = suite
        self.labels: dict[str, None] = {}
        self.golds: Counter[str] = Counter()
        self.fields: dict[str, None] = {}
        self.by_place = True
        """Whether the choices of every item are named by their place, and not by their own texts."""
        self.first: Item | None = None
        self._documents: dict[str, str] = {}
        self._columns: dict[str, list[Any]] = {"id": [], "json": [], "labels": [], "gold": []}

    def item_of(self, answer: Answer, labels: Sequence[str]) -> str:
        """The item's id; the item is kept where it is new. A document with another's content is named by a number."""
        copy = 1
        while True:
            content, gold = _content(answer, labels)
            item = hashlib.sha256(content).hexdigest()[:16]
            if item not in self._documents:
                self._documents[item] = answer.document
                self._keep(item, content, answer, labels, gold)
                return item
            if self._documents[item] == answer.document:
                return item
            copy += 1
            answer.fields["copy"] = str(copy)

    def _keep(self, item: str, content: bytes, answer: Answer, labels: Sequence[str], gold: list[str]) -> None:
        kept = self._columns
        kept["id"].append(item)
        factors = {name: value for name, value in answer.factors.items() if name not in answer.fields}
        rest = b',"human":{},"factors":%b,"name":%b}' % (to_json(factors), to_json(answer.document))
        kept["json"].append((content[:-1] + rest).decode())
        kept["labels"].append(list(labels))
        kept["gold"].append(gold)
        self.fields.update(dict.fromkeys((*answer.fields, *answer.factors)))
        if not labels[0].startswith(NOT_LOGGED):
            self.labels.update(dict.fromkeys(labels))
            self.golds.update(gold)
            self.by_place = self.by_place and bool(answer.choices) and list(labels) != list(answer.choices)
        if self.first is None:
            # One is checked as every item is; the others are made the same way.
            self.first = Item.model_validate_json(kept["json"][0])

    def part(self) -> pl.DataFrame | None:
        """The items since the last part, in the columns of `veridical.runs.stored.SCHEMA`; None where there is none."""
        if not self._columns["id"]:
            return None
        lists = {name: list_column(self._columns[name]) for name in ("labels", "gold")}
        frame = pl.DataFrame({"suite": self.suite, "kind": "item", **self._columns, **lists}, schema=ITEMS)
        self._columns = {name: [] for name in self._columns}
        return frame


def _content(answer: Answer, labels: Sequence[str]) -> tuple[bytes, list[str]]:
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
        gold = [] if answer.gold_unknown else [labels[0]]
    fields = {name: answer.fields[name] for name in sorted(answer.fields)}
    return to_json({"choices": choices, "fields": fields, "gold": gold, "golds": {}}), gold
