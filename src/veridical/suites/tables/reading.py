"""Rows of a table, whatever its format, and whether a path names a table."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical.errors import UserError, listed
from veridical.files import checksum
from veridical.files.encodings import FALLBACK
from veridical.files.tables import open_table

DELIMITED = (".csv", ".tsv")
COLUMNAR = (".parquet", ".arrow")
SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".ods", ".numbers")
_OF_A_SUITE_FILE = {"schema", "prompts", "labels", "fields"}
"""Keys of a suite file's lines: a JSONL file whose first object has one of them is read as a suite file."""
_SCRATCH = ("cache-", "tmp")
"""How files begin that the library datasets leaves beside a data set."""


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a table with their places in it, its columns, the SHA-256 of its bytes, and notes on the reading.

    A cell is a text, or a list where the format has lists; a cell that is missing is an empty text.
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[str, Mapping[str, Any]], ...]
    digest: str
    notes: tuple[str, ...]


def is_table(path: Path) -> bool:
    """Whether a path is read as a table: by its ending; JSONL by its first object; a folder by the files in it."""
    if path.is_dir():
        return bool(_data_files(path))
    ending = path.suffix.lower()
    return ending in (*DELIMITED, *COLUMNAR, *SPREADSHEETS) or (
        ending == ".jsonl" and path.is_file() and _holds_plain_rows(path)
    )


def read_rows(path: Path) -> Rows:
    """All rows of a table.

    Raises UserError for a spreadsheet, a folder of several splits, a file that cannot be read, and one without rows.
    """
    if path.suffix.lower() in SPREADSHEETS and not path.is_dir():
        raise UserError(f"{path}: a spreadsheet is not read: save its sheet as CSV (UTF-8) and give that file")
    files = _one_split(path) if path.is_dir() else [path]
    notes: list[str] = []
    rows = tuple(row for file in files for row in _rows(file, notes))
    if not rows:
        raise UserError(f"{path}: a table without rows")
    columns = tuple(dict.fromkeys(name for _, values in rows for name in values))
    digests = [checksum.of_file(file) for file in files]
    digest = digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return Rows(path, columns, rows, digest, tuple(notes))


def _rows(file: Path, notes: list[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if file.suffix.lower() in COLUMNAR:
        from veridical.suites.commonsense.rows import FORMATS

        for where, values in FORMATS[file.suffix.lower()](file, notes):
            yield where, {name: _cell(value) for name, value in values.items()}
        return
    table = open_table(file, advice="save it as UTF-8")
    if table.encoding == FALLBACK:
        notes.append(f"{file} is not UTF-8 and was read as Windows-1252 ({FALLBACK})")
    for row in table.rows():
        nested = {name: json.loads(row.values[name]) for name in row.nested}
        yield f"line {row.line}", {**dict.fromkeys(table.columns, ""), **row.values, **nested}


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    return value if isinstance(value, list | dict | str) else json.dumps(value, default=str)


def _holds_plain_rows(path: Path) -> bool:
    try:
        with path.open(encoding="utf-8-sig") as file:
            values = json.loads(next((line for line in file if line.strip()), ""))
    except (OSError, ValueError):
        return False  # the reader of suite files says what is wrong
    return isinstance(values, dict) and bool(values) and not values.keys() & _OF_A_SUITE_FILE


def _data_files(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.rglob("*") if path.suffix.lower() in COLUMNAR and path.is_file())
    return [path for path in found if not path.name.startswith(_SCRATCH)]


def _one_split(folder: Path) -> list[Path]:
    """The files of a data set of one split; several splits stand in several folders, or have names of their own."""
    files = _data_files(folder)
    folders = sorted({str(file.parent.relative_to(folder)) for file in files})
    if len(folders) > 1:
        raise UserError(
            f"{folder}: a data set of several parts: give one, as {folder}/{folders[0]} ({listed(folders)})"
        )
    splits = sorted({file.stem.split("-")[0] for file in files})
    if len(splits) > 1:
        raise UserError(f"{folder}: a data set of several splits ({listed(splits)}): give one file, as {files[0]}")
    return files
