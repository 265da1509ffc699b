"""Tables from CSV, TSV, Parquet and JSON files, wide or long, and where each of their cells stands."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from veridical.errors import UserError
from veridical.files.binary_file import read_bytes
from veridical.files.csv_text import plain_cell
from veridical.files.json_text import JSONContentError, parse_json, place
from veridical.files.syntax_faults import json_fault
from veridical.files.tables import Table, open_table
from veridical.files.text_file import read_text
from veridical.validity.results import Note


@dataclass(frozen=True, eq=False)
class Raw:
    """A table as it stands in a file: one row a model once it is wide.

    `unit` is what the file counts in (`line`, `row`), `numbers` the number of each row of the frame (from 1 where there
    are none). `cells` are the numbers of cells that stand in rows of their own, by row of the frame and column: those
    of a long table. `notes` say what was left out or decided while it was read; `merged` counts further scores of
    a model on a benchmark.
    """

    source: str
    frame: pl.DataFrame
    unit: str = "row"
    numbers: tuple[int, ...] = ()
    cells: Mapping[tuple[int, str], int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    merged: int = 0

    def number(self, row: int, column: str = "") -> int:
        """The number in the file of a row of the frame, or of its cell in a column."""
        return self.cells.get((row, column), self.numbers[row] if self.numbers else row + 1)

    def place(self, row: int, column: str = "") -> str:
        """Where a row, or its cell in a column, is in the file: `scores.csv, line 3`."""
        return f"{self.source}, {self.unit} {self.number(row, column)}"

    def texts(self, column: str) -> list[str]:
        """The cells of a column as they are written, without spaces around them; "" where there is none."""
        return ["" if cell is None else str(cell).strip() for cell in self.frame[column].to_list()]

    def text_at(self, column: str, row: int) -> str:
        """One cell as it is written."""
        cell = self.frame[column][row]
        return "" if cell is None else str(cell).strip()


def read_raw(path: Path) -> Raw:
    """The table in a file, by its suffix. Raises UserError where it cannot be read as one."""
    readers = {".csv": _separated, ".tsv": _separated, ".parquet": _parquet, ".json": _json, ".jsonl": _json_lines}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UserError(f"{path}: a table of scores is a .csv, .tsv, .parquet or .json file, or a folder of runs")
    raw = reader(path)
    if raw.frame.is_empty():
        raise UserError(f"{path}: no rows; write one for each model")
    return raw


def _open(path: Path) -> Table:
    return open_table(path, advice="save it as UTF-8")


def _separated(path: Path) -> Raw:
    table = _open(path)
    if table.kind == "jsonl":
        return _records(table)
    # Some programs put quotation marks around all text, in tables with tabs too.
    unquoted = _bare if table.kind == "tsv" and all(map(_quoted, table.columns)) else plain_cell
    names = [unquoted(name) for name in table.columns]
    if repeated := [name for name, times in Counter(names).items() if times > 1]:
        raise UserError(f"{path}: the header names a column twice: {repeated[0]!r}; rename or remove one")
    columns: dict[str, list[str]] = {name: [] for name in names}
    lines = []
    for row in table.rows():
        if len(row.values) < len(names):
            raise UserError(f"{path}, line {row.line}: {len(row.values)} cells under {len(names)} columns")
        for name, cell in zip(names, row.values.values(), strict=True):
            columns[name].append(unquoted(cell))
        lines.append(row.line)
    return Raw(str(path), _frame(columns), "line", tuple(lines))


def _quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] == '"'


def _bare(text: str) -> str:
    return plain_cell(text[1:-1].replace('""', '"') if _quoted(text) else text)


def _json_lines(path: Path) -> Raw:
    table = _open(path)
    if table.kind != "jsonl":
        raise UserError(f"{path}, line 1: not one JSON object a line")
    return _records(table)


def _records(table: Table) -> Raw:
    rows = list(table.rows())
    for row in rows:
        if row.nested:
            raise _nested(f"{table.path}, line {row.line}", min(row.nested))
    names = list(dict.fromkeys(name for row in rows for name in row.values))
    columns = {name: [row.values.get(name, "") for row in rows] for name in names}
    return Raw(str(table.path), _frame(columns), "line", tuple(row.line for row in rows))


def _parquet(path: Path) -> Raw:
    try:
        frame = pl.read_parquet(read_bytes(path))
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{path}: no Parquet file, or cut off; copy it again") from error
    if nested := [name for name, kind in frame.schema.items() if kind.is_nested() or kind == pl.Binary]:
        raise UserError(f"{path}, column {nested[0]!r}: neither text nor numbers; leave it out")
    return Raw(str(path), frame)


def _json(path: Path) -> Raw:
    try:
        document = parse_json(read_text(path))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: no JSON: {json_fault(error)} (column {error.colno})") from error
    except JSONContentError as error:
        where = f"{path}, {place(error.path)}" if error.path else f"{path}"
        instead = "; write null where there is no score" if error.non_finite else ""
        raise UserError(f"{where}: {error}{instead}") from error
    if isinstance(document, dict) and document and all(isinstance(column, list) for column in document.values()):
        lengths = {len(column) for column in document.values()}
        if len(lengths) > 1:
            raise UserError(f"{path}: columns of different lengths: {', '.join(map(str, sorted(lengths)))}")
        document = [dict(zip(document, cells, strict=True)) for cells in zip(*document.values(), strict=True)]
    if not isinstance(document, list) or not all(isinstance(row, dict) for row in document):
        raise UserError(f"{path}: give a list of records, or a mapping of columns to lists")
    for number, row in enumerate(document, 1):
        if nested := [name for name, cell in row.items() if isinstance(cell, (list, dict))]:
            raise _nested(f"{path}, row {number}", nested[0])
    names = list(dict.fromkeys(name for row in document for name in row))
    return Raw(str(path), _frame({name: [_cell(row.get(name)) for row in document] for name in names}))


def _nested(where: str, column: str) -> UserError:
    return UserError(f"{where}, column {column!r}: a list or an object, which no cell is; give one value")


def _cell(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


def _frame(columns: Mapping[str, Sequence[str]]) -> pl.DataFrame:
    return pl.DataFrame(dict(columns), schema=dict.fromkeys(columns, pl.String()))
