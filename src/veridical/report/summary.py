"""The page's main tables: a row an answering, a column a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veridical.judge.measure import Measure
from veridical.report.results import AnsweringKey, Results, Slice
from veridical.report.texts import MEASURES, not_ok
from veridical.wording import spaced

COLUMN_FACTORS = ("group", "pair")
"""Slices that have a column of their own; other slices are in the list of every measure."""


@dataclass(frozen=True, slots=True)
class SummaryColumn:
    """A measure over everything or in one slice; `note` says what the slice is and its number of sets."""

    measure: str
    where: Slice
    heading: str
    note: str


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """One answering in a table: a measure for each column (None where it has none), and how many answers are not ok."""

    name: str
    reference: bool
    cells: tuple[Measure | None, ...]
    not_ok: int


@dataclass(frozen=True, slots=True)
class Summary:
    """One table; where a suite has groups, the second holds what is not read first."""

    title: str
    columns: tuple[SummaryColumn, ...]
    models: tuple[tuple[str, tuple[SummaryRow, ...]], ...]
    references: tuple[SummaryRow, ...]


def summaries(results: Results) -> list[Summary]:
    """The main tables of one suite: accuracy by group with what follows from it, then the rest."""
    columns = _columns(results)
    first = [column for column in columns if column.measure in ("accuracy", *results.labels.leading)]
    if not results.groups:
        return [_summary(results, "Results", columns)] if columns else []
    rest = [column for column in columns if column not in first]
    tables = [_summary(results, "Results", first), _summary(results, "More measures", rest)]
    return [table for table in tables if table.columns]


def _summary(results: Results, title: str, columns: Sequence[SummaryColumn]) -> Summary:
    def row(answering: AnsweringKey) -> SummaryRow:
        name = results.name(answering, model=answering.reference)
        cells = tuple(_cell(results, answering, column.measure, column.where) for column in columns)
        return SummaryRow(name, answering.reference, cells, not_ok(results.statuses(answering)))

    return Summary(
        title,
        tuple(columns),
        tuple((model, tuple(row(a) for a in results.answers if a.model == model)) for model in results.models),
        tuple(row(answering) for answering in results.references),
    )


def _columns(results: Results) -> list[SummaryColumn]:
    """Accuracy by group, then every other measure, over everything where it is given so."""
    found: dict[str, dict[Slice, None]] = {}
    for answering, name, where in results.index:
        factors = {factor for factor, _ in where}
        if not answering.reference and factors <= {*COLUMN_FACTORS, "label"} and len(factors) < 2:
            found.setdefault(name, {}).setdefault(frozenset() if "label" in factors else where)
    columns = [_column(results, "accuracy", frozenset({("group", group)})) for group in results.groups]
    rank = {name: position for position, name in enumerate((*MEASURES, *results.labels.texts))}
    for name in sorted(found, key=lambda name: (name not in results.labels.leading, rank.get(name, len(rank)), name)):
        whole: Slice = frozenset()
        if whole in found[name]:
            columns.append(_column(results, name, whole))
        elif name != "accuracy":
            columns += [_column(results, name, where) for where in found[name]]
    return columns


def _column(results: Results, measure: str, where: Slice) -> SummaryColumn:
    cells = (_cell(results, answering, measure, where) for answering in results.answers)
    counts = {cell.n_sets for cell in cells if cell}
    n = "n " + "–".join(f"{count:,}" for count in sorted({min(counts), max(counts)})) if counts else ""
    if not where:
        return SummaryColumn(measure, where, results.labels.label(measure), n)
    value = spaced(str(next(iter(dict(where).values()))))
    if measure == "accuracy":
        return SummaryColumn(measure, where, value, ", ".join(filter(None, (results.labels.groups.get(value, ""), n))))
    return SummaryColumn(measure, where, f"{results.labels.label(measure)}, {value}", n)


def _cell(results: Results, answering: AnsweringKey, measure: str, where: Slice) -> Measure | None:
    """The measure there; one that is sliced by the label it found (constant share) has one record."""
    found = results.index.get((answering, measure, where))
    if found is not None or where:
        return found
    labelled = (
        record
        for (who, name, slices), record in results.index.items()
        if who == answering and name == measure and {factor for factor, _ in slices} == {"label"}
    )
    return next(labelled, None)
