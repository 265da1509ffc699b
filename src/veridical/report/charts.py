"""Every figure of a suite, and figures as files."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from veridical.errors import UserError
from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.report.drawing import Spec
from veridical.report.presentation import presentation_of
from veridical.report.results import Results


def charts(results: Results, parameters: Mapping[str, int]) -> dict[str, Spec]:
    """Every figure that the measures of one suite can fill, by name."""
    figures = results.presentation.load_figures()
    drawn = {name: figure.draw(results, parameters) for name, figure in figures.items()}
    return {name: spec for name, spec in drawn.items() if spec is not None}


def export_specs(
    folder: Path, suites: Sequence[Suite], measures: Sequence[Measure], parameters: Mapping[str, int]
) -> list[Path]:
    """Write each figure as `SUITE-FIGURE.vl.json`, a Vega-Lite specification with its data inside.

    Raises UserError where the folder cannot be written.
    """
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for suite in suites:
            for name, spec in charts(
                Results.of(measures, suite.name, presentation_of(suite.measures)), parameters
            ).items():
                path = folder / f"{re.sub(r'[^A-Za-z0-9._]+', '-', suite.name)}-{name}.vl.json"
                path.write_text(json.dumps(spec, indent=1, ensure_ascii=False, allow_nan=False), "utf-8")
                written.append(path)
    except OSError as error:
        raise UserError(f"cannot write figures to {folder}: {error.strerror}; choose another folder") from error
    return written
