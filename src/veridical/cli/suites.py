"""`veridical suites`: what can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from veridical.suites.registry import SuiteSummary


def command() -> None:
    """List the suites and benchmarks by name: items, sets, prompts, licence."""
    from rich import box
    from rich.table import Table

    from veridical.cli.console import results
    from veridical.suites.registry import list_suites

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("suite", "version", "items", "sets", "prompts", "licence"):
        number = heading == "items"
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for suite in list_suites():
        table.add_row(
            suite.name,
            suite.version,
            suite.data if suite.items is None else f"{suite.items:,}",
            _sets(suite),
            ", ".join(suite.prompts),
            suite.licence,
        )
    results().print(table)


def _sets(suite: SuiteSummary) -> str:
    """`65 by verb`; of a benchmark, whose sets are not counted before they are read, what they are by."""
    by = ", ".join(name for name in suite.groupings if name != "item")
    return " by ".join(part for part in ("" if suite.sets is None else f"{suite.sets:,}", by) if part)
