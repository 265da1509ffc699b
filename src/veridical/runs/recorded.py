"""Which asks a run has recorded, under which keys, and which of these have an answer: looked up by the window.

A run of a million requests is looked up in some seconds and 200 MB: asks are compared by a hash of their columns first,
and neither token ids nor answers are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from veridical.runs.asks import Ask
from veridical.runs.store import ASK, ASKS, read_asks, read_keys

NOT_RECORDED = -1
_COLUMNS = pl.Schema({name: ASKS[name] for name in ASK})


class RecordedAsks:
    """The asks of a run as they were recorded when this was made; `answered` are the keys of its answers then."""

    def __init__(self, run: Path) -> None:
        asks = read_asks(run).select("key", *ASK)
        hashes = _hashes(asks.select(ASK))
        order = np.argsort(hashes, kind="stable")
        self._asks = asks[order]
        self._hashes = hashes[order]
        self.answered = frozenset(read_keys(run))
        self._has_answer = self._asks["key"].is_in(list(self.answered)).to_numpy()

    def __len__(self) -> int:
        return self._asks.height

    def rows(self, asks: Sequence[Ask]) -> npt.NDArray[np.int64]:
        """The row of each ask, for `keys` and `has_answer`; NOT_RECORDED where there is none."""
        if not len(self):
            return np.full(len(asks), NOT_RECORDED)
        wanted = pl.DataFrame([[getattr(ask, name) for name in ASK] for ask in asks], schema=_COLUMNS, orient="row")
        rows = np.minimum(np.searchsorted(self._hashes, _hashes(wanted)), len(self) - 1)
        found = self._asks.select(ASK)[rows]
        same = np.logical_and.reduce([(found[name] == wanted[name]).to_numpy() for name in ASK])
        return np.where(same, rows, NOT_RECORDED)

    def keys(self, rows: npt.NDArray[np.int64]) -> list[str | None]:
        """The key under which the ask of each row was recorded."""
        recorded: list[int] = rows[rows != NOT_RECORDED].tolist()
        keys = iter(self._asks["key"].gather(recorded))
        return [None if row == NOT_RECORDED else next(keys) for row in rows.tolist()]

    def has_answer(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the ask of each row was recorded and its request has an answer."""
        found = np.zeros(len(rows), dtype=np.bool_)
        known = rows != NOT_RECORDED
        found[known] = self._has_answer[rows[known]]
        return found


def _hashes(asks: pl.DataFrame) -> npt.NDArray[np.uint64]:
    return asks.hash_rows(seed=0).to_numpy()
