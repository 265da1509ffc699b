"""From the cells of a table's label column to labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from veridical.errors import UserError, excerpt, listed
from veridical.suites.tables.columns import LETTERS

MOST_LABELS = 50
"""A column of more different values holds something else, such as an answer in free text (ours)."""


def folded(text: str) -> str:
    """A label without what spreadsheets add: white space around and within it, and case."""
    return " ".join(text.split()).casefold()


def label_space(cells: Sequence[str], named: Sequence[str], where: str, notes: list[str]) -> Mapping[str, str]:
    """Labels by their folded spelling, in the order named, else sorted.

    Spellings that differ in case or white space are one label, in its commonest spelling, and a note says so.
    Raises UserError for more than `MOST_LABELS` values, for a single one, and for one that is not among those named.
    """
    counts: dict[str, Counter[str]] = {}
    for cell in cells:
        counts.setdefault(folded(cell), Counter())[" ".join(cell.split())] += 1
    if named:
        known = {folded(name): name for name in named}
        if len(known) < len(named):
            raise UserError("--choices: two labels differ in case or white space alone")
        if stray := [next(iter(found)) for name, found in counts.items() if name not in known]:
            raise UserError(f"{where}: {listed(stray, 5)}: not among the labels of --choices ({listed(named)})")
        if unused := [name for name in named if folded(name) not in counts]:
            notes.append(f"{where}: no row has the label {listed(unused)}")
    else:
        if len(counts) > MOST_LABELS:
            raise UserError(
                f"{where}: {len(counts):,} different values, more than {MOST_LABELS}: name the column of the label "
                "with --label-column, or the columns of each item's options with --choices"
            )
        known = {name: counts[name].most_common(1)[0][0] for name in sorted(counts)}
    if len(known) < 2:
        raise UserError(f"{where}: every row says {next(iter(known.values()))!r}: name all labels with --choices A,B")
    joined = {known[name]: sorted({*found} - {known[name]}) for name, found in counts.items()}
    for label, others in joined.items():
        if others:
            notes.append(f"{where}: {', '.join(map(repr, others))} read as {label!r}")
    return known


def option_golds(rows: Sequence[tuple[str, str, Sequence[str]]], column: str, notes: list[str]) -> list[str]:
    """The letter of the right option of each row, given (place, label cell, options).

    A cell is a letter, the text of an option, or a number; numbers count from 0 where one is 0, from 1 where one is
    the number of options. Raises UserError where they could do either, and for a cell that is none of these.
    """
    numbers = [
        (int(cell), len(options)) for _, cell, options in rows if cell.isascii() and cell.isdigit() and len(cell) < 4
    ]
    counted = len(numbers) == len(rows) and any(cell not in options for _, cell, options in rows)
    first = 0
    if counted:
        zero, top = any(number == 0 for number, _ in numbers), any(number >= many for number, many in numbers)
        if zero == top:
            fault = "0 and the number of options both occur" if zero else "they may count from 0 or from 1"
            raise UserError(f"column {column!r}: numbers of options, and {fault}: write letters (A, B) in their place")
        first = 0 if zero else 1
        notes.append(f"column {column!r} numbers the options from {first}")
    golds = []
    for where, cell, options in rows:
        if counted:
            place = int(cell) - first
        else:
            texts = [place for place, option in enumerate(options) if folded(option) == folded(cell)]
            place = texts[0] if texts else LETTERS.find(cell.upper()) if len(cell) == 1 else -1
        if not 0 <= place < len(options):
            raise UserError(f"{where}, column {column!r}: {excerpt(cell)!r} is neither an option's letter nor its text")
        golds.append(LETTERS[place])
    return golds
