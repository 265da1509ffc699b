"""Measures as they are stored and printed, and as a frame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from veridical.files.writing import json_bytes, replace
from veridical.judge.measure import Measure

STRUCTS = ("slice", "statuses", "against")


OPTIONAL = ("reason", "withheld", "tied", "test", "adjusted")
"""Fields that a stored record has only where they say something; every other field is always there."""


def records_json(measures: Iterable[Measure]) -> list[dict[str, object]]:
    """Measures as they stand in `measures.json` and in what `--json` prints."""
    records = [measure.model_dump(mode="json") for measure in measures]
    return [{key: value for key, value in one.items() if key not in OPTIONAL or value is not None} for one in records]


def write_measures(folder: Path, measures: Iterable[Measure]) -> Path:
    """Write `measures.json`, a list of records in strict JSON."""
    path = folder / "measures.json"
    replace(path, json_bytes(records_json(measures)), follow=False)
    return path


def measures_frame(measures: Sequence[Measure]) -> pl.DataFrame:
    """Measures as a frame, one row a record; `slice`, `statuses` and `against` are structs.

    A struct has the fields that any record has, as text (counts in `statuses`), null where a record has none.
    """
    rows = records_json(measures)
    columns: dict[str, pl.Series] = {}
    for name in Measure.model_fields:
        values = [row.get(name) for row in rows]
        if name in STRUCTS:
            columns[name] = _struct(name, values)
        else:
            columns[name] = pl.Series(name, values, dtype=_DTYPES.get(name, pl.String()), strict=False)
    return pl.DataFrame(columns)


_FLOATS = ("value", "low", "high", "level", "bound_low", "bound_high", "p")
_DTYPES: dict[str, pl.DataType] = {
    **dict.fromkeys(_FLOATS, pl.Float64()),
    "n_sets": pl.Int64(),
    "n_items": pl.Int64(),
    "paired": pl.Boolean(),
    "tied": pl.List(pl.Float64()),
}


def _struct(name: str, values: Sequence[object]) -> pl.Series:
    maps = [value if isinstance(value, dict) else {} for value in values]
    keys = list(dict.fromkeys(key for value in maps for key in value))
    kind: pl.DataType = pl.Int64() if name == "statuses" else pl.String()
    cell = int if name == "statuses" else str
    rows = [{key: cell(value[key]) for key in keys if key in value} for value in maps]
    return pl.Series(name, rows, dtype=pl.Struct(dict.fromkeys(keys, kind)))
