"""Every figure of a suite, and figures as files."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from veridical.errors import UserError
from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.report.drawing import Row
from veridical.report.merge_charts import merge_charts
from veridical.report.results import Results
from veridical.suites.imperfective.figures import class_chart, group_chart, scale_chart, trade_off_chart

FIGURES: Mapping[str, Callable[[Results], Row | None]] = {
    "groups": group_chart,
    "verb-classes": class_chart,
    "trade-off": trade_off_chart,
}


def charts(results: Results, parameters: Mapping[str, int]) -> dict[str, Row]:
    """Every figure that the measures of one suite can fill, by name."""
    found = {name: figure(results) for name, figure in FIGURES.items()} | merge_charts(results)
    found["scale"] = scale_chart(results, parameters)
    return {name: spec for name, spec in found.items() if spec is not None}


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
            for name, spec in charts(Results.of(measures, suite.name), parameters).items():
                path = folder / f"{re.sub(r'[^A-Za-z0-9._]+', '-', suite.name)}-{name}.vl.json"
                path.write_text(json.dumps(spec, indent=1, ensure_ascii=False, allow_nan=False), "utf-8")
                written.append(path)
    except OSError as error:
        raise UserError(f"cannot write figures to {folder}: {error.strerror}; choose another folder") from error
    return written
