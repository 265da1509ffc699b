"""A run folder of imported answers: written in parts, and there when it is whole or not at all."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType

import polars as pl

from veridical.errors import UserError
from veridical.files.new_folder import temporary_folder
from veridical.files.parquet_parts import add_part, parquet_bytes
from veridical.files.writing import replace, unwritable
from veridical.items import Suite
from veridical.runs.imported import SCORES, SCORES_NAME
from veridical.runs.store import ITEMS_NAME
from veridical.runs.stored import SCHEMA as ITEMS

PART = 2_500
"""Answers in a part."""


class RunWriter:
    """A run folder that appears at `path` when the work is done.

    Raises UserError where the path exists already, or where it cannot be written.
    """

    def __init__(self, path: Path) -> None:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise UserError(f"{path} exists already: an import goes into a new folder; choose another --out")
        self.path = path
        self.folder = path
        """Where it is filled, from the beginning of the block."""
        self._temporary = temporary_folder(path)
        self._items: list[Path] = []
        self._heads: list[tuple[str, str]] = []
        self._scores: list[pl.DataFrame] = []

    def __enter__(self) -> RunWriter:
        self.folder = self._temporary.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._temporary.__exit__(kind, error, trace)

    def add_items(self, frame: pl.DataFrame) -> None:
        """Put items aside until `finish`."""
        path = self.folder / f".items-{len(self._items):06d}.parquet"
        path.write_bytes(parquet_bytes(frame))
        self._items.append(path)

    def add_answers(self, requests: pl.DataFrame, responses: pl.DataFrame, scores: pl.DataFrame) -> None:
        """Write answers to the run; their scores are kept until `finish`."""
        add_part(self.folder / "requests", requests)
        add_part(self.folder / "responses", responses)
        self._scores.append(scores)

    def add_head(self, suite: Suite) -> None:
        """Keep a suite without its items, to be written by `finish`."""
        self._heads.append((suite.name, suite.model_dump_json(exclude={"items"})))

    def finish(self) -> None:
        """Put the items and scores together."""
        heads = [{"suite": name, "kind": "suite", "id": name, "json": head} for name, head in self._heads]
        path = self.folder / ".items-head.parquet"
        path.write_bytes(parquet_bytes(pl.DataFrame(heads, schema=ITEMS)))
        parts = [pl.scan_parquet(part, glob=False) for part in (path, *self._items)]
        pl.concat(parts).sink_parquet(self.folder / ITEMS_NAME, compression="zstd", row_group_size=PART)
        for part in (path, *self._items):
            part.unlink()
        scores = pl.concat([pl.DataFrame(schema=SCORES), *self._scores])
        replace(self.folder / SCORES_NAME, parquet_bytes(scores))
        self._scores.clear()

    def put_in_place(self) -> None:
        """Give the folder its name."""
        try:
            if self.path.is_dir():
                self.path.rmdir()
            self.folder.rename(self.path)
        except OSError as error:
            raise unwritable(self.path, error) from error
