"""What every figure is drawn with: colours, shapes, scales, legends, and the specification that holds the layers.

Figures are Vega-Lite specifications made with Altair. Colours are Okabe and Ito's, which stay apart for colour-blind
readers. Names may hold anything, so none of them is put into an expression.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

import altair as alt

from veridical.judge.measure import Measure
from veridical.report.presentation import Specification
from veridical.report.results import AnsweringKey, Results
from veridical.report.texts import bounds, estimate

DataRow = dict[str, Any]
"""A row of a chart's data, by the names of its fields."""

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2, 1, 2, 1, 2])
GREY = "#808890"
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
NOT_OK_BOUNDS = "could be, with what is not ok"
AXIS = [0, 0.2, 0.4, 0.6, 0.8, 1]

CONFIG: dict[str, Any] = {
    "font": FONT,
    "background": "transparent",
    "view": {"stroke": None},
    "title": {"anchor": "start", "fontSize": 16, "subtitleFontSize": 13, "fontWeight": 600, "offset": 14},
    "axis": {
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": 500,
        "gridOpacity": 0.5,
        "labelLimit": 240,
        "titlePadding": 8,
    },
    "legend": {
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": 500,
        "orient": "bottom",
        "symbolSize": 90,
        "labelLimit": 280,
    },
}


def chart(title: str, subtitle: str, layers: Sequence[alt.Chart], height: int) -> Specification:
    """A specification: layers under a title, as wide as its place on the page."""
    # A line or a legend that is wider than the chart would shrink the plot.
    lines = textwrap.wrap(subtitle, 72)
    header = alt.TitleParams(title, subtitle=lines)
    spec: Specification = alt.layer(*layers).properties(title=header, width="container", height=height).to_dict()
    spec["config"] = CONFIG
    # Vega-Lite writes a scale's domain into expressions, whose parser takes these two for ends of lines.
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False).translate({0x2028: " ", 0x2029: " "})
    cleaned: Specification = json.loads(text)
    return cleaned


def inline(rows: Sequence[DataRow]) -> alt.InlineData:
    """Rows as the data of a chart."""
    return alt.InlineData(values=list(rows))


def measure_row(results: Results, answering: AnsweringKey, measure: Measure, /, **more: str) -> DataRow:
    """A measure as a row of a chart's data; without an interval both ends are the value."""
    return {
        **answered_by(results, answering),
        "value": measure.value,
        "low": measure.value if measure.low is None else measure.low,
        "high": measure.value if measure.high is None else measure.high,
        "estimate": estimate(measure),
        "bound_low": measure.bound_low,
        "bound_high": measure.bound_high,
        "bounds": bounds(measure) or "–",
        "n": measure.n_sets,
        **more,
    }


def not_ok_bars(rows: Sequence[DataRow]) -> tuple[alt.Chart | None, str]:
    """Hatched bars from bound to bound, to be encoded along the values; and a sentence for the subtitle.

    A rate counts what is not ok as not right; the bar shows what it could have been, so that what was not answered
    is not taken for wrong. None where every answer of `rows` is ok.
    """
    open_rows = [row for row in rows if row["bounds"] != "–" and None not in (row["bound_low"], row["bound_high"])]
    if not open_rows:
        return None, ""
    bars = alt.Chart(inline(open_rows)).mark_rule(strokeWidth=11, strokeDash=[2, 3], opacity=0.55)
    return bars, " Hatched: where the point could lie if what was not answered (not ok) had been."


def answered_by(results: Results, answering: AnsweringKey) -> DataRow:
    """`series` is all of who answered; `setting` and `model` are its two parts, for colour and shape."""
    return {
        "series": results.name(answering, model=True),
        "setting": results.name(answering),
        "model": answering.model,
    }


def series_marks(results: Results) -> tuple[alt.Color, alt.Shape]:
    """Colour by prompt and shape by model; with one model, both by prompt.

    With more prompts than colours, or more models than shapes, each series has a colour and a shape that no other has
    together.
    """
    settings = list(dict.fromkeys(results.name(answering) for answering in results.answers))
    models = list(results.models)
    if len(settings) > len(PALETTE) or len(models) > len(SHAPES):
        return paired_marks([answered_by(results, answering)["series"] for answering in results.answers])
    colour = alt.Color("setting:N", scale=named_scale(settings, PALETTE), legend=legend_below(settings))
    if len(models) == 1:
        return colour, alt.Shape("setting:N", scale=named_scale(settings, SHAPES), legend=legend_below(settings))
    return colour, alt.Shape("model:N", scale=named_scale(models, SHAPES), legend=legend_below(models))


def paired_marks(series: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape for each series: colours repeat after the last, each time with the next shape."""
    names = list(dict.fromkeys(series))
    shapes = [SHAPES[place // len(PALETTE) % len(SHAPES)] for place in range(len(names))]
    legend = legend_below(names)
    colour = alt.Color("series:N", scale=named_scale(names, PALETTE), legend=legend)
    return colour, alt.Shape("series:N", scale=alt.Scale(domain=names, range=shapes), legend=legend)


def named_scale(names: Sequence[str], values: Sequence[str]) -> alt.Scale:
    """A scale that gives each name a value, beginning again where there are more names."""
    return alt.Scale(domain=list(names), range=[values[i % len(values)] for i in range(len(names))])


def legend_below(names: Sequence[str], **more: Any) -> alt.Legend:
    """A legend below the chart, in as many columns as its names have room for."""
    columns = max(1, min(len(names), 64 // (max(map(len, names), default=0) + 5)))
    return alt.Legend(title=None, columns=columns, **more)


def measure_tooltip(*fields: tuple[str, str]) -> list[alt.Tooltip]:
    """The tooltip of a measure: who answered, these (field, title), the value and its number of sets."""
    shown = (("series", "answered by"), *fields, ("estimate", "value"), ("bounds", NOT_OK_BOUNDS), ("n", "sets"))
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in shown]
