"""The items of a large run, read by column: an item is made when it is asked for, and not kept.

Judging needs ids, labels and gold of every item and nothing else of most; a hundred thousand items as objects would
take it seconds and half a gigabyte.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import polars as pl
from pydantic import ConfigDict, model_validator
from pydantic_core import from_json

from veridical.digests import digest
from veridical.errors import unknown
from veridical.items import Grouping, Item, ItemColumns, Member, Places, Suite
from veridical.unicode_text import composed

SCHEMA = pl.Schema(
    {
        "suite": pl.String(),
        "kind": pl.String(),
        "id": pl.String(),
        "json": pl.String(),
        "labels": pl.List(pl.String()),
        "gold": pl.List(pl.String()),
    }
)
"""The columns of such an `items.parquet`: those of `veridical.runs.store.ITEMS`, and what judging reads."""


@dataclass(frozen=True, eq=False)
class StoredItems(Sequence[Item]):
    """Items of one suite in a file, in its order. `rows` are their places among the suite's items in the file."""

    path: Path
    suite: str
    columns: ItemColumns
    rows: tuple[int, ...] | None = None

    def __len__(self) -> int:
        return len(self.columns.ids)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            return tuple(Item.model_validate_json(text) for text in self._json[index])
        return Item.model_validate_json(self._json[index])

    def __iter__(self) -> Iterator[Item]:
        return map(Item.model_validate_json, self._json)

    def narrowed(self, kept: Collection[str]) -> StoredItems:
        """Those of these ids, in their order."""
        places = [place for place, item in enumerate(self.columns.ids) if item in kept]
        ids, labels, gold = self.columns
        columns = ItemColumns([ids[p] for p in places], [labels[p] for p in places], [gold[p] for p in places])
        rows = places if self.rows is None else [self.rows[place] for place in places]
        return StoredItems(self.path, self.suite, columns, tuple(rows))

    def values(self, field: str) -> list[str]:
        """A field or factor of every item as text, empty where it has none."""
        return [_value(from_json(text), field) for text in self._json]

    def names(self) -> set[str]:
        """The fields and factors that any item has."""
        found: set[str] = set()
        for text in self._json:
            item = from_json(text)
            found.update(item["fields"], item["factors"])
        return found

    @cached_property
    def _json(self) -> pl.Series:
        stored = pl.scan_parquet(self.path, glob=False).filter(kind="item", suite=self.suite).select("json")
        if self.rows is not None:
            stored = stored.with_row_index("row").filter(pl.col("row").is_in(list(self.rows))).select("json")
        return stored.collect(engine="streaming")["json"]


def _value(item: Mapping[str, Any], field: str) -> str:
    return str(item["factors"].get(field, item["fields"].get(field, "")))


class StoredSuite(Suite):
    """A suite whose items are in a file."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    items: StoredItems  # type: ignore[assignment]
    set_field: str = ""
    """The field of the items that makes the sets; every item is one where it is empty."""
    set_of: tuple[str, ...] = ()
    """That field of every item, empty where it has none."""

    @model_validator(mode="after")
    def _parts_agree(self) -> StoredSuite:
        # Checked when they were written.
        return self

    @property
    def columns(self) -> ItemColumns:
        """Ids, labels and gold labels of the items, without building the items."""
        return self.items.columns

    @cached_property
    def content_hash(self) -> str:
        """Sixteen hexadecimal digits over what is asked; the items enter by their ids, which are of their content."""
        head = self.model_dump(mode="json", exclude={"items", "set_field", "set_of", "title", "licence", "citation"})
        return digest([head, sorted(self.columns.ids)])

    def narrowed(self, kept: Collection[str]) -> StoredSuite:
        """The suite with these items alone."""
        if len(kept) >= len(self.items) and set(self.columns.ids) <= set(kept):
            return self
        held = zip(self.set_of, self.columns.ids, strict=True) if self.set_field else ()
        set_of = tuple(name for name, item in held if item in kept)
        return self._with(items=self.items.narrowed(kept), set_of=set_of)

    def by_field(self, field: str) -> StoredSuite:
        """The suite with a set for every value of a field of its items. Raises UserError where none has it."""
        values = [composed(value) if value else value for value in self.items.values(field)]
        if not any(values):
            raise unknown(f"field to make sets of in suite {self.name}", field, self.items.names())
        return self._with(set_field=field, set_of=tuple(values))

    def _with(self, **parts: object) -> StoredSuite:
        # Built anew, not copied: a copy would carry what is cached along.
        return StoredSuite(**{**{name: getattr(self, name) for name in StoredSuite.model_fields}, **parts})

    @property
    def places(self) -> Places:
        """Sets, items, roles and clusters of the only grouping, as columns."""
        items = self.columns.ids
        if not self.set_field:
            return Places(items, items, [""] * len(items), [""] * len(items))
        held = [(name, item) for name, item in zip(self.set_of, items, strict=True) if name]
        return Places([name for name, _ in held], [item for _, item in held], *([""] * len(held) for _ in range(2)))

    def grouping(self, name: str | None = None) -> Grouping:
        """The only grouping. Raises KeyError for the name of another."""
        if name not in (None, self.set_field or "item"):
            raise KeyError(name)
        places = self.places
        members = (Member(set=one, item=item) for one, item in zip(places.sets, places.items, strict=True))
        return Grouping(name=self.set_field or "item", members=tuple(members))


def _shared(lists: pl.Series) -> list[tuple[str, ...]]:
    """Lists of texts, each kind of them made once: most items have the labels of the others."""
    kinds: dict[tuple[str, ...], tuple[str, ...]] = {}
    return [kinds.setdefault(kind, kind) for kind in map(tuple, lists.to_list())]


def read_stored_suites(path: Path, heads: Mapping[str, str]) -> dict[str, Suite]:
    """The suites of such an `items.parquet`, by name; `heads` are the suites without their items, in JSON."""
    columns = pl.scan_parquet(path, glob=False).filter(kind="item").select("suite", "id", "labels", "gold").collect()
    suites: dict[str, Suite] = {}
    for name, head in heads.items():
        own = columns.filter(suite=name)
        items = StoredItems(path, name, ItemColumns(own["id"].to_list(), _shared(own["labels"]), _shared(own["gold"])))
        suites[name] = StoredSuite.model_validate({**json.loads(head), "items": items})
    return suites
