"""The figures, as Vega-Lite specifications made with Altair: one function a figure, each from `Results`.

A figure that the measures cannot fill is None. Colours are Okabe and Ito's, which stay apart for colour-blind
readers. Names may hold anything, so none of them stands in an expression of ours.
"""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import altair as alt

from veridical.errors import UserError
from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.report.results import Answering, Results
from veridical.report.texts import GROUPS, estimate, parameter_count, spaced

Row = dict[str, Any]

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [7, 4], [2, 3], [10, 3, 2, 3], [4, 2, 1, 2, 1, 2])
GREY = "#808890"
START = "zero-shot"
"""The prompt from which the others are compared."""
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
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


def chart(title: str, subtitle: str, layers: Sequence[alt.Chart], height: int) -> Row:
    """A specification: layers under a title, as wide as its place on the page."""
    # A line or a legend that is wider than the chart would shrink the plot.
    lines = textwrap.wrap(subtitle, 72)
    header = alt.TitleParams(title, subtitle=lines)
    spec: Row = alt.layer(*layers).properties(title=header, width="container", height=height).to_dict()
    spec["config"] = CONFIG
    # Vega-Lite writes a scale's domain into expressions, whose parser takes these two for ends of lines.
    text = json.dumps(spec, ensure_ascii=False, allow_nan=False).translate({0x2028: " ", 0x2029: " "})
    cleaned: Row = json.loads(text)
    return cleaned


def inline(rows: Sequence[Row]) -> alt.InlineData:
    """Rows as the data of a chart."""
    return alt.InlineData(values=list(rows))


def _row(results: Results, answering: Answering, measure: Measure, /, **more: str) -> Row:
    return {
        **_who(results, answering),
        "value": measure.value,
        "low": measure.value if measure.low is None else measure.low,
        "high": measure.value if measure.high is None else measure.high,
        "estimate": estimate(measure),
        "n": measure.n_sets,
        **more,
    }


def _who(results: Results, answering: Answering) -> Row:
    """`series` is all of who answered; `setting` and `model` are its two parts, for colour and shape."""
    return {
        "series": results.name(answering, model=True),
        "setting": results.name(answering),
        "model": answering.model,
    }


def _marks(results: Results) -> tuple[alt.Color, alt.Shape]:
    """Colour by prompt and shape by model; with one model, both by prompt."""
    settings = list(dict.fromkeys(results.name(answering) for answering in results.answers))
    colour = alt.Color("setting:N", scale=_scale(settings, PALETTE), legend=_legend(settings))
    if len(results.models) == 1:
        return colour, alt.Shape("setting:N", scale=_scale(settings, SHAPES), legend=_legend(settings))
    models = list(results.models)
    return colour, alt.Shape("model:N", scale=_scale(models, SHAPES), legend=_legend(models))


def _scale(names: Sequence[str], values: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=[values[i % len(values)] for i in range(len(names))])


def _legend(names: Sequence[str], **more: Any) -> alt.Legend:
    """A legend below the chart, in as many columns as its names have room for."""
    columns = max(1, min(len(names), 64 // (max(map(len, names), default=0) + 5)))
    return alt.Legend(title=None, columns=columns, **more)


def _tooltip(*fields: tuple[str, str]) -> list[alt.Tooltip]:
    shown = (("series", "answered by"), *fields, ("estimate", "value"), ("n", "sets"))
    return [alt.Tooltip(f"{name}:N", title=title) for name, title in shown]


def group_chart(results: Results) -> Row | None:
    """Accuracy in each group, a point an answering with its interval; references in grey."""
    names = {group: _group_name(group) for group in results.groups}

    def rows(answerings: Mapping[Answering, Answering]) -> list[Row]:
        """A row for each answering and group; it stands in the place of the answering it is mapped to."""
        return [
            _row(results, answering, measure, group=names[group]) | {"place": _who(results, place)["series"]}
            for answering, place in answerings.items()
            for group in results.groups
            if (measure := results.get(answering, "accuracy", group=group)) and measure.value is not None
        ]

    points = rows({answering: answering for answering in results.answers})
    if not points:
        return None
    order = list(dict.fromkeys(row["place"] for row in points))
    x = alt.X(
        "group:N",
        axis=alt.Axis(title=None, labelAngle=0, domain=False, ticks=False, labelExpr="split(datum.label, '|')"),
        scale=alt.Scale(domain=list(names.values()), paddingInner=0.25, paddingOuter=0.1),
    )
    offset = alt.XOffset("place:N", scale=alt.Scale(domain=order, paddingOuter=0.3))
    y = alt.Y("value:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(values=AXIS, format=".1f"))
    colour, shape = _marks(results)
    tooltip = _tooltip(("group", "group"))
    base = alt.Chart(inline(points)).encode(x=x, xOffset=offset, tooltip=tooltip)
    layers = [
        base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title="accuracy"), y2="high:Q", color=colour),
        base.mark_point(filled=True, size=95, opacity=1).encode(y=y, color=colour, shape=shape),
    ]
    subtitle = "Points with intervals."
    constants = {answering: answering for answering in results.references if answering.answerer.startswith("always:")}
    if lines := [row for row in rows(constants) if row["value"]]:
        names_of = [results.name(answering) for answering in constants]
        dashes = alt.Scale(domain=names_of, range=[DASHES[i % len(DASHES)] for i in range(len(names_of))])
        dash = alt.StrokeDash("setting:N", scale=dashes, legend=_legend(names_of, symbolType="stroke", symbolSize=400))
        line = alt.Chart(inline(lines)).mark_rule(strokeWidth=2.5, opacity=1)
        end = alt.X2("group:N", bandPosition=1)
        encoded = line.encode(x=x.bandPosition(0), x2=end, y=y, strokeDash=dash, color=alt.value(GREY), tooltip=tooltip)
        layers.insert(0, encoded)
        subtitle += " Grey lines: constant answers, where above 0."
    twins = {
        reference: answering
        for reference in results.references
        if not reference.constant
        for answering in results.answers
        if (reference.model, reference.prompt, reference.mode) == (answering.model, answering.prompt, answering.mode)
    }
    if hollow := rows(twins):
        diamonds = alt.Chart(inline(hollow)).mark_point(
            filled=False, size=70, strokeWidth=1.8, shape="diamond", stroke=GREY, opacity=1
        )
        layers.append(diamonds.encode(x=x, xOffset=offset, y=y, tooltip=tooltip))
        subtitle += " Hollow diamonds: the same prompt with part of the item withheld."
    return chart("Accuracy by group", subtitle, layers, 320)


def _group_name(group: str) -> str:
    gloss = GROUPS.get(group, "")
    if not gloss:
        return spaced(group).replace(" ", "|", 1)
    return gloss.replace(" ", "|") if len(group) > 1 else f"{group}|{gloss.replace(' ', '|')}"


def class_chart(results: Results) -> Row | None:
    """TBR in each verb class, a point an answering with its interval."""
    rows = [
        _row(results, answering, measure, verb_class=spaced(verb_class))
        for answering in results.answers
        for verb_class in results.classes()
        if (measure := results.get(answering, "tbr", verb_class=verb_class)) and measure.value is not None
    ]
    if not rows:
        return None
    order = list(dict.fromkeys(row["series"] for row in rows))
    colour, shape = _marks(results)
    y = alt.Y(
        "verb_class:N",
        axis=alt.Axis(title=None, domain=False, ticks=False, labelPadding=10),
        scale=alt.Scale(domain=[spaced(name) for name in results.classes()], paddingInner=0.2),
    )
    offset = alt.YOffset("series:N", scale=alt.Scale(domain=order, paddingOuter=0.3))
    title = "teleological bias rate"
    axis = alt.Axis(values=AXIS, format=".1f")
    x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)
    base = alt.Chart(inline(rows)).encode(y=y, yOffset=offset, tooltip=_tooltip(("verb_class", "verb class")))
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q", color=colour),
        base.mark_point(filled=True, size=95, opacity=1).encode(x=x, color=colour, shape=shape),
    ]
    height = max(200, len(results.classes()) * (24 + 14 * len(order)))
    subtitle = "Share of ambiguous accomplishments answered True; 0 is best."
    return chart("Teleological bias rate by verb class", subtitle, layers, height)


def _trade_off_rows(results: Results) -> list[Row]:
    rows: list[Row] = []
    for answering in results.answers:
        c = results.get(answering, "accuracy", group="C")
        d = results.get(answering, "accuracy", group="D")
        if c and d and c.value is not None and d.value is not None:
            values = {"c": c.value, "c_low": c.low, "c_high": c.high, "c_text": estimate(c)}
            values |= {"d": d.value, "d_low": d.low, "d_high": d.high, "d_text": estimate(d)}
            block = (answering.model, answering.mode, answering.answerer)
            rows.append({**_who(results, answering), **values, "prompt": answering.asked, "block": block})
    starts = {row["block"]: row for row in rows if row["prompt"] == START}
    for row in rows:
        start = starts.get(row.pop("block"), row)
        row |= {"c_start": start["c"], "d_start": start["d"]}
    return rows


def trade_off_chart(results: Results) -> Row | None:
    """Accuracy in C against accuracy in D, a point a (model, prompt), lines from `zero-shot` to the others."""
    rows = _trade_off_rows(results)
    if len(rows) < 2:
        return None
    colour, shape = _marks(results)
    axis, unit = alt.Axis(values=AXIS, format=".1f"), alt.Scale(domain=[0, 1])
    d_title, c_title = "accuracy in D (ambiguous activity: True)", "accuracy in C (ambiguous accomplishment: Unknown)"
    x = alt.X("d:Q", title=d_title, scale=unit, axis=axis)
    y = alt.Y("c:Q", title=c_title, scale=unit, axis=axis)
    tooltip = [
        alt.Tooltip("series:N", title="answered by"),
        alt.Tooltip("c_text:N", title="accuracy in C"),
        alt.Tooltip("d_text:N", title="accuracy in D"),
    ]
    constants = alt.Chart(inline([{"d": 0, "c": 1, "d2": 1, "c2": 0}]))
    unknown = alt.Chart(inline([{"d": 0, "c": 1, "text": "always Unknown"}]))
    true = alt.Chart(inline([{"d": 1, "c": 0, "text": "always True"}]))
    text: Row = {"fontSize": 12, "opacity": 0.8}
    points = alt.Chart(inline(rows)).encode(color=colour, tooltip=tooltip)
    layers = [
        constants.mark_rule(stroke=GREY, strokeDash=[5, 4]).encode(x=x, y=y, x2="d2:Q", y2="c2:Q"),
        unknown.mark_text(align="left", dx=8, dy=-7, **text).encode(x=x, y=y, text="text:N"),
        true.mark_text(align="right", dx=-30, dy=-7, **text).encode(x=x, y=y, text="text:N"),
        points.mark_rule(strokeWidth=2, opacity=0.8).encode(x=x, y=y, x2="d_start:Q", y2="c_start:Q"),
        points.mark_rule(opacity=0.35).encode(x=alt.X("d_low:Q", title=d_title), x2="d_high:Q", y=y),
        points.mark_rule(opacity=0.35).encode(x=x, y=alt.Y("c_low:Q", title=c_title), y2="c_high:Q"),
        points.mark_point(filled=True, size=120, opacity=1).encode(x=x, y=y, shape=shape),
    ]
    subtitle = (
        f"Lines lead from {START} to the other prompts. Up and to the right is better. "
        "On the dashed line, where constant answers lie, the gap ΔAA is 0 (if False is never said)."
    )
    return chart("What a prompt gains in C and costs in D", subtitle, layers, 420)


def scale_chart(results: Results, parameters: Mapping[str, int]) -> Row | None:
    """TBR and gap against the number of parameters, where two models or more have a known size."""
    names = {"tbr": "TBR", "aspectual_awareness_gap": "gap ΔAA"}
    rows = [
        _row(results, answering, measure, measure=names[kind], size_text=parameter_count(size)) | {"size": size}
        for answering in results.answers
        if (size := parameters.get(answering.model))
        for kind in names
        if (measure := results.whole(answering, kind)) and measure.value is not None
    ]
    if len({row["model"] for row in rows}) < 2:
        return None
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    sizes = sorted({row["size"] for row in rows})
    labels = " : ".join(f"datum.value == {size} ? '{parameter_count(size)}'" for size in sizes) + " : ''"
    x = alt.X(
        "size:Q",
        title="parameters (log scale)",
        scale=alt.Scale(type="log", nice=False, padding=24),
        axis=alt.Axis(values=sizes, labelExpr=labels, grid=False, labelOverlap="greedy"),
    )
    colour = alt.Color(
        "measure:N",
        scale=alt.Scale(domain=list(names.values()), range=[PALETTE[4], PALETTE[0]]),
        legend=_legend(list(names.values())),
    )
    dash = alt.StrokeDash(
        "setting:N",
        scale=alt.Scale(domain=settings, range=[DASHES[i % len(DASHES)] for i in range(len(settings))]),
        legend=_legend(settings, symbolType="stroke", symbolSize=400) if len(settings) > 1 else None,
    )
    bottom = min(0.0, min(row["low"] for row in rows))
    y = alt.Y("value:Q", title="rate", scale=alt.Scale(domain=[bottom, 1], nice=True), axis=alt.Axis(format=".1f"))
    base = alt.Chart(inline(rows)).encode(x=x, color=colour)
    tooltip = _tooltip(("measure", "measure"), ("size_text", "parameters"))
    layers = [
        base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dash, detail="setting:N"),
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=alt.Y("low:Q", title="rate"), y2="high:Q"),
        base.mark_point(filled=True, size=95, opacity=1).encode(y=y, tooltip=tooltip),
    ]
    return chart("TBR and gap by model size", "Points with intervals. TBR is best at 0, the gap at 1.", layers, 300)


FIGURES: Mapping[str, Callable[[Results], Row | None]] = {
    "groups": group_chart,
    "verb-classes": class_chart,
    "trade-off": trade_off_chart,
}


def charts(results: Results, parameters: Mapping[str, int]) -> dict[str, Row]:
    """Every figure that the measures of one suite can fill, by name."""
    from veridical.report.merge_charts import merge_charts  # it draws with what is defined here

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
