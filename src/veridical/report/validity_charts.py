"""The figures of criterion validity, as Vega-Lite specifications by name."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np

from veridical.report.drawing import GREY, PALETTE, DataRow, chart, inline
from veridical.report.presentation import Specification
from veridical.report.validity_limits import FULL_HEATMAP, TALLEST, lines, points, shown_benchmarks
from veridical.validity.results import Gain, RankAgreement, Validity
from veridical.validity.wording import amount, magnitude
from veridical.wording import number, p_value

if TYPE_CHECKING:
    from veridical.validity.analysis import Analysis

NAMED = 40
"""Up to so many models a rank flow names and colours each; above, those that move most, before the others in grey."""
MOVERS = 10
CROWDED = 200
"""From so many models on, points are small and see-through."""


def charts(analysis: Analysis) -> dict[str, Specification]:
    """Every figure that the record can fill: heatmap, a rank flow for each variant, two figures for each outcome."""
    record = analysis.record
    found = {"correlations": _heatmap(record) if len(record.columns) <= FULL_HEATMAP else _large_heatmap(record)}
    for place, agreement in enumerate(record.agreements):
        found[f"flow-{place}"] = _flow(analysis, agreement)
    for place, outcome in enumerate(record.outcomes):
        gains = [gain for gain in record.gains if gain.outcome == outcome]
        if gains:
            listed = shown_benchmarks(gains, len(record.outcomes))
            found[f"gain-{place}"] = _gains([gain for gain in gains if gain.benchmark in listed])
            found[f"predicted-{place}"] = _predicted(analysis, gains)
    return {name: spec for name, spec in found.items() if spec is not None}


def _heatmap(record: Validity) -> Specification | None:
    rows = []
    for pair in record.correlations:
        if pair.rho is None:
            continue
        shown = f"{number(pair.rho)}, n {pair.n}, p {p_value(pair.test.p) if pair.test else '–'}"
        for first, second in ((pair.first, pair.second), (pair.second, pair.first)):
            rows.append({"first": first, "second": second, "rho": pair.rho, "text": number(pair.rho), "shown": shown})
    if not rows:
        return None
    names = list(record.columns)
    axis = alt.Axis(title=None, labelLimit=160, domain=False, ticks=False)
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("first:N", sort=names, axis=axis),
        y=alt.Y("second:N", sort=names, axis=axis),
        tooltip=[alt.Tooltip("first:N"), alt.Tooltip("second:N"), alt.Tooltip("shown:N", title="Spearman's ρ")],
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=[PALETTE[4], "#f4f4f4", PALETTE[0]])
    layers = [base.mark_rect().encode(color=alt.Color("rho:Q", scale=scale, legend=alt.Legend(title="ρ")))]
    if len(names) <= 16:
        ink = alt.condition("abs(datum.rho) > 0.6", alt.value("#ffffff"), alt.value("#1b1f24"))
        layers.append(base.mark_text(fontSize=11).encode(text="text:N", color=ink))
    subtitle = "Spearman's ρ of every two columns, over the models that have both."
    return chart("Rank correlations", subtitle, layers, max(240, 26 * len(names)))


def _large_heatmap(record: Validity) -> Specification | None:
    """The heat map of many columns: its lower triangle, one row of the data a column, in hundredths."""
    names = list(record.columns)
    places = {name: place for place, name in enumerate(names)}
    cells: list[list[float | None]] = [[None] * place for place in range(len(names))]
    for pair in record.correlations:
        if pair.rho is not None:
            low, high = sorted((places[pair.first], places[pair.second]))
            cells[high][low] = round(pair.rho, 2)
    rows = [{"second": name, "rho": row} for name, row in zip(names, cells, strict=True) if row]
    firsts = alt.LookupData(
        data=inline([{"place": place, "first": name} for place, name in enumerate(names, 1)]),
        key="place",
        fields=["first"],
    )
    base = (
        alt.Chart(inline(rows))
        .transform_flatten(["rho"])
        .transform_window(place="row_number()", groupby=["second"])
        .transform_lookup("place", from_=firsts)
        .transform_filter("isValid(datum.rho)")
    )
    axis = alt.Axis(title=None, labelLimit=120, domain=False, ticks=False, labelFontSize=8, labelOverlap=True)
    scale = alt.Scale(domain=[-1, 0, 1], range=[PALETTE[4], "#f4f4f4", PALETTE[0]])
    layer = base.mark_rect().encode(
        x=alt.X("first:N", sort=names, axis=axis),
        y=alt.Y("second:N", sort=names, axis=axis),
        color=alt.Color("rho:Q", scale=scale, legend=alt.Legend(title="ρ")),
        tooltip=[alt.Tooltip("first:N"), alt.Tooltip("second:N"), alt.Tooltip("rho:Q", title="Spearman's ρ")],
    )
    subtitle = "Spearman's ρ of every two columns, over the models that have both. n and p are in validity.json."
    return chart("Rank correlations", subtitle, [layer], min(TALLEST, 26 * len(names)))


def _drawn(n: int, most: int, always: np.ndarray[Any, np.dtype[np.bool_]]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which of n models are drawn: all, or some that are spread evenly over their order, and those `always` drawn."""
    if n <= most:
        return np.ones(n, dtype=np.bool_)
    drawn = always.copy()
    drawn[np.linspace(0, n - 1, most).astype(np.int64)] = True
    return drawn


def _flow(analysis: Analysis, agreement: RankAgreement) -> Specification | None:
    """A line a model, from its rank on the original to its rank on the reworked version."""
    table = analysis.table
    old, new = table.column(agreement.original), table.column(agreement.reworked)
    both = np.isfinite(old) & np.isfinite(new)
    if both.sum() < 2:
        return None
    names = [model for model, there in zip(table.models, both, strict=True) if there]
    old_ranks, new_ranks = _places(old[both]), _places(new[both])
    moves = np.abs(new_ranks - old_ranks)
    crowded = len(names) > NAMED
    shown = moves >= (np.sort(moves)[-MOVERS] if crowded else 0)
    most = lines(analysis.record)
    shown &= np.cumsum(shown) <= max(most, NAMED)  # ties among the moves may be many
    drawn = np.empty(len(names), dtype=np.bool_)
    by_rank = np.argsort(old_ranks)
    drawn[by_rank] = _drawn(len(names), most, shown[by_rank])
    rows = [
        {
            "model": model,
            "original": int(a),
            "reworked": int(b),
            "left": agreement.original,
            "right": agreement.reworked,
            "kind": ("up" if b < a else "down" if b > a else "same") if named else "other models",
            "label": model if named else "",
            "shown": f"{agreement.original}: {a}; {agreement.reworked}: {b}",
        }
        for model, a, b, named, there in zip(names, old_ranks, new_ranks, shown, drawn, strict=True)
        if there
    ]
    # What is drawn last lies above the rest.
    rows.sort(key=lambda row: row["kind"] != "other models")
    scale = alt.Scale(domain=[0.5, len(names) + 0.5], reverse=True, nice=False)
    sides = alt.X(
        "left:N",
        title=None,
        scale=alt.Scale(domain=[agreement.original, agreement.reworked], padding=0.5),
        axis=alt.Axis(labelAngle=0, orient="top", domain=False, ticks=False, labelFontSize=13),
    )
    y = alt.Y("original:Q", title="rank (1 is best)", scale=scale, axis=alt.Axis(grid=False, tickMinStep=1))
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(
            domain=["up", "down", "other models" if crowded else "same"], range=[PALETTE[0], PALETTE[4], GREY]
        ),
        legend=alt.Legend(title="on the reworked version"),
    )
    tooltip = [alt.Tooltip("model:N"), alt.Tooltip("shown:N", title="ranks")]
    base = alt.Chart(inline(rows)).encode(tooltip=tooltip)
    layers = [
        base.mark_rule(strokeWidth=1.6).encode(
            x=sides,
            x2="right:N",
            y=y,
            y2="reworked:Q",
            color=colour,
            opacity=alt.condition("datum.kind == 'other models'", alt.value(0.12), alt.value(0.8)),
        ),
        base.mark_text(align="right", dx=-8, fontSize=11).encode(x=sides, y=y, text="label:N"),
        base.mark_text(align="left", dx=8, fontSize=11).encode(
            x=alt.X("right:N"), y=alt.Y("reworked:Q", scale=scale), text="label:N"
        ),
    ]
    caption = f"ρ {number(agreement.rho)}, τ {number(agreement.tau)}, n {agreement.n:,}. Each line is a model."
    caption += f" Named: the {int(shown.sum())} that move most." if crowded else ""
    caption += f" Drawn: {int(drawn.sum()):,} of {len(names):,} models." if not drawn.all() else ""
    return chart(f"{agreement.original} → {agreement.reworked}", caption, layers, min(900, max(260, 15 * len(names))))


def _places(scores: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Places from 1, ties in their order, so that no two lines lie on each other."""
    places = np.empty(len(scores), dtype=np.int64)
    places[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return places


def _gains(gains: list[Gain]) -> Specification | None:
    """MAE gain of every benchmark with its interval, over each baseline."""
    names = list(dict.fromkeys(gain.benchmark for gain in gains))
    baselines = list(dict.fromkeys(gain.baseline for gain in gains))
    rows = [
        {
            "benchmark": gain.benchmark,
            "baseline": f"over {gain.baseline}",
            "gain": gain.mae_gain,
            "low": gain.mae_gain if gain.interval.low is None else gain.interval.low,
            "high": gain.mae_gain if gain.interval.high is None else gain.interval.high,
            "shown": f"{amount(gain.mae_gain)} (n {gain.n}, p {p_value(gain.test.p) if gain.test else '–'})",
        }
        for gain in gains
    ]
    offset = alt.YOffset("baseline:N", scale=alt.Scale(paddingOuter=0.3))
    y = alt.Y("benchmark:N", sort=names, axis=alt.Axis(title=None, domain=False, ticks=False))
    domain = [f"over {baseline}" for baseline in baselines]
    colour = alt.Color(
        "baseline:N", scale=alt.Scale(domain=domain, range=list(PALETTE[: len(domain)])), legend=alt.Legend(title=None)
    )
    title = "MAE gain (the error that the benchmark takes away)"
    tooltip = [alt.Tooltip("benchmark:N"), alt.Tooltip("baseline:N"), alt.Tooltip("shown:N", title="gain")]
    base = alt.Chart(inline(rows)).encode(y=y, yOffset=offset, color=colour, tooltip=tooltip)
    layers = [
        alt.Chart(inline([{"zero": 0}])).mark_rule(stroke=GREY, strokeDash=[5, 4]).encode(x=alt.X("zero:Q")),
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title=title), x2="high:Q"),
        base.mark_point(filled=True, size=80, opacity=1).encode(x=alt.X("gain:Q", title=title)),
    ]
    few = any(gain.interval.level is None for gain in gains)
    bars = "Bars: range over leaving each family out." if few else "Bars: 95 % intervals over families."
    subtitle = f"Each family predicted by the others. {bars} Right of the line is better."
    return chart(f"What benchmarks add for {gains[0].outcome}", subtitle, layers, max(160, 34 * len(names)))


def _predicted(analysis: Analysis, gains: list[Gain]) -> Specification | None:
    """Held-out predictions against what was observed, for the benchmark with the greatest gain."""
    best = max((gain for gain in gains if gain.baseline == gains[-1].baseline), key=lambda gain: gain.mae_gain)
    key = (best.benchmark, best.outcome, best.baseline)
    of = next(one for one in analysis.predicted if (one.benchmark, one.outcome, one.baseline) == key)
    table = analysis.table
    models = [m for m, there in zip(table.models, of.rows, strict=True) if there]
    families = [f for f, there in zip(table.families, of.rows, strict=True) if there]
    drawn = np.empty(len(models), dtype=np.bool_)
    by_score = np.argsort(of.observed, kind="stable")
    drawn[by_score] = _drawn(len(models), points(analysis.record), np.zeros(len(models), dtype=np.bool_))
    largest = [name for name, _ in Counter(families).most_common(len(PALETTE))]
    rows: list[DataRow] = [
        {
            "model": model,
            "family": family,
            "group": family if family in largest else "other families",
            "observed": float(f"{observed:.6g}"),
            "predicted": float(f"{predicted:.6g}"),
        }
        for model, family, observed, predicted, there in zip(
            models, families, of.observed, of.with_benchmark, drawn, strict=True
        )
        if there
    ]
    low = min(min(row["observed"], row["predicted"]) for row in rows)
    high = max(max(row["observed"], row["predicted"]) for row in rows)
    if low == high:
        return None
    groups = [*largest, "other families"] if len(set(families)) > len(largest) else largest
    scale = alt.Scale(domain=[low, high], nice=True)
    colours = alt.Scale(domain=groups, range=[*PALETTE[: len(largest)], GREY][: len(groups)])
    diagonal = alt.Chart(inline([{"a": low, "b": high}])).mark_rule(stroke=GREY, strokeDash=[5, 4])
    layers = [
        diagonal.encode(x=alt.X("a:Q", scale=scale), y=alt.Y("a:Q", scale=scale), x2="b:Q", y2="b:Q"),
        alt.Chart(inline(rows))
        .mark_point(filled=True, size=18 if len(rows) > CROWDED else 70, opacity=0.5 if len(rows) > CROWDED else 0.85)
        .encode(
            x=alt.X("predicted:Q", title="predicted, its family left out", scale=scale),
            y=alt.Y("observed:Q", title=f"observed: {best.outcome}", scale=scale),
            color=alt.Color("group:N", scale=colours, legend=alt.Legend(title=None, columns=3)),
            tooltip=[alt.Tooltip(f"{name}:N") for name in ("model", "family")]
            + [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("observed", "predicted")],
        ),
    ]
    reached = best.with_benchmark
    caption = (
        f"By {best.baseline} and {best.benchmark}, the benchmark that gains most: MAE {magnitude(reached.mae)}, "
        f"R² {number(reached.r2)}, n {best.n:,}."
    )
    caption += f" Drawn: {int(drawn.sum()):,} of {len(models):,} models." if not drawn.all() else ""
    return chart(f"{best.outcome}: predicted and observed", caption, layers, 380)
