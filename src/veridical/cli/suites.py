"""`veridical suites`: what can be asked."""

from __future__ import annotations


def command() -> None:
    """List the built-in suites: items, sets, prompts, licence."""
    from rich import box
    from rich.table import Table

    from veridical.cli.console import results
    from veridical.suites.registry import list_suites

    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for heading in ("suite", "version", "items", "sets", "prompts", "licence"):
        number = heading in ("items", "sets")
        table.add_column(heading, justify="right" if number else "left", overflow="fold")
    for suite in list_suites():
        table.add_row(
            suite.name,
            suite.version,
            f"{suite.items:,}",
            f"{suite.sets:,}",
            ", ".join(suite.prompts),
            suite.licence,
        )
    results().print(table)
