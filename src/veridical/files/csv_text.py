"""CSV for people: every cell is quoted, and none begins with what a spreadsheet program would run as a formula.

The sign that keeps a cell from being run (an apostrophe, which spreadsheet programs take off themselves) is taken off
again on reading, so that what was written comes back.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

CsvValue = str | int | float | bool | None

_RUN = re.compile(r"'*[=+\-@\t\r\n\uFF1D\uFF0B\uFF0D\uFF20]")
"""How a text begins that would be run, or that was kept from it: the apostrophes are counted."""


def safe_cell(text: str) -> str:
    """The text as a cell that no spreadsheet program runs."""
    return f"'{text}" if _RUN.match(text) else text


def plain_cell(cell: str) -> str:
    """The text that `safe_cell` made this cell of."""
    return cell[1:] if cell.startswith("'") and _RUN.match(cell) else cell


def csv_text(rows: Iterable[Sequence[CsvValue]], line_end: str = "\n") -> str:
    """Rows as comma-separated values, every cell quoted. Numbers stay as they are; None is an empty cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator=line_end, quoting=csv.QUOTE_ALL)
    for row in rows:
        writer.writerow([safe_cell(cell) if isinstance(cell, str) else "" if cell is None else cell for cell in row])
    return buffer.getvalue()
