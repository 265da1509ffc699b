"""The figures of a suite, as Vega-Lite specifications: what its presentation names and its measures fill."""

from __future__ import annotations

from collections.abc import Mapping

from veridical.report.presentation import Presentation, Specification
from veridical.report.results import Results


def charts(presentation: Presentation, results: Results, parameters: Mapping[str, int]) -> dict[str, Specification]:
    """Every figure that the measures of one suite can fill, by name."""
    figures = presentation.load_figures()
    drawn = {name: figure.draw(results, parameters) for name, figure in figures.items()}
    return {name: spec for name, spec in drawn.items() if spec is not None}
