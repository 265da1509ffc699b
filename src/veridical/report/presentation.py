"""How the results of one kind of suite are shown: what a measure set names and terminal, page and figures read.

A suite without a presentation of its own is shown by `GENERIC`: a row a measure, no figures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from veridical.judge.registry import measure_set
from veridical.report.labels import GENERIC_LABELS, MeasureLabels
from veridical.report.results import Results

if TYPE_CHECKING:
    from rich.console import RenderableType

    from veridical.items import Suite
    from veridical.report.text_table import TextTable

Specification = dict[str, Any]
"""A Vega-Lite specification."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the page. `draw` gives None where the measures cannot fill it.

    `draw` is given the results and the number of parameters by model, where known. `place` is before or after the
    tables of results; `shape` is a class of the page's style.
    """

    draw: Callable[[Results, Mapping[str, int]], Specification | None]
    caption: str
    place: Literal["before", "after"] = "before"
    shape: str = ""


TerminalTables = Callable[["Suite", Results, int], "Iterable[RenderableType]"]
"""The tables of a suite's results for the terminal, at most so many columns wide."""


def _no_remarks(_: Results) -> Sequence[str]:
    return ()


def _no_tables(_: Results) -> Sequence[TextTable]:
    return ()


@dataclass(frozen=True, slots=True)
class Presentation(MeasureLabels):
    """What is shown of a suite's results, and where: the labels of its measures, its tables and figures.

    `terminal` makes the tables of the terminal, one row a measure where None. `figures` is where a mapping of names to
    `Figure` is, `module:attribute`, imported when something is drawn. `text_tables` are further tables of the page,
    `remarks` sentences below them, after `remarks_lead`.
    """

    terminal: TerminalTables | None = None
    figures: str = ""
    text_tables: Callable[[Results], Sequence[TextTable]] = _no_tables
    remarks: Callable[[Results], Sequence[str]] = _no_remarks
    remarks_lead: str = ""

    def load_figures(self) -> Mapping[str, Figure]:
        """The figures by name. Imports Altair, which takes half a second."""
        if not self.figures:
            return {}
        module, attribute = self.figures.split(":")
        found: Mapping[str, Figure] = getattr(import_module(module), attribute)
        return found


GENERIC = Presentation(compared=GENERIC_LABELS.compared, tested=GENERIC_LABELS.tested)


def presentation_of(measures: str) -> Presentation:
    """The presentation that a measure set names, `GENERIC` where it names none.

    Raises UserError for a measure set that there is not.
    """
    named = measure_set(measures).presentation
    if not named:
        return GENERIC
    module, attribute = named.split(":")
    found: Presentation = getattr(import_module(module), attribute)
    return found
