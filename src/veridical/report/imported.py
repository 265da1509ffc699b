"""What an import found, for the terminal: the harness's numbers and those recomputed from its log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from veridical.errors import printable
from veridical.runs.provenance import HarnessTask, Imported, Metric

Origin = tuple[Path, str, Imported]
MOST_FIELDS = 12
LONGEST = 60
"""Rows beyond which the table has only those whose numbers differ."""


def remarks(origins: Iterable[Origin]) -> Iterator[str]:
    """Lines on what a log lacks, and what is kept and not judged."""
    for folder, _, origin in origins:
        for task in origin.tasks:
            where = printable(f"{folder.name}, {task.suite}")
            for lack in task.lacks:
                yield f"{where}: {printable(lack)}"
            if not task.judged_by:
                yield f"{where}: kept, not judged: no score in the log is 0 or 1 for its answers"


def render(origins: Sequence[Origin]) -> RenderableType:
    """A table of metrics: as reported, and as they come out of the log."""
    several = len(origins) > 1
    parts: list[RenderableType] = [
        Text(printable(f"{model}: {notice}" if several else notice), "bold")
        for _, model, origin in origins
        for notice in origin.notices
    ]
    for folder, model, origin in origins:
        rows = [(task, metric) for task in origin.tasks for metric in task.metrics]
        shown = rows if len(rows) <= LONGEST else [row for row in rows if _notable(row[1])]
        n = sum(task.records for task in origin.tasks)
        parts.append(Text(printable(f"{model}: {n:,} answers from {origin.harness} {origin.version}".rstrip()), "bold"))
        if origin.account:
            parts.append(Text(printable(f"{origin.account}.")))
        if shown:
            parts.append(_table(shown))
        if len(shown) < len(rows):
            parts.append(Text(f"{len(rows) - len(shown):,} more metrics come out as reported.", style="dim"))
        if notes := list(dict.fromkeys(_note(metric) for _, metric in shown if _note(metric))):
            parts += [Text(note, style="dim") for note in notes]
        parts.append(Text(_next(folder, origin.tasks)))
    return Group(*parts)


def _notable(metric: Metric) -> bool:
    pair = (metric.reported, metric.recomputed if metric.recomputed is not None else metric.own)
    return metric.differing > 0 or (None not in pair and abs(pair[0] - pair[1]) > 1e-9)  # type: ignore[operator]


def _error(metric: Metric) -> str:
    """The harness's standard error, and Veridical's of the same scores."""
    if metric.stderr is None and metric.own_stderr is None:
        return ""
    reported, own = _number(metric.stderr) or "–", _number(metric.own_stderr) or "–"
    return reported if reported == own else f"{reported} /\n{own}"


NUMBERS = ("reported", "scores'\nmean", "stderr /\nfrom log", "recom-\nputed", "answers", "differ")


def _table(rows: Sequence[tuple[HarnessTask, Metric]]) -> Table:
    """A row a metric, below the name of its task; columns in which nothing stands are left out."""
    cells = [
        (
            _number(metric.reported),
            _number(metric.own),
            _error(metric),
            _number(metric.recomputed),
            f"{metric.n:,}",
            f"{metric.differing:,}" if metric.recomputed is not None or metric.differing else "",
        )
        for _, metric in rows
    ]
    kept = [place for place in range(len(NUMBERS)) if any(row[place] for row in cells)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    table.add_column("task\n  metric (of)", overflow="fold", vertical="bottom")
    for place in kept:
        table.add_column(NUMBERS[place], justify="right", no_wrap=True, vertical="bottom")
    last = ""
    for (task, metric), numbers in zip(rows, cells, strict=True):
        name = f"  {metric.metric} ({metric.reading})" if metric.reading else f"  {metric.metric}"
        named = printable(name) if task.suite == last else f"{printable(task.suite)}\n{printable(name)}"
        table.add_row(Text(named), *(numbers[place] for place in kept))
        last = task.suite
    return table


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _note(metric: Metric) -> str:
    return printable(f"{metric.metric}: not recomputed: {metric.reason}") if metric.reason else ""


def _next(folder: Path, tasks: Sequence[HarnessTask]) -> str:
    fields = list(dict.fromkeys(field for task in tasks for field in task.fields))
    more = f", … ({len(fields) - MOST_FIELDS} more)" if len(fields) > MOST_FIELDS else ""
    named = ", ".join(fields[:MOST_FIELDS]) + more
    return printable(f"Judge item sets: veridical judge {folder} --sets FIELD, with FIELD one of {named}")
