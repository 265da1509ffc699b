"""`veridical suites`: what can be asked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from veridical.cli.options import Json

if TYPE_CHECKING:
    from rich.table import Table


def command(json: Json = False) -> None:
    """List the suites and benchmarks that have a name: items, sets, prompts, licence."""
    from veridical.cli.console import print_json, results
    from veridical.suites.registry import list_suites

    listed = list_suites()
    if json:
        print_json({"schema": "veridical.suites/1", "suites": [asdict(suite) for suite in listed]})
        return
    own = [
        (suite.name, suite.version, f"{suite.items:,}", f"{suite.sets:,}", ", ".join(suite.prompts), suite.licence)
        for suite in listed
        if suite.items is not None
    ]
    benchmarks = [
        (suite.name, suite.version, ", ".join(suite.groupings), suite.licence)
        for suite in listed
        if suite.items is None
    ]
    console = results()
    console.print(_table(("suite", "version", "items", "sets", "prompts", "licence"), own))
    console.print("\nBenchmarks, which need your copy of their data (--data FILE or --data-dir DIR):\n")
    console.print(_table(("benchmark", "version", "sets by", "licence"), benchmarks))


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for place, heading in enumerate(headings):
        number = heading in ("items", "sets")
        table.add_column(heading, justify="right" if number else "left", overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*row)
    return table
