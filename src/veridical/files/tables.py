"""Rows of a user's file: JSONL, TSV as data sets are published, CSV. Read as a stream; no character is ever lost."""

from __future__ import annotations

import codecs
import csv
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, NoReturn

from veridical.errors import UserError
from veridical.files.encodings import FALLBACK, marked_encoding, partly_utf8
from veridical.files.json_text import JSONContentError, parse_json, place
from veridical.files.pointers import check_link, check_pointer_file
from veridical.files.sources import check_source, unreadable
from veridical.files.syntax_faults import csv_fault, json_fault

Kind = Literal["jsonl", "tsv", "csv"]

_BLOCK = 1 << 20
_SEPARATOR = re.compile(r"\s*sep=([\t,;])\r?\n?", re.IGNORECASE)
"""What spreadsheet programs put before the header to name the separator."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A line of a table, by column. JSON's null is an empty cell, numbers and truth values are as JSON writes them.

    `nested` are the columns that hold a list or an object there, which no cell is.
    """

    line: int
    values: Mapping[str, str]
    nested: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Table:
    """A file of rows under named columns. `declared` is whether the user named the encoding."""

    path: Path
    encoding: str
    declared: bool
    kind: Kind
    delimiter: str
    columns: tuple[str, ...]

    def rows(self) -> Iterator[TableRow]:
        """Every row, blank lines left out. Raises UserError naming the line that is at fault."""
        if self.kind == "jsonl":
            yield from _objects(self.path, self.encoding)
            return
        lines = _separated(self.path, self.encoding, self.kind, self.delimiter)
        next(lines)
        for line, cells in lines:
            if len(cells) > len(self.columns):
                _fail(self.path, line, f"{len(cells)} cells under {len(self.columns)} columns")
            yield TableRow(line, dict(zip(self.columns, cells, strict=False)))


NAME_ENCODING = "name the file's encoding with --encoding"


def open_table(path: Path, encoding: str | None = None, advice: str = NAME_ENCODING) -> Table:
    """The table in a file. Raises UserError where it cannot be read, is empty, or is in another encoding.

    Without a declared encoding it is the byte-order mark's, else UTF-8, else Windows-1252 (`FALLBACK`), whichever
    the whole file is valid in; nothing is replaced or left out but the mark itself. A tab, a comma or a semicolon
    separates cells, whichever gives the first line most columns, or what a first line `sep=;` names. Quotation marks
    quote in CSV; in TSV they are text, as in SNLI and MultiNLI. `advice` is what to do where no encoding fits.
    """
    check_link(path)
    check_source(path)
    check_pointer_file(path)
    found = _encoding(path, encoding, advice)
    with _opened(path, found) as file:
        first = next((line for line in file if line.strip()), "")
    if first.lstrip().startswith("{"):
        row = next(_objects(path, found))
        return Table(path, found, encoding is not None, "jsonl", "", tuple(row.values))
    if first.lstrip().startswith("["):
        _fail(path, 1, "a JSON list; write one object a line (JSONL), or a table with a header")
    delimiter = named[1] if (named := _SEPARATOR.fullmatch(first)) else max("\t,;", key=first.count)
    if delimiter not in first:
        _fail(path, 1, "no table: a header with tabs, commas or semicolons is needed, or one JSON object a line")
    kind: Kind = "tsv" if delimiter == "\t" else "csv"
    _, cells = next(_separated(path, found, kind, delimiter))
    columns = tuple(cell.strip() for cell in cells)
    if repeated := sorted({name for name in columns if columns.count(name) > 1}):
        _fail(path, 1, f"the header names a column twice: {', '.join(map(repr, repeated))}")
    return Table(path, found, encoding is not None, kind, delimiter, columns)


def _fail(path: Path, line: int, message: str, cause: Exception | None = None) -> NoReturn:
    raise UserError(f"{path}, line {line}: {message}") from cause


# --- encodings


def _encoding(path: Path, declared: str | None, advice: str) -> str:
    try:
        with path.open("rb") as file:
            return _declared(path, file, declared) if declared is not None else _detected(path, file, advice)
    except OSError as error:
        raise unreadable(path, error) from error


def _declared(path: Path, file: IO[bytes], encoding: str) -> str:
    try:
        name = codecs.lookup(encoding).name
        "".encode(encoding)  # codecs such as `hex` are none of text, `undefined` is one of nothing
        codecs.getincrementaldecoder(name)
    except (LookupError, UnicodeError) as error:
        raise UserError(f"unknown encoding {encoding!r}; for example utf-8, cp1252, utf-16, latin-1") from error
    if line := _first_fault(file, name):
        _fail(path, line, f"not text in the encoding {encoding!r}; leave --encoding out, or name another")
    return name


def _detected(path: Path, file: IO[bytes], advice: str) -> str:
    head = file.read(4)
    if not head:
        raise UserError(f"{path}: the file is empty")
    marked = marked_encoding(head)
    for name in (marked,) if marked else ("utf-8", FALLBACK):
        file.seek(0)
        line = _first_fault(file, name)
        if not line:
            return name
        file.seek(0)
        if not marked and (nul := _first_nul(file)):
            _fail(path, nul, f"a NUL byte, which no text has: is it UTF-16? {advice}")
        file.seek(0)
        if name == "utf-8" and partly_utf8(iter(lambda: file.read(_BLOCK), b"")):
            _fail(path, line, "not UTF-8, as the rest of the file is: is it damaged or cut off?")
    _fail(path, line, f"neither UTF-8 nor {FALLBACK}; {advice}")


def _first_nul(file: IO[bytes]) -> int:
    """The line of the first NUL byte; 0 where there is none."""
    line = 1
    while block := file.read(_BLOCK):
        if (at := block.find(b"\0")) >= 0:
            return line + block.count(b"\n", 0, at)
        line += block.count(b"\n")
    return 0


def _first_fault(file: IO[bytes], encoding: str) -> int:
    """The line of the first bytes that are not text in this encoding (a NUL is not); 0 where all are."""
    decoder = codecs.getincrementaldecoder(encoding)("strict")
    line = 1
    while True:
        block = file.read(_BLOCK)
        try:
            text = decoder.decode(block, final=not block)
        except UnicodeError as error:
            start = error.start if isinstance(error, UnicodeDecodeError) else 0
            return line + block.count(b"\n", 0, start)
        if "\0" in text:
            return line + text.count("\n", 0, text.index("\0"))
        line += text.count("\n")
        if not block:
            return 0


# --- rows


def _opened(path: Path, encoding: str, newline: str = "\n") -> IO[str]:
    """The file as text, behind its byte-order mark: what a declared encoding leaves of it is not part of the text."""
    file = path.open(encoding=encoding, newline=newline)
    if file.read(1) != "\ufeff":
        file.seek(0)
    return file


def _cell(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _objects(path: Path, encoding: str) -> Iterator[TableRow]:
    with _opened(path, encoding) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                values = parse_json(line)
            except json.JSONDecodeError as error:
                _fail(path, number, f"not one JSON object a line: {json_fault(error)} (column {error.colno})", error)
            except JSONContentError as error:
                _fail(path, number, f"{place(error.path)}: {error}", error)
            if not isinstance(values, dict):
                _fail(path, number, "a JSON object is needed")
            nested = frozenset(name for name, value in values.items() if isinstance(value, (list, dict)))
            yield TableRow(number, {name: _cell(value) for name, value in values.items()}, nested)


def _separated(path: Path, encoding: str, kind: Kind, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of every row that is not blank, from the header on."""
    rows = _tabs(path, encoding) if kind == "tsv" else _quoted(path, encoding, delimiter)
    for position, (line, cells) in enumerate(rows):
        names_separator = position == 0 and len(cells) == 2 and "".join(cells).strip().lower() == "sep="
        if not names_separator:
            yield line, cells


def _tabs(path: Path, encoding: str) -> Iterator[tuple[int, list[str]]]:
    with _opened(path, encoding) as file:
        first = next((line for line in file if line.strip()), "")
    # Older spreadsheet programs end lines with a carriage return alone; behind a line feed it is a cell's own.
    newline = "\r" if "\r" in first.rstrip("\r\n") else "\n"
    with _opened(path, encoding, newline) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield number, line.rstrip("\r\n").split("\t")


def _quoted(path: Path, encoding: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    with _opened(path, encoding, newline="") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        while True:
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                _fail(path, reader.line_num, f"no CSV: {csv_fault(error)}", error)
            if any(cell.strip() for cell in cells):
                yield reader.line_num, cells
