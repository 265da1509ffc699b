"""The tables that a run prints: at most 100 columns, legible without colour.

Where a table does not fit, columns go in a stated order (label mass, the count of what is not ok, the groups
beyond A to D) and then the intervals; a line below says what was left out. The page has it all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from veridical.report.answer_table import Column, answer_rows, answer_table, estimates, grid, not_ok_line, value_of
from veridical.report.benchmark_table import benchmark_table
from veridical.report.comparisons import AGREEMENT, LEADING, OVER_SETS, Comparison, Key, comparisons
from veridical.report.comparisons import columns as contrast_columns
from veridical.report.evidence_table import evidence_table, is_evidence
from veridical.report.merge_table import is_merge, merge_table
from veridical.report.plain import plain
from veridical.report.results import Answering, Results, contrast_name
from veridical.report.text_table import terminal_table
from veridical.report.texts import (
    GROUPS,
    disagreement,
    estimate,
    level,
    measure_label,
    not_ok,
    number,
    p_value,
    signed,
    slice_label,
    spaced,
)
from veridical.stats.interval import FEWEST_CLUSTERS, TOO_FEW
from veridical.suites.imperfective.class_table import class_tables

WIDTH = 100
LONGEST = 40
"""Rows of the generic table: beyond it, what is sliced is left to the page."""


@dataclass(frozen=True, slots=True)
class Tables:
    """Everything a run prints about its measures; it takes its console's width. Names are no markup."""

    suites: tuple[Suite, ...]
    measures: tuple[Measure, ...]
    verdicts: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = min(options.max_width, WIDTH)
        parts: list[RenderableType] = [Text(notice, style="bold") for notice in self.notices]
        for suite in self.suites:
            results = Results.of(self.measures, printable(suite.name))
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
    if not results.imperfective:
        if suite.measures == "benchmark":
            yield from benchmark_table(results, width, suite.normalisation)
        else:
            table = merge_table if is_merge(results) else evidence_table if is_evidence(results) else _generic
            yield from table(results, width)
            if table is _generic:
                yield from _contrasts(results, width, OVER_SETS)
                yield from _tests(results)
        yield from _agreement(results)
        return
    yield from answer_table(_imperfective_columns(results), answer_rows(results, results.references), width)
    yield Text(_legend(results), style="dim")
    yield from _classes(results, width)
    for class_table in class_tables(results) if len(results.models) > 1 else ():
        yield from terminal_table(class_table)
    yield from _contrasts(results, width)
    yield from _agreement(results)


def _imperfective_columns(results: Results) -> list[Column]:
    def accuracy(group: str) -> Column:
        heading = spaced(group) if len(group) <= 9 else f"{group[:5]}."
        extra = len(group) > 1
        return Column(
            heading,
            lambda a: number(value_of(results.get(a, "accuracy", group=group))),
            drop=3 if extra else 0,
            gap=1,
        )

    return [
        *(accuracy(group) for group in results.groups),
        estimates("TBR", lambda a: results.whole(a, "tbr")),
        estimates("gap ΔAA", lambda a: results.whole(a, "aspectual_awareness_gap")),
        Column("mass", lambda a: "" if a.constant else number(value_of(results.whole(a, "label_mass"))), drop=1),
        Column("not ok", lambda a: "" if a.constant else str(not_ok(results.statuses(a))), drop=2),
    ]


def _legend(results: Results) -> str:
    groups = ", ".join(f"{g} {GROUPS[g]}" if len(g) == 1 else g for g in results.groups if g in GROUPS)
    percent = next((level(m) for m in results.measures if m.level is not None), "")
    lines = [f"Accuracy by group: {groups}."]
    if percent:
        lines.append(f"Intervals: {percent}.")
    if line := not_ok_line(results):
        lines.append(line)
        lines += [told for answering in results.answers if (told := _bounds(results, answering))]
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
        return estimates(spaced(verb_class), lambda a: results.get(a, "tbr", verb_class=verb_class))

    yield Text()
    yield Text("TBR by verb class", style="bold")
    # A constant answer is the same in every class.
    references = [reference for reference in results.references if not reference.constant]
    yield from answer_table([column(name) for name in classes], answer_rows(results, references), width)


def _tests(results: Results) -> Iterable[RenderableType]:
    """The p-values of differences over sets, where sets have more than one item, and over items elsewhere."""
    for row in comparisons(results):
        key = next((key for key in reversed(OVER_SETS) if key in row.cells), None)
        difference = row.cells[key] if key else None
        if key and difference and difference.measure.p is not None:
            shown = f"{row.name}, {measure_label(key[0]).lower()}: p {p_value(difference.measure.p)}"
            if difference.adjusted is not None and difference.adjusted.p != difference.measure.p:
                shown += f", Holm {p_value(difference.adjusted.p)}"
            yield Text(f"{shown}; null: {difference.measure.null}", style="dim")
            if why := disagreement(difference.measure):
                yield Text(f"  {why}", style="dim")


def _contrasts(results: Results, width: int, leading: Sequence[Key] = LEADING) -> Iterable[RenderableType]:
    """Prompts and models compared; what else is compared is in the page."""
    rows = comparisons(results)
    keys = [(key, heading) for key, heading in contrast_columns(rows) if key in leading]
    rows = [row for row in rows if any(key in row.cells for key, _ in keys)]
    if not rows:
        return

    def texts(row: Comparison, *, interval: bool) -> list[str]:
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
        what = f"{measure_label(measure.measure)} {slice_label(measure.slice)}".rstrip()
        cells = (name, what, estimate(measure), str(measure.n_sets), str(not_ok(measure.statuses)))
        table.add_row(*cells, style="dim" if answering.reference else None)
    yield table
    if few := max((m.n_sets for _, m in shown if (m.interval or "").startswith(TOO_FEW)), default=0):
        yield Text(f"{TOO_FEW[0].upper()}{TOO_FEW[1:]}: up to {few}, and {FEWEST_CLUSTERS} are needed.")
    if len(shown) < len(rows):
        yield Text(f"{len(rows) - len(shown)} measures by slice are in the page.", style="dim")
