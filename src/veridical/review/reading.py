"""Filled-in sheets, as forms and spreadsheet programs save them, back to ratings.

Read are the usual dialects: commas, semicolons, tabs or bars; UTF-8 with and without its mark, UTF-16 with it, and
otherwise the Western code page of spreadsheet programs; any line ends, also within quotes; columns in any order.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import NoReturn

import numpy as np

from veridical.errors import UserError
from veridical.files.binary_file import read_bytes
from veridical.files.csv_text import plain_cell
from veridical.files.encodings import decode_text
from veridical.files.ledger import Ledger
from veridical.files.links import real_path
from veridical.files.syntax_faults import csv_fault
from veridical.review.key import NAME, ReviewKey
from veridical.review.krippendorff import MISSING
from veridical.review.questions import Question
from veridical.review.sheets import COMMENT, ID
from veridical.stats.units import Ints

_DELIMITERS = (",", ";", "\t", "|")


@dataclass(frozen=True, slots=True)
class SheetLine:
    """Where a row begins in its file."""

    path: Path
    number: int

    def fail(self, message: str) -> NoReturn:
        """Raise UserError with this place and the message."""
        raise UserError(f"{self.path}, line {self.number}: {message}")


@dataclass(frozen=True, slots=True)
class RatedRow:
    """A row with its ratings by question; a question that the rater left open is not among them."""

    line: SheetLine
    id: str
    ratings: Mapping[str, str]
    comment: str


@dataclass(frozen=True, eq=False)
class Ratings:
    """What the raters said. `raters` are those of whom there is a sheet, numbered from 1 as in the key.

    `codes` holds by question an array (items, raters) of the value's position among the question's, or `MISSING`;
    `comments` is by (position of the item, rater).
    """

    key: ReviewKey
    raters: tuple[int, ...]
    codes: Mapping[str, Ints]
    comments: Mapping[tuple[int, int], str]
    rows: Ledger = field(default_factory=Ledger)
    """The rows of the sheets: those with a rating are used."""


def sheet_files(paths: Sequence[Path]) -> list[Path]:
    """The CSV files that these name: themselves, or those in a folder or in its folder `sheets`.

    Raises UserError where a path is missing or a folder holds none.
    """
    files: dict[Path, Path] = {}
    for path in paths:
        found = [path]
        if path.is_dir():
            found = sorted(path.glob("*.csv")) or sorted(path.glob("sheets/*.csv"))
            if not found:
                raise UserError(f"{path}: no CSV file in it; give the sheets that raters filled in")
        elif not path.exists():
            raise UserError(f"{path}: no such file; give the sheets that raters filled in")
        files.update({real_path(file): file for file in found})
    return list(files.values())


def read_ratings(files: Sequence[Path], key: ReviewKey) -> Ratings:
    """The ratings in filled-in sheets.

    Raises UserError, naming file and line, for an id that the key does not have, one that was rated before, and a
    value that the question does not have; and where there is no rating at all.
    """
    seen: dict[str, SheetLine] = {}
    raters = set()
    codes = {question.name: np.full((len(key.items), key.raters), MISSING, np.int64) for question in key.questions}
    comments: dict[tuple[int, int], str] = {}
    rows = Ledger()
    for file in files:
        for row in read_sheet(file, key.questions):
            rows.take()
            if row.id not in key.ids:
                row.line.fail(f"unknown id {row.id!r}: it is on no sheet of this {NAME}; is it another review's sheet?")
            if row.id in seen:
                first = seen[row.id]
                row.line.fail(
                    f"id {row.id!r} stands already in {first.path}, line {first.number}; take one of them out"
                )
            seen[row.id] = row.line
            rater, position = key.ids[row.id]
            raters.add(rater)
            for question in key.questions:
                if question.name in row.ratings:
                    value = row.ratings[question.name]
                    codes[question.name][position, rater - 1] = question.values.index(value)
            if not row.ratings:
                rows.leave("without a rating")
            if row.comment:
                comments[position, rater] = row.comment
    if not any((coded != MISSING).any() for coded in codes.values()):
        raise UserError(
            f"no rating in {', '.join(map(str, files))}: every cell is empty; give sheets that are filled in"
        )
    rated = np.stack([coded != MISSING for coded in codes.values()]).any(axis=0)
    rows.use(int(np.count_nonzero(rated)))
    rows.check(", ".join(map(str, files)))
    present = sorted(raters)
    columns = np.array(present) - 1
    return Ratings(key, tuple(present), {name: coded[:, columns] for name, coded in codes.items()}, comments, rows)


def read_sheet(path: Path, questions: Sequence[Question]) -> Iterator[RatedRow]:
    """The rows of one file. Raises UserError naming file and line where it is not a sheet with these questions."""
    names = [question.name for question in questions]
    text = _text(path)
    columns: dict[str, int] | None = None
    for line, cells in _rows(path, text, _delimiter(text, names)):
        if columns is None:
            columns = _columns(line, cells, names)
        elif any(cell.strip() for cell in cells):
            yield _row(line, cells, columns, questions)
    if columns is None:
        raise UserError(f"{path}: no headings; the first line of a sheet is {', '.join([ID, *names])}")


def _row(line: SheetLine, cells: Sequence[str], columns: Mapping[str, int], questions: Sequence[Question]) -> RatedRow:
    def cell(name: str) -> str:
        place = columns.get(name, len(cells))
        return plain_cell(cells[place].strip()) if place < len(cells) else ""

    if not cell(ID):
        line.fail(f"no {ID}; every row needs the one it was given")
    found = {question.name: _value(line, question, cell(question.name)) for question in questions}
    ratings = {name: value for name, value in found.items() if value is not None}
    return RatedRow(line, cell(ID), ratings, cell(COMMENT))


def _value(line: SheetLine, question: Question, given: str) -> str | None:
    """The question's value that a cell means: as it stands, else whatever its case, else as a number (`4,0` is 4)."""
    if not given:
        return None
    for reading in (str.strip, _folded, _number):
        same = [value for value in question.values if reading(value) == reading(given)]
        if len(same) == 1:
            return same[0]
    return line.fail(f"{question.name} {given!r}: give one of {', '.join(question.values)}, or leave the cell empty")


def _folded(text: str) -> str:
    return text.strip().casefold()


def _number(text: str) -> float | str:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text


def _columns(line: SheetLine, cells: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    headings = [plain_cell(cell.strip()).casefold() for cell in cells]
    wanted = [name for name in (ID, *names, COMMENT) if name in headings]
    for name in (ID, *names):
        if name not in wanted:
            line.fail(f"no column {name!r}; the headings must be as on the sheet that was handed out")
    for name in wanted:
        if headings.count(name) > 1:
            line.fail(f"two columns are called {name!r}; take one of them out")
    return {name: headings.index(name) for name in wanted}


def _text(path: Path) -> str:
    data = read_bytes(path)
    try:
        text, _ = decode_text(data)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise UserError(f"{path}: not a text file; save the sheet as CSV (UTF-8)")
    return text


def _delimiter(text: str, names: Sequence[str]) -> str:
    """The delimiter under which the first line has the most of the headings."""
    first = next((line for line in text.splitlines() if line.strip()), "").casefold()
    if first.startswith("sep=") and len(first) == len("sep=;"):
        return first[-1]
    wanted = {ID, *names}

    def headings(delimiter: str) -> int:
        return len(wanted & {plain_cell(cell.strip().strip('"')) for cell in first.split(delimiter)})

    return max(_DELIMITERS, key=headings)


def _rows(path: Path, text: str, delimiter: str) -> Iterator[tuple[SheetLine, list[str]]]:
    """Rows with the line on which each begins, without blank lines and a first line `sep=;`."""
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    begins = 1
    try:
        for cells in reader:
            declares = begins == 1 and "".join(cells).casefold() == "sep=" and len(cells) == 2
            if cells and not declares:
                yield SheetLine(path, begins), cells
            begins = reader.line_num + 1
    except csv.Error as error:
        raise UserError(
            f"{path}, line {begins}: not CSV: {csv_fault(error)}; correct the line, or copy the sheet again"
        ) from error
