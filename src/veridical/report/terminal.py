"""The tables that a run prints: at most 100 columns, legible without colour.

Where a table does not fit, columns go in a stated order (label mass, the count of what is not ok, the groups
beyond A to D) and then the intervals; a line below says what was left out. The page has it all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.constrain import Constrain
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from veridical.errors import printable
from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.report.comparisons import AGREEMENT, LEADING, Comparison, comparisons
from veridical.report.comparisons import columns as contrast_columns
from veridical.report.plain import plain
from veridical.report.results import Answering, Results, contrast_name
from veridical.report.texts import (
    GROUPS,
    estimate,
    level,
    measure_label,
    not_ok,
    number,
    signed,
    slice_label,
    spaced,
    status_list,
)

WIDTH = 100
LONGEST = 40
"""Rows of the generic table: beyond it, what is sliced is left to the page."""

Lookup = Callable[[Answering], Measure | None]


@dataclass(frozen=True, slots=True)
class Column:
    """A column over answerings: its heading and what stands in it.

    `short` is what stands there once intervals are left out. Columns of a `drop` above 0 may go, 1 first.
    `gap` is the least number of spaces before it.
    """

    heading: str
    cell: Callable[[Answering], str]
    short: Callable[[Answering], str] | None = None
    drop: int = 0
    gap: int = 2


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its name and whose measures stand in it. Without an answering it is a heading, or a rule."""

    name: str
    answering: Answering | None = None

    @property
    def dim(self) -> bool:
        return self.answering is not None and self.answering.reference


RULE = Row("")


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything a run prints about its measures; it takes its console's width. Names are no markup."""

    suites: tuple[Suite, ...]
    measures: tuple[Measure, ...]
    verdicts: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDTH)
        parts: list[RenderableType] = []
        for suite in self.suites:
            results = Results.of(self.measures, printable(suite.name))
            if results.index:
                parts += _suite(suite, results, width)
        for verdict in self.verdicts:
            parts += [Text(), Text(verdict)]
        yield from console.render(Constrain(Group(*parts), width), options.update(markup=False))


def render(suites: Iterable[Suite], measures: Iterable[Measure], verdicts: Iterable[str] = ()) -> Tables:
    """The tables of these measures and the verdicts below them, for `rich.console.Console.print`."""
    return Tables(tuple(suites), tuple(map(plain, measures)), tuple(map(printable, verdicts)))


def _suite(suite: Suite, results: Results, width: int) -> Iterable[RenderableType]:
    yield Text()
    heading = f"{suite.name} {suite.version}: {len(suite.items):,} items, {len(suite.grouping().sets()):,} sets"
    yield Text(printable(heading), style="bold")
    if not results.imperfective:
        yield from _generic(results, width)
        yield from _agreement(results)
        return
    yield from _answer_table(_imperfective_columns(results), _rows(results, results.references), width)
    yield Text(_legend(results), style="dim")
    yield from _classes(results, width)
    yield from _contrasts(results, width)
    yield from _agreement(results)


def _estimates(heading: str, lookup: Lookup) -> Column:
    return Column(heading, lambda a: estimate(lookup(a)), lambda a: number(_value(lookup(a))))


def _imperfective_columns(results: Results) -> list[Column]:
    def accuracy(group: str) -> Column:
        heading = spaced(group) if len(group) <= 9 else f"{group[:5]}."
        extra = len(group) > 1
        return Column(
            heading,
            lambda a: number(_value(results.get(a, "accuracy", group=group))),
            drop=3 if extra else 0,
            gap=1,
        )

    return [
        *(accuracy(group) for group in results.groups),
        _estimates("TBR", lambda a: results.whole(a, "tbr")),
        _estimates("gap ΔAA", lambda a: results.whole(a, "aspectual_awareness_gap")),
        Column("mass", lambda a: "" if a.constant else number(_value(results.whole(a, "label_mass"))), drop=1),
        Column("not ok", lambda a: "" if a.constant else str(not_ok(results.statuses(a))), drop=2),
    ]


def _value(measure: Measure | None) -> float | None:
    return None if measure is None else measure.value


def _rows(results: Results, references: Sequence[Answering]) -> list[Row]:
    """Prompts under their model; below a rule, what stands for comparison."""
    rows: list[Row] = []

    def block(answerings: Iterable[Answering]) -> None:
        heading = ""
        for answering in answerings:
            own = results.heading(answering)
            if own != heading:
                rows.append(Row(own))
                heading = own
            rows.append(Row(f"  {answering.asked}", answering))

    block(results.answers)
    if references:
        rows.append(RULE)
        rows += [Row(results.name(a), a) for a in references if a.constant]
        block(a for a in references if not a.constant)
    return rows


def _answer_table(columns: Sequence[Column], rows: Sequence[Row], width: int) -> Iterable[RenderableType]:
    """A row an answering; headings stand over whole blocks, so that a model's long name costs no width."""
    kept, left_out = _fit(columns, rows, width)
    widths = [_width(column, rows) for column in kept]
    names = [cell_len(row.name) for row in rows if row.answering]
    first = max(8, min(max(names, default=8), width - sum(widths)))
    table: Table | None = _grid(kept, widths, first, "prompt", header=True)
    for row in rows:
        if row.answering is None:
            if table is not None:
                yield table
                table = None
            line = "─" * min(width, first + sum(widths))
            yield Text(line, style="dim") if row is RULE else Text(row.name, style="bold")
            continue
        table = table or _grid(kept, widths, first, "", header=False)
        answering = row.answering
        name = Padding(row.name.lstrip(), (0, 0, 0, len(row.name) - len(row.name.lstrip())))
        cells = (column.cell(answering) for column in kept)
        table.add_row(name, *cells, style="dim" if row.dim else None)
    if table is not None:
        yield table
    if left_out:
        yield Text(f"Left out at this width: {', '.join(left_out)}.", style="dim")


def _width(column: Column, rows: Iterable[Row]) -> int:
    cells = [column.heading, *(column.cell(row.answering) for row in rows if row.answering)]
    return max(map(cell_len, cells)) + column.gap


def _fit(columns: Sequence[Column], rows: Sequence[Row], width: int) -> tuple[list[Column], list[str]]:
    """The columns that fit beside the rows' names, and what had to be left out."""
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


def _grid(columns: Sequence[Column], widths: Sequence[int], first: int, heading: str, *, header: bool) -> Table:
    table = Table(box=box.SIMPLE_HEAD if header else None, show_header=header, padding=0, pad_edge=False)
    table.show_edge = False
    table.add_column(heading, width=first, overflow="fold")
    for column, width in zip(columns, widths, strict=True):
        table.add_column(column.heading, width=width - 1 if header else width, justify="right", no_wrap=True)
    return table


def _legend(results: Results) -> str:
    groups = ", ".join(f"{g} {GROUPS[g]}" if len(g) == 1 else g for g in results.groups if g in GROUPS)
    percent = next((level(m) for m in results.measures if m.level is not None), "")
    lines = [f"Accuracy by group: {groups}."]
    if percent:
        lines.append(f"Intervals: {percent}.")
    missing = [
        f"{results.name(answering, model=True)}: {status_list(statuses)}"
        for answering in (*results.answers, *results.references)
        if not_ok(statuses := results.statuses(answering))
    ]
    if missing:
        lines.append(f"Not ok: {'; '.join(missing)}.")
        lines += [line for answering in results.answers if (line := _bounds(results, answering))]
    sizes = {a: len_ for a in results.answers if (len_ := sum(results.statuses(a).values()))}
    if fewer := [a for a in sizes if sizes[a] < max(sizes.values())]:
        parts = [f"{results.name(a, model=True)} {sizes[a]:,} items" for a in fewer]
        lines.append(f"Not all rows are over the same items: {'; '.join(parts)}; the others {max(sizes.values()):,}.")
    return "\n".join(lines)


def _bounds(results: Results, answering: Answering) -> str:
    """What the rates could be, whatever the answers that are missing would have been."""
    if not not_ok(results.statuses(answering)):
        return ""
    named = [(group, results.get(answering, "accuracy", group=group)) for group in results.groups]
    named += [(name, results.whole(answering, key)) for name, key in _BOUNDED]
    ranges = [
        f"{name} {number(measure.bound_low)} to {number(measure.bound_high)}"
        for name, measure in named
        if measure is not None and measure.bound_low is not None and measure.bound_low != measure.bound_high
    ]
    return f"Bounds, {results.name(answering, model=True)}: {', '.join(ranges)}." if ranges else ""


_BOUNDED = (("TBR", "tbr"), ("gap", "aspectual_awareness_gap"))


def _classes(results: Results, width: int) -> Iterable[RenderableType]:
    classes = results.classes()
    if not classes:
        return

    def column(verb_class: str) -> Column:
        return _estimates(spaced(verb_class), lambda a: results.get(a, "tbr", verb_class=verb_class))

    yield Text()
    yield Text("TBR by verb class", style="bold")
    # A constant answer is the same in every class.
    references = [reference for reference in results.references if not reference.constant]
    yield from _answer_table([column(name) for name in classes], _rows(results, references), width)


def _contrasts(results: Results, width: int) -> Iterable[RenderableType]:
    """Prompts and models compared; what else is compared is in the page."""
    rows = comparisons(results)
    keys = [(key, heading) for key, heading in contrast_columns(rows) if key in LEADING]
    rows = [row for row in rows if any(key in row.cells for key, _ in keys)]
    if not rows:
        return

    def texts(row: Comparison, *, interval: bool) -> list[str]:
        measures = [row.cells[key].measure if key in row.cells else None for key, _ in keys]
        return [estimate(m) if interval else signed(_value(m)) for m in measures]

    def widths(*, interval: bool) -> list[int]:
        cells = zip(*(texts(row, interval=interval) for row in rows), strict=True)
        return [max(map(cell_len, (heading, *c))) + 2 for (_, heading), c in zip(keys, cells, strict=True)]

    names = max(cell_len(row.name) for row in rows) + 2
    wide = min(names, 24) + sum(widths(interval=True)) <= width
    sizes = widths(interval=wide)
    first = max(8, min(names, width - sum(sizes)))
    shown = [Column(heading, lambda _: "") for _, heading in keys]
    yield Text()
    yield Text("Differences", style="bold")
    yield _grid(shown, sizes, first, "", header=True)
    for heading, block in groupby(rows, key=lambda row: row.heading):
        yield Text(heading, style="bold")
        table = _grid(shown, sizes, first, "", header=False)
        for row in block:
            table.add_row(Padding(row.name, (0, 0, 0, 2)), *texts(row, interval=wide))
        yield table
    if not wide:
        yield Text("Left out at this width: intervals.", style="dim")


def _agreement(results: Results) -> Iterable[RenderableType]:
    """How often every two models give the same label, whatever is right."""
    rows = [(row, row.cells[AGREEMENT].measure) for row in comparisons(results) if AGREEMENT in row.cells]
    if not rows:
        return
    yield Text()
    yield Text("Agreement: share of items with the same label", style="bold")
    for heading, block in groupby(rows, key=lambda pair: pair[0].heading):
        yield Text(heading, style="bold")
        table = Table.grid(padding=(0, 2))
        table.add_column(overflow="fold")
        table.add_column(justify="right", no_wrap=True)
        for _, measure in block:
            table.add_row(Padding(contrast_name(measure), (0, 0, 0, 2)), estimate(measure))
        yield table


def _generic(results: Results, width: int) -> Iterable[RenderableType]:
    """A row a measure: for suites whose measures have no table of their own."""
    order = (*results.answers, *results.references)
    rows = [(a, m) for a in order for (other, _, _), m in results.index.items() if other == a]
    shown = rows if len(rows) <= LONGEST else [(a, m) for a, m in rows if not m.slice]
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), width=width)
    table.add_column("answered by", ratio=2, overflow="fold")
    table.add_column("measure", ratio=3, overflow="fold")
    for heading in ("value", "sets", "not ok"):
        table.add_column(heading, justify="right", no_wrap=True)
    before = None
    for answering, measure in shown:
        name = results.name(answering, model=True) if answering != before else ""
        before = answering
        what = f"{measure_label(measure.measure)} {slice_label(measure.slice)}".rstrip()
        cells = (name, what, estimate(measure), str(measure.n_sets), str(not_ok(measure.statuses)))
        table.add_row(*cells, style="dim" if answering.reference else None)
    yield table
    if len(shown) < len(rows):
        yield Text(f"{len(rows) - len(shown)} measures by slice are in the page.", style="dim")
