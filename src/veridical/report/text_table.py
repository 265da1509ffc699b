"""A table whose cells are texts, for the page and the terminal alike."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text


@dataclass(frozen=True, slots=True)
class TextTable:
    """A title, a sentence on what the cells are, headings, and rows that begin with their name."""

    title: str
    caption: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def terminal_table(table: TextTable) -> Iterable[RenderableType]:
    """The table as the terminal prints it."""
    yield Text()
    yield Text(table.title, style="bold")
    printed = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for place, heading in enumerate(table.headings):
        printed.add_column(heading, justify="left" if place == 0 else "right", overflow="fold")
    for row in table.rows:
        printed.add_row(*map(Text, row))
    yield printed
    yield Text(table.caption, style="dim")
