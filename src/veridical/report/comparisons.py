"""Contrasts arranged for reading: a row a comparison of two answerings, a column a measure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from veridical.items import Factor
from veridical.judge.measure import Measure
from veridical.report.labels import MeasureOfSlice
from veridical.report.results import AnsweringKey, Results, contrast_name
from veridical.report.texts import slice_label

AGREEMENT: MeasureOfSlice = ("agreement", "")


@dataclass(frozen=True, slots=True)
class Difference:
    """One contrast, with its p adjusted for the number of contrasts where that is known."""

    measure: Measure
    adjusted: Measure | None = None


@dataclass(frozen=True, slots=True)
class AnsweringComparison:
    """One answering less another: what both share, what distinguishes them, and how they differ by measure."""

    heading: str
    name: str
    cells: Mapping[MeasureOfSlice, Difference]


def comparisons(results: Results) -> list[AnsweringComparison]:
    """Prompts and models compared, in the order of the measures.

    A contrast that comes twice, the second time with an adjusted p, is one difference.
    """
    found: dict[tuple[AnsweringKey, frozenset[tuple[str, Factor]]], dict[MeasureOfSlice, Difference]] = {}
    for contrast in results.between:
        answering = AnsweringKey.of(contrast)
        if answering.reference:
            continue
        cells = found.setdefault((answering, frozenset((contrast.against or {}).items())), {})
        key = (contrast.measure, slice_label(contrast.slice))
        cells[key] = Difference(cells[key].measure, contrast) if key in cells else Difference(contrast)
    return [_comparison(results, answering, cells) for (answering, _), cells in found.items()]


def _comparison(
    results: Results, answering: AnsweringKey, cells: Mapping[MeasureOfSlice, Difference]
) -> AnsweringComparison:
    first = next(iter(cells.values())).measure
    heading = results.heading(answering, without=tuple(first.against or {}))
    return AnsweringComparison(heading, contrast_name(first), cells)


def columns(results: Results, rows: Sequence[AnsweringComparison]) -> list[tuple[MeasureOfSlice, str]]:
    """The measures that the comparisons have, with their headings."""
    keys = dict.fromkeys([*results.labels.compared, *(key for row in rows for key in row.cells)])
    return [(key, _title(results, key)) for key in keys if any(key in row.cells for row in rows)]


def _title(results: Results, key: MeasureOfSlice) -> str:
    measure, where = key
    label = results.labels.label(measure)
    return f"{label}, {where}" if where else label
