"""The figures of a suite of seeds and variants: the curve over thresholds, variants by word class and by proposer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt

from veridical.judge.measure import Measure
from veridical.report.drawing import (
    AXIS,
    DASHES,
    NOT_OK_BOUNDS,
    PALETTE,
    SHAPES,
    DataRow,
    chart,
    inline,
    not_ok_bars,
)
from veridical.report.presentation import Figure, Specification
from veridical.report.results import AnsweringKey, Results
from veridical.report.texts import bounds, estimate
from veridical.suites.merge.terminal import factor_values
from veridical.wording import number, spaced

CURVE, REFERENCE, SEEDS = "SV: seeds that pass", "errors at random", "seed accuracy"
LINES: Mapping[str, list[int]] = {CURVE: DASHES[0], REFERENCE: DASHES[2], SEEDS: DASHES[1]}
"""The three lines of an answering and how each is dashed."""


def consistency_chart(results: Results, _: Mapping[str, int] | None = None) -> Specification | None:
    """SV against CT with its intervals, seed accuracy, the reference line, and a diamond at matching correctness."""
    lines = [row for answering in results.answers for row in _lines(results, answering)]
    if not lines:
        return None
    names = _names(results)
    curves = [row for row in lines if row["line"] == CURVE]
    axis, unit = alt.Axis(values=AXIS, format=".1f"), alt.Scale(domain=[0, 1])
    x = alt.X("ct:Q", title="CT: share of a seed's variants that must be right", scale=unit, axis=axis)
    y = alt.Y("value:Q", title="share of seeds", scale=unit, axis=axis)
    legend = _legend(names) if len(names) > 1 else None
    colour = alt.Color("series:N", scale=_scale(names, PALETTE), legend=legend)
    dash = alt.StrokeDash(
        "line:N",
        scale=alt.Scale(domain=list(LINES), range=list(LINES.values())),
        legend=alt.Legend(title=None, columns=3, symbolType="stroke", symbolSize=400),
    )
    tooltip = [
        alt.Tooltip("series:N", title="answered by"),
        alt.Tooltip("line:N", title="line"),
        alt.Tooltip("ct:Q", title="CT", format=".2f"),
        alt.Tooltip("shown:N", title="value"),
        alt.Tooltip("bounds:N", title=NOT_OK_BOUNDS),
        alt.Tooltip("n:Q", title="seeds"),
    ]
    band, line = alt.Chart(inline(curves)).mark_area(opacity=0.12), alt.Chart(inline(lines)).mark_line(strokeWidth=2)
    points = alt.Chart(inline(curves)).mark_point(filled=True, size=30, opacity=1)
    layers = [
        band.encode(x=x, y=alt.Y("low:Q", title="share of seeds"), y2="high:Q", color=colour),
        line.encode(x=x, y=y, color=colour, strokeDash=dash, detail="series:N"),
        points.encode(x=x, y=y, color=colour, tooltip=tooltip),
    ]
    bars, bars_text = not_ok_bars(curves)
    if bars is not None:
        bar_y = alt.Y("bound_low:Q", title="share of seeds")
        layers.insert(0, bars.encode(x=x, y=bar_y, y2="bound_high:Q", color=colour, tooltip=tooltip))
    subtitle = f"Share of seeds with at least the share CT of their variants right, with intervals.{bars_text}"
    if matches := [row for answering in results.answers for row in _match(results, answering)]:
        marks = alt.Chart(inline(matches)).encode(x=x, y=y, color=colour, tooltip=tooltip)
        layers += [
            marks.mark_rule(strokeWidth=7, opacity=0.35).encode(x=alt.X("lowest:Q"), x2="ct:Q"),
            marks.mark_point(filled=True, size=170, shape="diamond", opacity=1, stroke="black", strokeWidth=1),
        ]
        subtitle += " Diamond: matching correctness, where it comes closest to seed accuracy; the bar spans ties."
    withheld = [name for answering in results.answers if (name := _withheld(results, answering))]
    if withheld:
        subtitle += f" Withheld: {', '.join(withheld)}."
    return chart("Do right answers survive small changes?", subtitle, layers, 380)


def _lines(results: Results, answering: AnsweringKey) -> list[DataRow]:
    """The points of the three lines; none where there is no curve, no reference where the match is withheld."""
    series = results.name(answering, model=True)
    rows: list[DataRow] = []
    drawn = {CURVE: "seed_variant_accuracy"}
    if not _withheld(results, answering):
        drawn[REFERENCE] = "seed_variant_reference"
    for line, measure in drawn.items():
        for ct, found in _curve(results, answering, measure):
            rows.append(_point(series, line, ct, found))
    seeds = _seeds(results, answering)
    if not rows or seeds is None or seeds.value is None:
        return rows
    ends = (min(row["ct"] for row in rows), 1.0)
    return [*rows, *(_point(series, SEEDS, ct, seeds) for ct in ends)]


def _curve(results: Results, answering: AnsweringKey, measure: str) -> list[tuple[float, Measure]]:
    found = [
        (float(dict(where)["ct"]), record)
        for (who, name, where), record in results.index.items()
        if who == answering and name == measure and record.value is not None and {key for key, _ in where} == {"ct"}
    ]
    return sorted(found, key=lambda pair: pair[0])


def _point(series: str, line: str, ct: float, measure: Measure) -> DataRow:
    return {
        "series": series,
        "line": line,
        "ct": ct,
        "value": measure.value,
        "low": measure.value if measure.low is None else measure.low,
        "high": measure.value if measure.high is None else measure.high,
        "shown": estimate(measure),
        "bound_low": measure.bound_low,
        "bound_high": measure.bound_high,
        "bounds": bounds(measure) or "–",
        "n": measure.n_sets,
    }


def _seeds(results: Results, answering: AnsweringKey) -> Measure | None:
    """Accuracy on the seeds that have variants: those that the curve is over."""
    return results.get(answering, "seed_accuracy", variants="some") or results.get(answering, "seed_accuracy")


def _match(results: Results, answering: AnsweringKey) -> list[DataRow]:
    """Matching correctness at the height of seed accuracy, none where it is withheld."""
    highest = results.get(answering, "matching_correctness")
    seeds = _seeds(results, answering)
    if highest is None or highest.value is None or seeds is None or seeds.value is None:
        return []
    start = highest.tied[0] if highest.tied else highest.value
    return [
        {
            "series": results.name(answering, model=True),
            "line": "matching correctness",
            "ct": highest.value,
            "lowest": start,
            "value": seeds.value,
            "shown": estimate(highest),
            "bounds": "–",
            "n": highest.n_sets,
        }
    ]


def _withheld(results: Results, answering: AnsweringKey) -> str:
    """Who has no matching correctness and why; empty where there is one."""
    found = results.get(answering, "matching_correctness")
    if found is None or found.value is not None:
        return ""
    name = results.name(answering, model=True)
    return f"{name} ({found.withheld})" if found.withheld else name


def word_class_chart(results: Results, _: Mapping[str, int] | None = None) -> Specification | None:
    """Variant accuracy in each word class, a point an answering with its interval."""
    rows = [
        {**_point(results.name(answering, model=True), "", 0.0, record), "word_class": spaced(str(value))}
        for answering in results.answers
        for (who, name, where), record in results.index.items()
        if who == answering and name == "variant_accuracy" and record.value is not None
        for key, value in where
        if key == "word_class" and len(where) == 1
    ]
    if not rows:
        return None
    names, classes = _names(results), list(dict.fromkeys(row["word_class"] for row in rows))
    legend = _legend(names) if len(names) > 1 else None
    colour = alt.Color("series:N", scale=_scale(names, PALETTE), legend=legend)
    shape = alt.Shape("series:N", scale=_scale(names, SHAPES), legend=legend)
    y = alt.Y(
        "word_class:N",
        axis=alt.Axis(title=None, domain=False, ticks=False, labelPadding=10),
        scale=alt.Scale(domain=classes, paddingInner=0.2),
    )
    offset = alt.YOffset("series:N", scale=alt.Scale(domain=names, paddingOuter=0.3))
    title = "variant accuracy"
    x = alt.X("value:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(values=AXIS, format=".1f"))
    tooltip = [
        alt.Tooltip("series:N", title="answered by"),
        alt.Tooltip("word_class:N", title="replaced word"),
        alt.Tooltip("shown:N", title="value"),
        alt.Tooltip("bounds:N", title=NOT_OK_BOUNDS),
        alt.Tooltip("n:Q", title="seeds"),
    ]
    base = alt.Chart(inline(rows)).encode(y=y, yOffset=offset, tooltip=tooltip)
    layers = [
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q", color=colour),
        base.mark_point(filled=True, size=95, opacity=1).encode(x=x, color=colour, shape=shape),
    ]
    bars, bars_text = not_ok_bars(rows)
    if bars is not None:
        bar_x = alt.X("bound_low:Q", title=title)
        layers.insert(0, bars.encode(y=y, yOffset=offset, x=bar_x, x2="bound_high:Q", color=colour, tooltip=tooltip))
    height = max(160, len(classes) * (24 + 14 * len(names)))
    subtitle = f"Share of variants right, with intervals.{bars_text}"
    return chart("Variants by the word that was replaced", subtitle, layers, height)


def proposer_chart(results: Results, _: Mapping[str, int] | None = None) -> Specification | None:
    """Variant accuracy as a heat map, a row an answering, a column a proposer; the cell of a model's own is framed."""
    own = {(AnsweringKey.of(m), m.slice["proposer"]) for m in results.contrasts if m.measure == "home_advantage"}
    rows = [
        {
            **_point(results.name(answering, model=True), "", 0.0, record),
            "proposer": value,
            "number": number(record.value),
            "home": (answering, value) in own,
        }
        for value in factor_values(results, "proposer")
        for answering in results.answers
        if (record := results.get(answering, "variant_accuracy", proposer=value)) and record.value is not None
    ]
    if not rows:
        return None
    names = _names(results)
    x = alt.X("proposer:N", axis=alt.Axis(title="proposed by", labelAngle=0), sort=None)
    y = alt.Y("series:N", axis=alt.Axis(title=None), scale=alt.Scale(domain=names))
    tooltip = [
        alt.Tooltip("series:N", title="answered by"),
        alt.Tooltip("proposer:N", title="proposed by"),
        alt.Tooltip("shown:N", title="variant accuracy"),
        alt.Tooltip("bounds:N", title=NOT_OK_BOUNDS),
        alt.Tooltip("n:Q", title="seeds"),
    ]
    base = alt.Chart(inline(rows)).encode(x=x, y=y, tooltip=tooltip)
    fill = alt.Color("value:Q", title="variant accuracy", scale=alt.Scale(domain=[0, 1], scheme="blues"))
    frame = alt.condition("datum.home", alt.value("black"), alt.value("transparent"))
    ink = alt.condition("datum.value > 0.6", alt.value("white"), alt.value("black"))
    layers = [
        base.mark_rect(strokeWidth=2).encode(color=fill, stroke=frame),
        base.mark_text().encode(text="number:N", color=ink),
    ]
    subtitle = "Share of variants right. A frame: the model proposed these variants itself, or was made from who did."
    if unanswered := [row for row in rows if row["bounds"] != "–"]:
        lower = alt.Chart(inline(unanswered)).encode(x=x, y=y, tooltip=tooltip)
        layers.append(lower.mark_text(dy=12, fontSize=9).encode(text="bounds:N", color=ink))
        subtitle += " Small: what the share could be if what was not answered (not ok) had been."
    return chart("Variants by who proposed them", subtitle, layers, max(120, 40 * len(names)))


def _names(results: Results) -> list[str]:
    return list(dict.fromkeys(results.name(answering, model=True) for answering in results.answers))


def _scale(names: Sequence[str], values: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(names), range=[values[i % len(values)] for i in range(len(names))])


def _legend(names: Sequence[str]) -> alt.Legend:
    columns = max(1, min(len(names), 64 // (max(map(len, names), default=0) + 5)))
    return alt.Legend(title=None, columns=columns, symbolOpacity=1)


FIGURES: Mapping[str, Figure] = {
    "consistency": Figure(
        consistency_chart,
        "Above “errors at random” on the right, errors gather in some seeds: whoever is right on most variants of a "
        "seed is right on all. A constant answer is right on all variants of a seed or on none.",
    ),
    "word-classes": Figure(
        word_class_chart, "A variant replaces one word by another of its class, in the premise and in the hypothesis."
    ),
    "proposers": Figure(
        proposer_chart,
        "Own variants against those of other proposers: a model that is better on its own has a home advantage.",
    ),
}
