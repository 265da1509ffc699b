"""A table with a row an answering, for the terminal: what does not fit goes in a stated order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from rich import box
from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from veridical.judge.measure import Measure
from veridical.report.results import AnsweringKey, Results
from veridical.report.texts import estimate, not_ok, status_list
from veridical.wording import number

Lookup = Callable[[AnsweringKey], Measure | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column over answerings: its heading and what stands in it.

    `short` is what stands there once intervals are left out. Columns of a `drop` above 0 may go, 1 first.
    `gap` is the least number of spaces before it.
    """

    heading: str
    cell: Callable[[AnsweringKey], str]
    short: Callable[[AnsweringKey], str] | None = None
    drop: int = 0
    gap: int = 2


@dataclass(frozen=True, slots=True)
class AnswerRow:
    """A row: its name and whose measures stand in it. Without an answering it is a heading, or a rule."""

    name: str
    answering: AnsweringKey | None = None

    @property
    def dim(self) -> bool:
        """Whether the row is dimmed: a baseline, not a model."""
        return self.answering is not None and self.answering.reference


RULE = AnswerRow("")


def estimates(heading: str, lookup: Lookup) -> Column:
    """A column of values with their intervals."""
    return Column(heading, lambda a: estimate(lookup(a)), lambda a: number(value_of(lookup(a))))


def value_of(measure: Measure | None) -> float | None:
    """The measure's value, None where either is missing."""
    return None if measure is None else measure.value


def answer_rows(results: Results, references: Sequence[AnsweringKey]) -> list[AnswerRow]:
    """Prompts under their model; below a rule, what stands for comparison."""
    rows: list[AnswerRow] = []

    def block(answerings: Iterable[AnsweringKey]) -> None:
        heading = ""
        for answering in answerings:
            own = results.heading(answering)
            if own != heading:
                rows.append(AnswerRow(own))
                heading = own
            rows.append(AnswerRow(f"  {answering.asked}", answering))

    block(results.answers)
    if references:
        rows.append(RULE)
        rows += [AnswerRow(results.name(a), a) for a in references if a.constant]
        block(a for a in references if not a.constant)
    return rows


def answer_table(
    columns: Sequence[Column], rows: Sequence[AnswerRow], width: int, named: str = "prompt"
) -> Iterable[RenderableType]:
    """A row an answering, its name under the heading `named`.

    Headings stand over whole blocks, so that a model's long name costs no width.
    """
    kept, left_out = _fit(columns, rows, width)
    widths = [_width(column, rows) for column in kept]
    names = [cell_len(row.name) for row in rows if row.answering]
    first = max(8, min(max(names, default=8), width - sum(widths)))
    table: Table | None = grid(kept, widths, first, named, header=True)
    for row in rows:
        if row.answering is None:
            if table is not None:
                yield table
                table = None
            line = "─" * min(width, first + sum(widths))
            yield Text(line, style="dim") if row is RULE else Text(row.name, style="bold")
            continue
        table = table or grid(kept, widths, first, "", header=False)
        answering = row.answering
        name = Padding(row.name.lstrip(), (0, 0, 0, len(row.name) - len(row.name.lstrip())))
        cells = (column.cell(answering) for column in kept)
        table.add_row(name, *cells, style="dim" if row.dim else None)
    if table is not None:
        yield table
    if left_out:
        yield Text(f"Left out at this width: {', '.join(left_out)}.", style="dim")


def _width(column: Column, rows: Iterable[AnswerRow]) -> int:
    cells = [column.heading, *(column.cell(row.answering) for row in rows if row.answering)]
    return max(map(cell_len, cells)) + column.gap


def _fit(columns: Sequence[Column], rows: Sequence[AnswerRow], width: int) -> tuple[list[Column], list[str]]:
    """The columns that fit next to the rows' names, and what had to be left out."""
    names = max((cell_len(row.name) for row in rows if row.answering), default=0)
    kept = list(columns)
    left_out: list[str] = []

    def too_wide() -> bool:
        return min(names, 24) + sum(_width(column, rows) for column in kept) > width

    for column in sorted((column for column in columns if column.drop), key=lambda column: column.drop):
        if too_wide():
            kept.remove(column)
            left_out.append(column.heading)
    if too_wide() and any(column.short for column in kept):
        kept = [replace(column, cell=column.short) if column.short else column for column in kept]
        left_out.append("intervals")
    return kept, left_out


def grid(columns: Sequence[Column], widths: Sequence[int], first: int, heading: str, *, header: bool) -> Table:
    """An empty table of these columns, after one of `first` characters for names."""
    table = Table(box=box.SIMPLE_HEAD if header else None, show_header=header, padding=0, pad_edge=False)
    table.show_edge = False
    table.add_column(heading, width=first, overflow="fold")
    for column, width in zip(columns, widths, strict=True):
        table.add_column(column.heading, width=width - 1 if header else width, justify="right", no_wrap=True)
    return table


def not_ok_line(results: Results) -> str:
    """Who has answers that are not ok, and of which status; empty where all are."""
    missing = [
        f"{results.name(answering, model=True)}: {status_list(statuses)}"
        for answering in (*results.answers, *results.references)
        if not_ok(statuses := results.statuses(answering))
    ]
    return f"Not ok: {'; '.join(missing)}." if missing else ""
