"""The figures of the imperfective suites: accuracy by group, TBR by class, the trade-off of prompts."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt

from veridical.report.drawing import (
    AXIS,
    DASHES,
    GREY,
    NOT_OK_BOUNDS,
    DataRow,
    answered_by,
    chart,
    inline,
    legend_below,
    measure_row,
    measure_tooltip,
    not_ok_bars,
    series_marks,
)
from veridical.report.presentation import Figure, Specification
from veridical.report.results import AnsweringKey, Results
from veridical.report.texts import bounds, estimate
from veridical.suites.imperfective.class_table import verb_classes
from veridical.suites.imperfective.scale_figure import scale_chart
from veridical.wording import spaced

START = "zero-shot"
"""The prompt from which the others are compared."""


def group_chart(results: Results, _: Mapping[str, int] | None = None) -> Specification | None:
    """Accuracy in each group, a point an answering with its interval; references in grey."""
    names = {group: _group_name(group, results.labels.groups) for group in results.groups}

    def rows(answerings: Mapping[AnsweringKey, AnsweringKey]) -> list[DataRow]:
        """A row for each answering and group; it stands in the place of the answering it is mapped to."""
        return [
            measure_row(results, answering, measure, group=names[group])
            | {"place": answered_by(results, place)["series"]}
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
    colour, shape = series_marks(results)
    tooltip = measure_tooltip(("group", "group"))
    base = alt.Chart(inline(points)).encode(x=x, xOffset=offset, tooltip=tooltip)
    layers = [
        base.mark_rule(strokeWidth=2).encode(y=alt.Y("low:Q", title="accuracy"), y2="high:Q", color=colour),
        base.mark_point(filled=True, size=95, opacity=1).encode(y=y, color=colour, shape=shape),
    ]
    bars, bars_text = not_ok_bars(points)
    if bars is not None:
        bar_y = alt.Y("bound_low:Q", title="accuracy")
        layers.insert(0, bars.encode(x=x, xOffset=offset, y=bar_y, y2="bound_high:Q", color=colour, tooltip=tooltip))
    subtitle = f"Points with intervals.{bars_text}"
    constants = {answering: answering for answering in results.references if answering.answerer.startswith("always:")}
    if lines := [row for row in rows(constants) if row["value"]]:
        names_of = [results.name(answering) for answering in constants]
        dashes = alt.Scale(domain=names_of, range=[DASHES[i % len(DASHES)] for i in range(len(names_of))])
        dash = alt.StrokeDash(
            "setting:N", scale=dashes, legend=legend_below(names_of, symbolType="stroke", symbolSize=400)
        )
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


def _group_name(group: str, glosses: Mapping[str, str]) -> str:
    gloss = glosses.get(group, "")
    if not gloss:
        return spaced(group).replace(" ", "|", 1)
    return gloss.replace(" ", "|") if len(group) > 1 else f"{group}|{gloss.replace(' ', '|')}"


def class_chart(results: Results, _: Mapping[str, int] | None = None) -> Specification | None:
    """TBR in each verb class, a point an answering with its interval."""
    rows = [
        measure_row(results, answering, measure, verb_class=spaced(verb_class))
        for answering in results.answers
        for verb_class in verb_classes(results)
        if (measure := results.get(answering, "tbr", verb_class=verb_class)) and measure.value is not None
    ]
    if not rows:
        return None
    order = list(dict.fromkeys(row["series"] for row in rows))
    colour, shape = series_marks(results)
    y = alt.Y(
        "verb_class:N",
        axis=alt.Axis(title=None, domain=False, ticks=False, labelPadding=10),
        scale=alt.Scale(domain=[spaced(name) for name in verb_classes(results)], paddingInner=0.2),
    )
    offset = alt.YOffset("series:N", scale=alt.Scale(domain=order, paddingOuter=0.3))
    title = "teleological bias rate"
    axis = alt.Axis(values=AXIS, format=".1f")
    x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=axis)
    tooltip = measure_tooltip(("verb_class", "verb class"))
    base = alt.Chart(inline(rows)).encode(y=y, yOffset=offset, tooltip=tooltip)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q", color=colour),
        base.mark_point(filled=True, size=95, opacity=1).encode(x=x, color=colour, shape=shape),
    ]
    bars, bars_text = not_ok_bars(rows)
    if bars is not None:
        bar_x = alt.X("bound_low:Q", title=title)
        layers.insert(0, bars.encode(y=y, yOffset=offset, x=bar_x, x2="bound_high:Q", color=colour, tooltip=tooltip))
    height = max(200, len(verb_classes(results)) * (24 + 14 * len(order)))
    subtitle = f"Share of ambiguous accomplishments answered True; 0 is best.{bars_text}"
    return chart("Teleological bias rate by verb class", subtitle, layers, height)


def _trade_off_rows(results: Results) -> list[DataRow]:
    rows: list[DataRow] = []
    for answering in results.answers:
        c = results.get(answering, "accuracy", group="C")
        d = results.get(answering, "accuracy", group="D")
        if c and d and c.value is not None and d.value is not None:
            values = {"c": c.value, "c_low": c.low, "c_high": c.high, "c_text": estimate(c)}
            values |= {"d": d.value, "d_low": d.low, "d_high": d.high, "d_text": estimate(d)}
            values |= {"c_bounds": bounds(c), "c_least": c.bound_low, "c_most": c.bound_high}
            values |= {"d_bounds": bounds(d), "d_least": d.bound_low, "d_most": d.bound_high}
            block = (answering.model, answering.mode, answering.answerer)
            rows.append({**answered_by(results, answering), **values, "prompt": answering.asked, "block": block})
    starts = {row["block"]: row for row in rows if row["prompt"] == START}
    for row in rows:
        start = starts.get(row.pop("block"), row)
        row |= {"c_start": start["c"], "d_start": start["d"]}
    return rows


def trade_off_chart(results: Results, _: Mapping[str, int] | None = None) -> Specification | None:
    """Accuracy in C against accuracy in D, a point a (model, prompt), lines from `zero-shot` to the others."""
    rows = _trade_off_rows(results)
    if len(rows) < 2:
        return None
    colour, shape = series_marks(results)
    axis, unit = alt.Axis(values=AXIS, format=".1f"), alt.Scale(domain=[0, 1])
    d_title, c_title = "accuracy in D (ambiguous activity: True)", "accuracy in C (ambiguous accomplishment: Unknown)"
    x = alt.X("d:Q", title=d_title, scale=unit, axis=axis)
    y = alt.Y("c:Q", title=c_title, scale=unit, axis=axis)
    tooltip = [
        alt.Tooltip("series:N", title="answered by"),
        alt.Tooltip("c_text:N", title="accuracy in C"),
        alt.Tooltip("d_text:N", title="accuracy in D"),
        alt.Tooltip("c_bounds:N", title=f"C {NOT_OK_BOUNDS}"),
        alt.Tooltip("d_bounds:N", title=f"D {NOT_OK_BOUNDS}"),
    ]
    constants = alt.Chart(inline([{"d": 0, "c": 1, "d2": 1, "c2": 0}]))
    unknown = alt.Chart(inline([{"d": 0, "c": 1, "text": "always Unknown"}]))
    true = alt.Chart(inline([{"d": 1, "c": 0, "text": "always True"}]))
    text: DataRow = {"fontSize": 12, "opacity": 0.8}
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
    if unanswered := [row for row in rows if row["c_bounds"] or row["d_bounds"]]:
        areas = alt.Chart(inline(unanswered)).mark_rect(opacity=0.15, stroke=GREY, strokeDash=[2, 3])
        least = {"x": alt.X("d_least:Q", title=d_title), "y": alt.Y("c_least:Q", title=c_title)}
        layers.insert(0, areas.encode(**least, x2="d_most:Q", y2="c_most:Q", color=colour))
        subtitle += " Boxes: where a point could lie if what was not answered (not ok) had been."
    return chart("What a prompt gains in C and costs in D", subtitle, layers, 420)


FIGURES: Mapping[str, Figure] = {
    "groups": Figure(
        group_chart,
        "Constant answers are right in some groups and wrong in the others; only a model that distinguishes the groups "
        "is right in all.",
    ),
    "verb-classes": Figure(
        class_chart,
        "Classes differ in how their goal is reached. Every two of them are compared in the list of every measure.",
        "after",
    ),
    "trade-off": Figure(
        trade_off_chart,
        "A prompt that only makes a model say Unknown more often moves along the dashed line.",
        "after",
        "square",
    ),
    "scale": Figure(
        scale_chart,
        "Models whose number of parameters is known; a line joins the models of one family under one prompt.",
        "after",
    ),
}
