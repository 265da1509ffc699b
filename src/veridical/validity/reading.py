"""Tables from CSV, TSV, Parquet and JSON files, wide or long, and numbers from their cells."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from veridical.errors import UserError
from veridical.stats.units import Floats
from veridical.validity.roles import Roles, found_column

MISSING = ("", "na", "nan", "null", "none")
"""Cells without a score, in lower case."""
UNITS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*([kmbt]?)", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Raw:
    """A table as it stands in a file: one row a model once it is wide. `first_row` is the number of the first row."""

    source: str
    frame: pl.DataFrame
    first_row: int = 1

    def place(self, row: int) -> str:
        return f"{self.source}, row {row + self.first_row}"


def read_raw(path: Path) -> Raw:
    """The table in a file, told by its suffix. Raises UserError where it cannot be read as one."""
    readers = {".csv": _csv, ".tsv": _csv, ".parquet": _parquet, ".json": _json, ".jsonl": _json}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UserError(f"{path}: a table of scores is a .csv, .tsv, .parquet or .json file, or a folder of runs")
    try:
        raw = reader(path)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error, json.JSONDecodeError, pl.exceptions.PolarsError) as error:
        raise UserError(f"cannot read {path}: {str(error).splitlines()[0]}") from error
    if raw.frame.is_empty():
        raise UserError(f"{path}: no rows")
    return raw


def _csv(path: Path) -> Raw:
    text = path.read_text(encoding="utf-8-sig")
    rows = list(csv.reader(io.StringIO(text), delimiter="\t" if path.suffix.lower() == ".tsv" else ","))
    rows = [row for row in rows if row]
    if not rows:
        raise UserError(f"{path}: empty")
    header = [name.strip() for name in rows[0]]
    _check_header(path, header)
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            raise UserError(f"{path}, row {number}: {len(row)} cells under {len(header)} columns")
    columns = {name: [row[place] for row in rows[1:]] for place, name in enumerate(header)}
    return Raw(str(path), pl.DataFrame(columns, schema=dict.fromkeys(header, pl.String())), 2)


def _check_header(path: Path, header: Sequence[str]) -> None:
    for name, times in Counter(header).items():
        if times > 1:
            what = f"{times} columns are called {name!r}" if name else f"{times} columns have no name"
            raise UserError(f"{path}: {what}: rename or remove all but one")


def _parquet(path: Path) -> Raw:
    return Raw(str(path), pl.read_parquet(path.read_bytes()))


def _json(path: Path) -> Raw:
    text = path.read_text(encoding="utf-8-sig")
    if path.suffix.lower() == ".jsonl":
        document = [json.loads(line) for line in text.splitlines() if line.strip()]
    else:
        document = json.loads(text)
    if isinstance(document, dict) and all(isinstance(column, list) for column in document.values()):
        lengths = {len(column) for column in document.values()}
        if len(lengths) > 1:
            raise UserError(f"{path}: columns of different lengths: {', '.join(map(str, sorted(lengths)))}")
        document = [dict(zip(document, cells, strict=True)) for cells in zip(*document.values(), strict=True)]
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in document):
        raise UserError(f"{path}: give a list of records, or a mapping of columns to lists")
    names = list(dict.fromkeys(name for row in document for name in row))
    columns = {name: [_cell(row.get(name)) for row in document] for name in names}
    return Raw(str(path), pl.DataFrame(columns, schema=dict.fromkeys(names, pl.String())))


def _cell(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def wide(raw: Raw, roles: Roles) -> Raw:
    """One row a model. A table with a column of benchmarks and one of scores is long, and is turned."""
    frame = raw.frame
    benchmark = found_column("benchmark", roles.benchmark, frame.columns)
    value = found_column("value", roles.value, frame.columns)
    model = found_column("model", roles.model, frame.columns)
    if not (benchmark and value and model) or {benchmark, value} & set(roles.columns):
        return raw
    for name in (benchmark, model):
        if frame[name].null_count() or (frame[name].cast(pl.String()).str.strip_chars() == "").any():
            raise UserError(f"{raw.source}: a row has no {name!r}: every row of a long table names both")
    cells = frame.with_row_index("__row")
    seen: dict[tuple[object, object], int] = {}
    for row, key in enumerate(zip(cells[model], cells[benchmark], strict=True)):
        if key in seen:
            told = f"{raw.place(row)}: model {key[0]!r} has a second score on {key[1]!r} (the first: row"
            raise UserError(f"{told} {seen[key] + raw.first_row}): keep one")
        seen[key] = row
    described = [name for name in frame.columns if name not in (benchmark, value, model)]
    facts = frame.group_by(model, maintain_order=True).agg(pl.col(name).first() for name in described)
    for name in described:
        several = (
            frame.group_by(model, maintain_order=True).agg(pl.col(name).n_unique().alias("n")).filter(pl.col("n") > 1)
        )
        if not several.is_empty():
            raise UserError(f"{raw.source}: model {several[model][0]!r} has more than one {name!r}; keep one")
    turned = frame.pivot(benchmark, index=model, values=value, maintain_order=True)
    _check_header(Path(raw.source), [*facts.columns, *turned.columns[1:]])
    return Raw(raw.source, facts.join(turned, on=model, how="left", maintain_order="left"))


def texts(raw: Raw, column: str, what: str) -> tuple[str, ...]:
    """A column of names, each there. Raises UserError where one is missing."""
    names = []
    for row, name in enumerate(raw.frame[column].cast(pl.String())):
        if name is None or not name.strip():
            raise UserError(f"{raw.place(row)}: no {what} in column {column!r}: give every row one")
        names.append(name.strip())
    return tuple(names)


def numbers(raw: Raw, column: str, models: Sequence[str]) -> Floats:
    """A column of scores, shape (rows,), NaN where a cell is empty. Raises UserError for anything else."""
    values = np.full(raw.frame.height, np.nan)
    for row, cell in enumerate(raw.frame[column]):
        if cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING):
            continue
        try:
            value = float("text") if isinstance(cell, bool) else float(cell)
        except (TypeError, ValueError):
            shown = repr(str(cell)[:40])
            raise UserError(
                f"{raw.place(row)} ({models[row]}), column {column!r}: {shown} is not a number; leave the cell empty "
                "where there is no score"
            ) from None
        if np.isinf(value):
            raise UserError(f"{raw.place(row)} ({models[row]}), column {column!r}: not a finite number")
        values[row] = value
    return values


def sizes(raw: Raw, column: str, models: Sequence[str]) -> Floats:
    """Model sizes, shape (rows,), as `7B`, `350M` or numbers in one unit; NaN where a cell is empty.

    Raises UserError where sizes are in mixed units, as far as can be told: with and without a letter, numbers of
    parameters beside billions, or at odds with what the models' own names say.
    """
    values, lettered = np.full(raw.frame.height, np.nan), {}
    for row, cell in enumerate(raw.frame[column]):
        text = "" if cell is None else str(cell).strip().replace(",", "")
        if text.lower() in MISSING:
            continue
        match = _SIZE.fullmatch(text)
        if match is None or float(match[1]) <= 0:
            raise UserError(
                f"{raw.place(row)} ({models[row]}), column {column!r}: {text[:40]!r} is no size; write 7B, 350M, or "
                "numbers in one unit"
            )
        values[row] = float(match[1]) * UNITS[match[2].lower()]
        lettered[row] = bool(match[2])
    _check_units(raw, column, models, values, lettered)
    return values


def _check_units(raw: Raw, column: str, models: Sequence[str], values: Floats, lettered: dict[int, bool]) -> None:
    def mixed(one: int, other: int) -> UserError:
        cells = raw.frame[column]
        return UserError(
            f"{raw.source}, column {column!r}: sizes in mixed units: {cells[one]} ({models[one]}, row "
            f"{one + raw.first_row}) and {cells[other]} ({models[other]}, row {other + raw.first_row}); give all in one"
        )

    with_letter = [row for row, there in lettered.items() if there]
    bare = [row for row, there in lettered.items() if not there]
    if with_letter and bare:
        raise mixed(with_letter[0], bare[0])
    if bare and values[bare].max() >= 1e6 > values[bare].min():
        raise mixed(bare[int(np.argmax(values[bare]))], bare[int(np.argmin(values[bare]))])
    told = {row: values[row] / size for row in lettered if (size := size_in_name(models[row])) is not None}
    if len(told) >= 2:
        usual = float(np.median(list(told.values())))
        odd = next((row for row, ratio in told.items() if not 1 / 100 < ratio / usual < 100), None)
        if odd is not None:
            like = min(told, key=lambda row: abs(np.log(told[row] / usual)))
            raise mixed(odd, like)


_IN_NAME = re.compile(r"(?<![A-Za-z0-9.])(\d+(?:\.\d+)?)\s*([bm])(?![A-Za-z0-9])", re.IGNORECASE)


def size_in_name(model: str) -> float | None:
    """The number of parameters that a model's name seems to say: `Llama-2-7b-hf` → 7e9. A guess."""
    match = _IN_NAME.search(model.rpartition("/")[2])
    return None if match is None else float(match[1]) * UNITS[match[2].lower()]
