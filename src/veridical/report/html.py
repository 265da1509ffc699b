"""One self-contained page: it opens from a file, asks the network for nothing, and runs no script but its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import metadata
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl
from jinja2 import Environment
from markupsafe import Markup

from veridical import wording
from veridical.files.writing import make_folder, replace
from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.report import texts
from veridical.report.charts import charts
from veridical.report.comparisons import columns as contrast_columns
from veridical.report.comparisons import comparisons
from veridical.report.parts import asset, environment, script, script_json, source
from veridical.report.presentation import presentation_of
from veridical.report.readouts import sections as readout_sections
from veridical.report.results import AnsweringKey, Results, contrast_name
from veridical.report.sets import MOST_CHARACTERS, set_list
from veridical.report.shown_readout import ShownReadout
from veridical.report.summary import summaries

BUNDLES = ("vega.min.js", "vega-lite.min.js", "vega-embed.min.js")
PACKAGE = "veridical.report"


@cache
def page_environment() -> Environment:
    """The templates of the report with the filters that they use."""
    made = environment(PACKAGE)
    made.filters |= {
        "number": wording.number,
        "point": texts.point,
        "interval": texts.interval,
        "disagreement": texts.disagreement,
        "estimate": texts.estimate,
        "bounds": texts.bounds,
        "p_value": wording.p_value,
        "slice_label": texts.slice_label,
        "status_list": texts.status_list,
        "not_ok": texts.not_ok,
        "spaced": wording.spaced,
        "contrast_name": contrast_name,
    }
    return made


def frame_of_page(*, drawn: bool) -> dict[str, Any]:
    """Style, scripts with their hashes, and licences; the chart library's only where something is drawn."""
    bundles = [script(PACKAGE, "vendor", name) for name in BUNDLES] if drawn else []
    scripts = [*bundles, script(PACKAGE, "templates", "page.js")]
    return {
        "style": Markup(asset(PACKAGE, "templates", "page.css")),
        "scripts": [Markup(one) for one in scripts],
        "sources": " ".join(source(one) for one in scripts),
        "notices": Markup(asset(PACKAGE, "vendor", "LICENSE").replace("--", "- -")) if drawn else "",
    }


def page(
    suites: Sequence[Suite],
    measures: Sequence[Measure],
    frame: pl.DataFrame,
    manifest: Mapping[str, Any],
    parameters: Mapping[str, int],
    verdicts: Sequence[str] = (),
    readouts: Sequence[ShownReadout] = (),
    notices: Sequence[str] = (),
) -> str:
    """The page as one string. `parameters` is the number of parameters by model, where known; `notices` lead it."""
    room = MOST_CHARACTERS // max(len(suites), 1)
    sections = [
        _section(index, suite, measures, frame, parameters, readouts, room) for index, suite in enumerate(suites)
    ]
    drawn = any(section["charts"] for section in sections)
    models = tuple(dict.fromkeys(model for section in sections for model in section["results"].models))
    used = dict.fromkeys(measure.measure for measure in measures)
    template = page_environment().get_template("report.html.jinja")
    return template.render(
        title=_title(suites),
        models=[(model, parameters.get(model)) for model in models],
        created=_date(manifest),
        manifest=list(flattened(manifest)),
        sections=sections,
        read_first=notices,
        verdicts=verdicts,
        glossary=[(text.label, text.meaning) for name, text in _texts(sections).items() if name in used],
        statuses=texts.STATUSES,
        level=next((texts.level(measure) for measure in measures if measure.level is not None), ""),
        parameter_count=texts.parameter_count,
        **frame_of_page(drawn=drawn),
        data=script_json(
            {
                "charts": {f"{i}-{name}": spec for i, s in enumerate(sections) for name, spec in s["charts"].items()},
                "sets": [section["sets"] for section in sections],
            }
        ),
        version=metadata.version("veridical"),
    )


def _section(
    index: int,
    suite: Suite,
    measures: Sequence[Measure],
    frame: pl.DataFrame,
    parameters: Mapping[str, int],
    readouts: Sequence[ShownReadout],
    room: int,
) -> dict[str, Any]:
    """What the template needs of one suite, with about `room` characters of sets.

    Ids are numbered: a suite's name may be any text.
    """
    presentation = presentation_of(suite.measures)
    results = Results.of(measures, suite.name, presentation)
    named = [(results.name(AnsweringKey.of(m), model=True), m) for m in results.measures]
    compared = comparisons(results)
    statuses = [(results.name(a, model=True), results.statuses(a)) for a in (*results.answers, *results.references)]
    read_out, readout_charts = readout_sections(suite, results, readouts)
    return {
        "index": index,
        "id": f"suite-{index}",
        "suite": suite,
        "n_sets": suite.n_sets,
        "results": results,
        "charts": charts(presentation, results, parameters) | readout_charts,
        "figures": presentation.load_figures(),
        "readouts": read_out,
        "sets": set_list(suite, results, frame, room),
        "summaries": summaries(results),
        "tables": presentation.text_tables(results),
        "remarks": presentation.remarks(results),
        "remarks_lead": presentation.remarks_lead,
        "missing": [(name, counts) for name, counts in statuses if texts.not_ok(counts)],
        "bounded": any(texts.bounds(m) for m in results.measures),
        "comparisons": [(name, list(rows)) for name, rows in groupby(compared, key=lambda row: row.heading)],
        "compared": contrast_columns(results, compared),
        "records": named,
    }


def _texts(sections: Sequence[Mapping[str, Any]]) -> dict[str, texts.MeasureText]:
    """The texts of the measures: those of every suite and those of these suites."""
    own = [section["results"].labels.texts for section in sections]
    return {name: text for part in (texts.MEASURES, *own) for name, text in part.items()}


def _title(suites: Sequence[Suite]) -> str:
    """A suite's own title; several suites by name."""
    names = [suite.name for suite in suites]
    return suites[0].title or names[0] if len(suites) == 1 else ", ".join(names) or "No suite"


def _date(manifest: Mapping[str, Any]) -> str:
    """When the first of the runs began: `2026-01-31 12:00 UTC`."""
    created = min((value for key, value in flattened(manifest) if key.rsplit(".")[-1] == "created"), default="")
    try:
        return f"{datetime.fromisoformat(created).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    except ValueError:
        return created


def flattened(value: object, path: str = "") -> Iterable[tuple[str, str]]:
    """A manifest as dotted keys and values, in its own order."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from flattened(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list | tuple) and any(isinstance(inner, Mapping) for inner in value):
        for position, inner in enumerate(value, 1):
            yield from flattened(inner, f"{path}.{position}")
    elif isinstance(value, list | tuple):
        yield path, ", ".join(map(str, value))
    elif value is not None:
        yield path, str(value)


def write_report(path: Path, text: str) -> Path:
    """Write a page to `path`, whole or not at all, and return the path. Raises UserError where it cannot be written."""
    make_folder(path.parent)
    replace(path, text.encode("utf-8", errors="replace"))
    return path
