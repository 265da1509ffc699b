"""The page of criterion validity: one self-contained file, of the same parts as the page of a study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from veridical.files.writing import make_folder, replace
from veridical.report.html import frame_of_page, page_environment
from veridical.report.parts import script_json
from veridical.report.validity_limits import (
    DISATTENUATED,
    SENTENCES,
    alike_pairs,
    influential,
    rank_rows,
    shown_benchmarks,
    strongest,
)
from veridical.report.validity_tables import SIGNS, counted
from veridical.validity.inference import Span
from veridical.validity.results import Gain, Partial, Validity, VersionComparison
from veridical.validity.wording import amount, magnitude
from veridical.wording import span

if TYPE_CHECKING:
    from veridical.validity.analysis import Analysis

FRONT = 12
"""Sentences in front; the rest are folded away below them."""


@dataclass(frozen=True, slots=True)
class OutcomeSection:
    """What the page shows of one outcome.

    `gains` has a row for each benchmark that is listed and each baseline; `families` are all that any of them rests
    on, and `influence` the gains whose influence by family is listed.
    """

    index: int
    name: str
    axis: str
    gains: tuple[Gain, ...]
    benchmarks: int
    listed: int
    influence: tuple[Gain, ...]
    partials: tuple[Partial, ...]
    comparisons: tuple[VersionComparison, ...]
    families: tuple[str, ...]
    charts: tuple[str, ...]


def page(analysis: Analysis) -> str:
    """The page as one string."""
    from veridical.report.validity_charts import charts  # Altair takes half a second to import

    record = analysis.record
    specs = charts(analysis)
    return (
        page_environment()
        .get_template("validity.html.jinja")
        .render(
            record=record,
            front=record.verdicts[:FRONT],
            rest=record.verdicts[FRONT : FRONT + SENTENCES],
            unsaid=max(0, len(record.verdicts) - FRONT - SENTENCES),
            pairs=strongest(record.correlations),
            disattenuated=record.disattenuated[:DISATTENUATED],
            rank_rows=rank_rows(record),
            alike_pairs=alike_pairs(record),
            sections=list(_sections(record, specs)),
            charts=specs,
            flows=[(place, one) for place, one in enumerate(record.agreements)],
            ranked=[one for one in record.rankings if one.inseparable is not None],
            amount=amount,
            magnitude=magnitude,
            counted=counted(record),
            interval=interval,
            amounts=amounts,
            signs=SIGNS,
            **frame_of_page(drawn=bool(specs)),
            data=script_json({"charts": specs, "sets": []}),
            version=metadata.version("veridical"),
        )
    )


def _sections(record: Validity, specs: dict[str, Any]) -> Iterator[OutcomeSection]:
    for index, (name, axis) in enumerate(record.outcomes.items()):
        every = [one for one in record.gains if one.outcome == name]
        benchmarks = shown_benchmarks(every, len(record.outcomes))
        gains = [one for one in every if one.benchmark in benchmarks]
        families = tuple(dict.fromkeys(family for one in every for family in one.influence))
        partials = [one for one in record.partials if one.outcome == name]
        yield OutcomeSection(
            index=index,
            name=name,
            axis=axis,
            gains=tuple(gains),
            benchmarks=len({one.benchmark for one in every}),
            listed=len(benchmarks),
            influence=tuple(influential(gains, len(families), len(record.outcomes))),
            partials=tuple(one for one in partials if one.benchmark in benchmarks or not every),
            comparisons=tuple(one for one in record.comparisons if one.outcome == name),
            families=families,
            charts=tuple(chart for chart in (f"gain-{index}", f"predicted-{index}") if chart in specs),
        )


def interval(of: Span) -> str:
    """`[.38, .57]`; a range over families left out says so."""
    return _marked(of, span(of.low, of.high))


def amounts(of: Span) -> str:
    """As `interval`, in an outcome's unit."""
    if of.low is None or of.high is None:
        return ""
    return _marked(of, f"[{amount(of.low)}, {amount(of.high)}]")


def _marked(of: Span, shown: str) -> str:
    return shown if not shown or of.level is not None else f"{shown} range"


def write_page(path: Path, analysis: Analysis) -> Path:
    """Write the page to `path`, whole or not at all. Raises UserError where it cannot be written."""
    text = page(analysis)
    make_folder(path.parent)
    replace(path, text.encode("utf-8", errors="replace"))
    return path
