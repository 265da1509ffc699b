"""Rows of published files, whatever their format: JSON Lines, JSON, CSV, TSV, Parquet, Arrow, plain lists of values."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.binary_file import ENDINGS, plain_name, read_bytes
from veridical.files.json_text import JSONContentError, kind, parse_json, place
from veridical.files.syntax_faults import json_fault
from veridical.files.text_file import read_text
from veridical.suites.commonsense.delimited import read_table
from veridical.suites.commonsense.row import LONGEST_NAME, Row, shortened

SourceRecord = tuple[str, Mapping[str, Any]]
"""Where a record is in its file, and its values by field."""
RowReader = Callable[[Path, list[str]], Iterator[SourceRecord]]
_ARROW_FILE = b"ARROW1"


def read_rows(path: Path, notes: list[str] | None = None) -> list[Row]:
    """The rows of a file, by what its name ends in. What is worth knowing of how it was read is added to `notes`.

    Raises UserError where the file is of no such kind, or is at fault.
    """
    ending = plain_name(path).suffix.lower()
    reader = FORMATS.get(ending)
    if path.is_dir():
        raise UserError(f"{path}: a folder, not a file; give it as --data-dir")
    if reader is None:
        kinds = f"{', '.join(FORMATS)}, and these compressed ({', '.join(ENDINGS)})"
        raise UserError(f"{path}: unknown kind of file {ending!r}; these are read: {kinds}")
    source = str(path)
    records = reader(path, [] if notes is None else notes)
    rows = [Row(values, source, place, number) for number, (place, values) in enumerate(records)]
    if not rows:
        raise UserError(f"{path}: no rows")
    return rows


def read_values(path: Path) -> list[str]:
    """The values of a list: one a line (blank lines at the end do not count), or a JSON list."""
    text = read_text(path)
    if plain_name(path).suffix.lower() == ".json":
        values = _parsed(path, text, "the file", "")
        if not isinstance(values, list) or any(isinstance(value, list | dict) for value in values):
            raise UserError(f"{path}: a list of values is needed")
        return [str(value).strip() for value in values]
    lines = [line.strip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def with_values(rows: Sequence[Row], path: Path, field: str) -> list[Row]:
    """The rows with a field from a second file, one value a line (labels of PIQA, Social IQa, WinoGrande).

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
        replace(row.having(**{field: value}), origins={**row.origins, field: f"{path}, line {number}"})
        for number, (row, value) in enumerate(zip(rows, values, strict=True), 1)
    ]


def _json_lines(path: Path, notes: list[str]) -> Iterator[SourceRecord]:
    text = read_text(path)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, line in lines:
        last = number == lines[-1][0] and number > 1 and not text.endswith("\n")
        values = _parsed(path, line, f"line {number}", " (the last line: is the file cut off?)" if last else "")
        yield _record(path, values, f"line {number}")


def _json(path: Path, notes: list[str]) -> Iterator[SourceRecord]:
    text = read_text(path)
    lines = text.lstrip().split("\n", 2)
    if len(lines) > 1 and lines[0].startswith("{") and _is_object(lines[0]) and lines[1].lstrip().startswith("{"):
        yield from _json_lines(path, notes)  # JSON Lines by another name
        return
    for name, values in _records(_parsed(path, text, "the file", "")):
        yield _record(path, values, f"record {name}")


def _records(document: Any) -> Iterator[tuple[object, Any]]:
    """The records of a JSON document: a list of them, a list under a single key, or objects by their id."""
    if isinstance(document, dict) and len(document) == 1 and isinstance(next(iter(document.values())), list):
        document = next(iter(document.values()))
    if isinstance(document, list):
        yield from enumerate(document, 1)
    elif isinstance(document, dict) and document and all(isinstance(value, dict) for value in document.values()):
        yield from ((repr(shortened(name, LONGEST_NAME)), {"id": name, **values}) for name, values in document.items())
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
        raise UserError(f"{path}, {line}column {error.colno}: not JSON: {json_fault(error)}{advice}") from error
    except JSONContentError as error:
        named = shortened(place(error.path), LONGEST_NAME)
        raise UserError(f"{path}, {where}, field {named!r}: {shortened(str(error))}") from error


def _record(path: Path, values: Any, where: str) -> SourceRecord:
    if not isinstance(values, dict):
        raise UserError(f"{path}, {where}: an object with fields is needed, this is {kind(values)}")
    return where, values


def _separated(usual: str) -> RowReader:
    return lambda path, notes: read_table(path, usual, notes)


def _columnar(name: str, reader: str) -> RowReader:
    def read(path: Path, notes: list[str]) -> Iterator[SourceRecord]:
        import polars as pl

        data = read_bytes(path)
        # Arrow has two forms: the stream that datasets writes, and the file, which has its name at its head.
        function = pl.read_ipc if reader == "read_ipc_stream" and data.startswith(_ARROW_FILE) else getattr(pl, reader)
        try:
            frame = function(io.BytesIO(data))
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise UserError(f"{path}: not {name}, or cut off; copy it again") from error
        yield from ((f"row {number}", values) for number, values in enumerate(frame.iter_rows(named=True), 1))

    return read


def rows_of(records: Iterable[Mapping[str, Any]], source: str) -> Iterator[Row]:
    """Rows of records that come from no text file."""
    for number, values in enumerate(records):
        yield Row(values, source, f"row {number + 1}", number)


FORMATS: Mapping[str, RowReader] = {
    ".jsonl": _json_lines,
    ".json": _json,
    ".csv": _separated(","),
    ".tsv": _separated("\t"),
    ".parquet": _columnar("a Parquet file", "read_parquet"),
    ".arrow": _columnar("an Arrow stream, as the library datasets writes it", "read_ipc_stream"),
}
