"""Tables of text with a header: CSV, TSV and their kin, whatever separates the cells."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from veridical.errors import UserError
from veridical.files.binary_file import read_bytes
from veridical.files.encodings import FALLBACK, decode_text, marked_encoding
from veridical.files.syntax_faults import csv_fault
from veridical.files.text_file import decoded
from veridical.suites.commonsense.row import LONGEST_NAME, shortened

DELIMITERS = ",\t;|"
_NAMES_IT = "sep="
"""What spreadsheet programs put before the header to name the delimiter."""


def read_table(path: Path, usual: str, notes: list[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows under the header with their places, blank ones left out.

    `usual` is the delimiter that the file's name stands for.

    The delimiter is what a line `sep=;` names, else whichever gives the header most columns. What is worth knowing of
    how the file was read is added to `notes`. Raises UserError where it is not such a table.
    """
    text = _text(path, notes)
    delimiter, skipped = _delimiter(text, usual)
    if delimiter != usual:
        notes.append(f"{path}: read with {delimiter!r} between cells")
    # Cells may hold line breaks: the line reported is the one on which the row ends.
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        header = [name.strip() for name in next(line for line in lines if lines.line_num > skipped and any(line))]
        named = [name for name in header if name]  # spreadsheet programs leave columns without a name at the end
        if len(set(named)) < len(named):
            twice = next(name for place, name in enumerate(named) if name in named[:place])
            raise UserError(f"{path}, line {lines.line_num}: two columns are called {shortened(twice, LONGEST_NAME)!r}")
        for cells in lines:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                raise UserError(f"{path}, line {lines.line_num}: {len(cells)} cells for {len(header)} columns")
            yield f"line {lines.line_num}", dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise UserError(f"{path}, line {lines.line_num}: not a table: {csv_fault(error)}") from error
    except StopIteration as error:
        raise UserError(f"{path}: no rows") from error


def _text(path: Path, notes: list[str]) -> str:
    data = read_bytes(path)
    try:
        text, encoding = decode_text(data)
    except UnicodeDecodeError as error:
        if wide := marked_encoding(data).removesuffix("-sig").upper().replace("UTF-8", ""):
            raise UserError(f"{path}: begins as {wide} text does, and is none; save it as UTF-8") from error
        return decoded(path, data)  # which says what is wrong, and where
    if not text.strip() or "\0" in text:
        return decoded(path, data)
    if encoding == FALLBACK:
        notes.append(f"{path}: not UTF-8; read as {FALLBACK}")
    return text


def _delimiter(text: str, usual: str) -> tuple[str, int]:
    """The delimiter, and how many lines stand before the header."""
    first = next((line for line in text.splitlines() if line.strip()), "")
    named = first.strip().strip('"').casefold()
    if named.startswith(_NAMES_IT) and len(named) == len(_NAMES_IT) + 1:
        return named[-1], text[: text.index(first)].count("\n") + 1
    return max((usual, *DELIMITERS), key=lambda one: len(next(csv.reader([first], delimiter=one), ()))), 0
