"""The figure of model size: TBR and gap against the number of parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping

import altair as alt

from veridical.report.drawing import (
    DASHES,
    PALETTE,
    SHAPES,
    chart,
    inline,
    legend_below,
    measure_row,
    measure_tooltip,
    named_scale,
    not_ok_bars,
)
from veridical.report.presentation import Specification
from veridical.report.results import Results
from veridical.report.texts import parameter_count

_SIZE = re.compile(r"(?<![A-Za-z0-9])\d+(?:\.\d+)?\s?[BbMm](?![A-Za-z0-9])")
"""A number of parameters as model names give it: `7B`, `0.5b`, `135M`."""


def family_of(model: str) -> str:
    """A model's name without its size: `hf/Qwen/Qwen2.5-7B-Instruct` and the 14B are both `Qwen2.5-Instruct`.

    Names without a size are a family of their own. The rule is Veridical's; Llama 3.1 and 3.2 are two families by it.
    """
    name = model.rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"[-_. ]{2,}", "-", _SIZE.sub("", name)).strip("-_. ") or name


def scale_chart(results: Results, parameters: Mapping[str, int]) -> Specification | None:
    """TBR and gap against the number of parameters, where two models or more have a known size.

    Lines join the models of one family under one prompt: what changes between families is not size alone.
    """
    names = {"tbr": "TBR", "aspectual_awareness_gap": "gap ΔAA"}
    rows = [
        measure_row(
            results,
            answering,
            measure,
            measure=names[kind],
            size_text=parameter_count(size),
            family=family_of(answering.model),
        )
        | {"size": size}
        for answering in results.answers
        if (size := parameters.get(answering.model))
        for kind in names
        if (measure := results.get(answering, kind)) and measure.value is not None
    ]
    if len({row["model"] for row in rows}) < 2:
        return None
    settings = list(dict.fromkeys(row["setting"] for row in rows))
    families = list(dict.fromkeys(row["family"] for row in rows))
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
        legend=legend_below(list(names.values())),
    )
    dash = alt.StrokeDash(
        "setting:N",
        scale=alt.Scale(domain=settings, range=[DASHES[i % len(DASHES)] for i in range(len(settings))]),
        legend=legend_below(settings, symbolType="stroke", symbolSize=400) if len(settings) > 1 else None,
    )
    shape = alt.Shape(
        "family:N",
        scale=named_scale(families, SHAPES),
        legend=legend_below(families) if len(families) > 1 else None,
    )
    bottom = min(0.0, *(min(row["low"], row["bound_low"] or 0.0) for row in rows))
    y = alt.Y("value:Q", title="rate", scale=alt.Scale(domain=[bottom, 1], nice=True), axis=alt.Axis(format=".1f"))
    base = alt.Chart(inline(rows)).encode(x=x, color=colour)
    tooltip = measure_tooltip(("measure", "measure"), ("size_text", "parameters"), ("family", "family"))
    layers = [
        base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dash, detail=["setting:N", "family:N"]),
        base.mark_rule(strokeWidth=1.5, opacity=0.6).encode(y=alt.Y("low:Q", title="rate"), y2="high:Q"),
        base.mark_point(filled=True, size=95, opacity=1).encode(y=y, shape=shape, tooltip=tooltip),
    ]
    bars, bars_text = not_ok_bars(rows)
    if bars is not None:
        bar_y = alt.Y("bound_low:Q", title="rate")
        layers.insert(0, bars.encode(x=x, y=bar_y, y2="bound_high:Q", color=colour, tooltip=tooltip))
    subtitle = f"Points with intervals. TBR is best at 0, the gap at 1.{bars_text}"
    if len(families) > 1:
        subtitle += " Lines join the sizes of one family (models whose names differ in the size alone)."
    return chart("TBR and gap by model size", subtitle, layers, 300)
