"""Rows of published files, whatever their format, and what a row is asked for.

JSON Lines, JSON, CSV, TSV, Parquet, Arrow, and plain lists of one value a line. A row knows where it stands, so that
whatever it lacks is told with file, line and field.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from veridical.errors import UserError
from veridical.files.text_file import read_text, unreadable
from veridical.suites.json_text import JSONContentError, kind, parse_json, place

LONGEST = 300
"""Characters of a message on a row; of a longer one the beginning and the end are told."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row's values by field. `source` is the file (or the hub's name), `place` where the row is in it (`line 3`),
    `number` how many rows stand before it. `beside` says of a field that comes from another file where it is there."""

    values: Mapping[str, Any]
    source: str
    place: str
    number: int = 0
    beside: Mapping[str, str] = field(default_factory=dict)

    def fail(self, message: str, field: str = "") -> NoReturn:
        """Raise UserError for this row, or for its line in the file that the field comes from."""
        named = f", field {field!r}" if field else ""
        if len(message) > LONGEST:  # what stands in the cell may be a whole text
            message = f"{message[: LONGEST // 2]} … {message[-LONGEST // 2 :]}"
        raise UserError(f"{self.beside.get(field) or f'{self.source}, {self.place}{named}'}: {message}")

    def has(self, field: str) -> bool:
        """Whether the field is there and not blank."""
        value = self.values.get(field)
        return value is not None and not (isinstance(value, str) and not value.strip())

    def value(self, field: str) -> Any:
        """Whatever the field holds. Raises UserError where it is missing or blank."""
        if field not in self.values:
            self.fail(f"there is no such field; the row has {_listed(self.values)}", field)
        if not self.has(field):
            self.fail("it is blank", field)
        return self.values[field]

    def text(self, field: str) -> str:
        """The field as text, a number as it is written. Raises UserError where it is missing, blank or a list."""
        value = self.value(field)
        if isinstance(value, list | dict):
            self.fail(f"text is needed, this is {kind(value)}", field)
        return value if isinstance(value, str) else str(value)

    def maybe(self, field: str) -> str:
        """The field as text; empty where it is missing or blank."""
        return self.text(field) if self.has(field) else ""

    def texts(self, field: str) -> tuple[str, ...]:
        """The field as a list of texts (in CSV: written as JSON)."""
        value = self.value(field)
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError:
                self.fail("a list is needed, this is text", field)
        if not isinstance(value, list) or not all(isinstance(part, str) and part.strip() for part in value):
            self.fail("a list of texts is needed, none of them blank", field)
        return tuple(value)

    def whole(self, field: str) -> int:
        """The field as a whole number (`1`, `"1"`, `1.0`)."""
        text = self.text(field).strip()
        try:
            number = float(text)
        except ValueError:
            number = 0.5
        if not number.is_integer():
            self.fail(f"a whole number is needed, this is {text!r}", field)
        return int(number)

    def having(self, **values: Any) -> Row:
        """The row with these values added, or in place of its own."""
        return replace(self, values={**self.values, **values})


def read_rows(path: Path) -> list[Row]:
    """The rows of a file, by what its name ends in. Raises UserError where it is no such file, or is at fault."""
    reader = FORMATS.get(path.suffix.lower())
    if path.is_dir():
        raise UserError(f"{path}: a folder, not a file; give it as --data-dir")
    if reader is None:
        raise UserError(f"{path}: unknown kind of file {path.suffix!r}; these are read: {', '.join(FORMATS)}")
    rows = [replace(row, number=number) for number, row in enumerate(reader(path))]
    if not rows:
        raise UserError(f"{path}: no rows")
    return rows


def read_values(path: Path) -> list[str]:
    """The values of a list: one a line (blank lines at the end do not count), or a JSON list."""
    text = read_text(path)
    if path.suffix.lower() == ".json":
        values = _parsed(path, text, "the file", "")
        if not isinstance(values, list) or any(isinstance(value, list | dict) for value in values):
            raise UserError(f"{path}: a list of values is needed")
        return [str(value).strip() for value in values]
    lines = [line.strip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def with_values(rows: Sequence[Row], path: Path, field: str) -> list[Row]:
    """The rows with a field from a file beside theirs, one value a line (labels of PIQA, Social IQa, WinoGrande).

    Raises UserError where the two have different lengths, or a value is blank.
    """
    values = read_values(path)
    if len(values) != len(rows):
        raise UserError(
            f"{path}: {len(values)} labels for {len(rows)} rows of {rows[0].source}: are they of one split?"
        )
    if "" in values:
        raise UserError(f"{path}, line {values.index('') + 1}: the label is blank")
    return [
        replace(row.having(**{field: value}), beside={**row.beside, field: f"{path}, line {number}"})
        for number, (row, value) in enumerate(zip(rows, values, strict=True), 1)
    ]


def _json_lines(path: Path) -> Iterator[Row]:
    text = read_text(path)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, line in lines:
        last = number == lines[-1][0] and number > 1 and not text.endswith("\n")
        values = _parsed(path, line, f"line {number}", " (the last line: is the file cut off?)" if last else "")
        yield _row(path, values, f"line {number}")


def _json(path: Path) -> Iterator[Row]:
    text = read_text(path)
    lines = text.lstrip().split("\n", 2)
    if len(lines) > 1 and lines[0].startswith("{") and _is_object(lines[0]) and lines[1].lstrip().startswith("{"):
        yield from _json_lines(path)  # JSON Lines by another name
        return
    for name, values in _records(_parsed(path, text, "the file", "")):
        yield _row(path, values, f"record {name}")


def _records(document: Any) -> Iterator[tuple[object, Any]]:
    """The records of a JSON document: a list of them, a list under a single key, or objects by their id."""
    if isinstance(document, dict) and len(document) == 1 and isinstance(next(iter(document.values())), list):
        document = next(iter(document.values()))
    if isinstance(document, list):
        yield from enumerate(document, 1)
    elif isinstance(document, dict) and document and all(isinstance(value, dict) for value in document.values()):
        yield from ((repr(name), {"id": name, **values}) for name, values in document.items())
    else:
        yield 1, document


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def _parsed(path: Path, text: str, where: str, advice: str) -> Any:
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if where == "the file" else f"{where}, "
        raise UserError(f"{path}, {line}column {error.colno}: not JSON: {error.msg}{advice}") from error
    except JSONContentError as error:
        raise UserError(f"{path}, {where}, field {place(error.path)!r}: {error}") from error


def _row(path: Path, values: Any, where: str) -> Row:
    if not isinstance(values, dict):
        raise UserError(f"{path}, {where}: an object with fields is needed, this is {kind(values)}")
    return Row(values, str(path), where)


def _delimited(delimiter: str) -> Callable[[Path], Iterator[Row]]:
    def read(path: Path) -> Iterator[Row]:
        # Cells may hold line breaks: the line told is the one on which the row ends.
        lines = csv.reader(io.StringIO(read_text(path), newline=""), delimiter=delimiter, strict=True)
        try:
            header = [name.strip() for name in next(lines)]
            if len(set(header)) < len(header):
                twice = next(name for place, name in enumerate(header) if name in header[:place])
                raise UserError(f"{path}, line 1: two columns are called {twice!r}")
            for cells in lines:
                if not any(cell.strip() for cell in cells):
                    continue
                if len(cells) != len(header):
                    raise UserError(f"{path}, line {lines.line_num}: {len(cells)} cells for {len(header)} columns")
                yield Row(dict(zip(header, cells, strict=True)), str(path), f"line {lines.line_num}")
        except csv.Error as error:
            raise UserError(f"{path}, line {lines.line_num}: {error}; is a quotation mark left open?") from error

    return read


def _columnar(name: str, reader: str) -> Callable[[Path], Iterator[Row]]:
    def read(path: Path) -> Iterator[Row]:
        import polars as pl

        try:
            frame = getattr(pl, reader)(io.BytesIO(path.read_bytes()))
        except OSError as error:
            raise unreadable(path, error) from error
        except pl.exceptions.PolarsError as error:
            raise UserError(f"{path}: not {name}: {str(error).splitlines()[0]}") from error
        yield from rows_of(frame.iter_rows(named=True), str(path))

    return read


def rows_of(records: Iterable[Mapping[str, Any]], source: str) -> Iterator[Row]:
    """Rows of records that come from no text file."""
    for number, values in enumerate(records):
        yield Row(values, source, f"row {number + 1}", number)


def _listed(names: Iterable[str]) -> str:
    shown = [str(name) for name in names]
    more = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
    return ", ".join(shown[:12]) + more if shown else "none"


FORMATS: Mapping[str, Callable[[Path], Iterable[Row]]] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _delimited(","),
    ".tsv": _delimited("\t"),
    ".parquet": _columnar("a Parquet file", "read_parquet"),
    ".arrow": _columnar("an Arrow stream, as the library datasets writes it", "read_ipc_stream"),
}
