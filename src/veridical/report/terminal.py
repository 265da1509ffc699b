"""The tables that a run prints: at most 100 columns, legible without colour.

Where a table does not fit, columns go in a stated order (label mass, the count of what is not ok, the groups
beyond A to D) and then the intervals; a line below says what was left out. The page has it all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
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
from veridical.report.answer_table import Column, grid, value_of
from veridical.report.comparisons import AGREEMENT, AnsweringComparison, comparisons
from veridical.report.comparisons import columns as contrast_columns
from veridical.report.plain import plain
from veridical.report.presentation import presentation_of
from veridical.report.results import Results, contrast_name
from veridical.report.texts import disagreement, estimate, not_ok, slice_label
from veridical.stats.interval import FEWEST_CLUSTERS, TOO_FEW
from veridical.wording import p_value, signed

WIDTH = 100
LONGEST = 40
"""Rows of the generic table: beyond it, what is sliced is left to the page."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything a run prints about its measures; it takes its console's width. Names are not read as markup."""

    suites: tuple[Suite, ...]
    measures: tuple[Measure, ...]
    verdicts: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDTH)
        parts: list[RenderableType] = [Text(notice, style="bold") for notice in self.notices]
        for suite in self.suites:
            results = Results.of(self.measures, printable(suite.name), presentation_of(suite.measures))
            if results.index:
                parts += _suite(suite, results, width)
        for verdict in self.verdicts:
            parts += [Text(), Text(verdict)]
        yield from console.render(Constrain(Group(*parts), width), options.update(markup=False))


def render(
    suites: Iterable[Suite], measures: Iterable[Measure], verdicts: Iterable[str] = (), notices: Iterable[str] = ()
) -> Tables:
    """The tables of these measures, notices above and verdicts below them, for `rich.console.Console.print`."""
    parts = (tuple(map(printable, lines)) for lines in (verdicts, notices))
    return Tables(tuple(suites), tuple(map(plain, measures)), *parts)


def _suite(suite: Suite, results: Results, width: int) -> Iterable[RenderableType]:
    yield Text()
    heading = f"{suite.name} {suite.version}: {len(suite.items):,} items, {suite.n_sets:,} sets"
    yield Text(printable(heading), style="bold")
    shown = presentation_of(suite.measures)
    if suite.title and not shown.terminal:  # of an imported task it names the metric that says what is right
        yield Text(printable(suite.title), style="dim")
    yield from shown.terminal(suite, results, width) if shown.terminal else _generic(results, width)
    yield from _contrasts(results, width)
    if shown.tested:
        yield from _tests(results)
    yield from _agreement(results)


def _tests(results: Results) -> Iterable[RenderableType]:
    """The p-values of differences over sets, where sets have more than one item, and over items elsewhere."""
    for row in comparisons(results):
        key = next((key for key in reversed(results.labels.compared) if key in row.cells), None)
        difference = row.cells[key] if key else None
        if key and difference and difference.measure.p is not None:
            shown = f"{row.name}, {results.labels.label(key[0]).lower()}: p {p_value(difference.measure.p)}"
            if difference.adjusted is not None and difference.adjusted.p != difference.measure.p:
                shown += f", Holm {p_value(difference.adjusted.p)}"
            yield Text(f"{shown}; null: {difference.measure.null}", style="dim")
            if why := disagreement(difference.measure):
                yield Text(f"  {why}", style="dim")


def _contrasts(results: Results, width: int) -> Iterable[RenderableType]:
    """Prompts and models compared; what else is compared is in the page."""
    rows = comparisons(results)
    keys = [(key, heading) for key, heading in contrast_columns(results, rows) if key in results.labels.compared]
    rows = [row for row in rows if any(key in row.cells for key, _ in keys)]
    if not rows:
        return

    def texts(row: AnsweringComparison, *, interval: bool) -> list[str]:
        measures = [row.cells[key].measure if key in row.cells else None for key, _ in keys]
        return [estimate(m) if interval else signed(value_of(m)) for m in measures]

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
    yield grid(shown, sizes, first, "", header=True)
    for heading, block in groupby(rows, key=lambda row: row.heading):
        yield Text(heading, style="bold")
        table = grid(shown, sizes, first, "", header=False)
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
        what = f"{results.labels.label(measure.measure)} {slice_label(measure.slice)}".rstrip()
        cells = (name, what, estimate(measure), str(measure.n_sets), str(not_ok(measure.statuses)))
        table.add_row(*cells, style="dim" if answering.reference else None)
    yield table
    if few := max((m.n_sets for _, m in shown if m.reason == "too_few_units"), default=0):
        yield Text(f"Rows without an interval: {TOO_FEW} (up to {few}, and {FEWEST_CLUSTERS} are needed).")
    if len(shown) < len(rows):
        yield Text(f"{len(rows) - len(shown)} measures by slice are in the page.", style="dim")
