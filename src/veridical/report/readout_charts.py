"""The figures of a readout, as Vega-Lite specifications: the layer curve, the nulls, and the comparison of phrases."""

from __future__ import annotations

import altair as alt
import numpy as np
import numpy.typing as npt

from veridical.readouts.answers import READOUT
from veridical.report.drawing import GREY, PALETTE, chart, inline
from veridical.report.presentation import Specification
from veridical.report.shown_readout import ShownReadout
from veridical.wording import number, p_value, spaced

BINS = 30


def charts(one: ShownReadout) -> dict[str, tuple[Specification, str]]:
    """Name to specification and caption; a figure that nothing fills is not there."""
    found = {
        "layers": (_layers(one), "Layers count from the embedding (0); the last is taken before the final norm."),
        "null-balanced": (_null(one, "balanced_accuracy"), "The line is what the readout reached."),
        "null-pairs": (_null(one, "pair_recovery"), "The line is what the readout reached."),
        "phrases": (
            _phrases(one),
            "Cosine of “was building a gazebo” and “built a gazebo”, averaged over a verb class.",
        ),
        "classes": (
            _classes(one),
            "One point a verb class. A correlation over so few points is weak evidence whatever its size.",
        ),
        "bias": (
            _bias(one),
            "r is over verb classes, of which there are few: its p is the one of so small a sample. ρ is over items.",
        ),
    }
    return {name: (spec, caption) for name, (spec, caption) in found.items() if spec is not None}


def _layers(one: ShownReadout) -> Specification | None:
    layers = one.record.layers
    if len(layers) < 2:
        return None
    transferred = one.record.fitted_on != one.record.suite
    series = {
        "judged": [(at.layer, at.balanced_accuracy) for at in layers],
        "validation on the fitted set": [(at.layer, at.validation) for at in layers] if transferred else [],
        "pairs recovered": [(at.layer, at.pair_recovery) for at in layers if at.pair_recovery is not None],
        "null mean": [(at.layer, at.null_mean) for at in layers if at.null_mean is not None],
    }
    rows = [
        {"layer": layer, "value": value, "series": name, "shown": number(value)}
        for name, points in series.items()
        for layer, value in points
    ]
    names = [name for name, points in series.items() if points]
    colours = [GREY if name == "null mean" else PALETTE[place] for place, name in enumerate(names)]
    line = (
        alt.Chart(inline(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("layer:Q", title="layer", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("value:Q", title="share", scale=alt.Scale(domain=[0, 1])),
            color=alt.Color(
                "series:N", scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(title=None, columns=2)
            ),
            tooltip=[alt.Tooltip("series:N"), alt.Tooltip("layer:Q"), alt.Tooltip("shown:N", title="value")],
        )
    )
    return chart("Readout by layer", "Balanced accuracy of a readout at every layer.", [line], 300)


def _null(one: ShownReadout, measure: str) -> Specification | None:
    draws = one.draws.get(f"{READOUT}/full/{measure}")
    null = next((n for n in one.record.nulls if (n.answerer, n.input, n.measure) == (READOUT, "full", measure)), None)
    if draws is None or null is None:
        return None
    edges = bin_edges(np.append(draws, null.observed))
    if edges is None:
        return None
    counts, _ = np.histogram(draws, bins=edges)
    rows = [
        {"from": float(a), "to": float(b), "draws": int(n)}
        for a, b, n in zip(edges[:-1], edges[1:], counts, strict=True)
    ]
    bars = (
        alt.Chart(inline(rows))
        .mark_bar(color=GREY)
        .encode(
            x=alt.X("from:Q", title=spaced(measure), scale=alt.Scale(zero=False)),
            x2="to:Q",
            y=alt.Y("draws:Q", title="draws"),
            y2=alt.datum(0),
            tooltip=[alt.Tooltip("from:Q", format=".2f"), alt.Tooltip("to:Q", format=".2f"), alt.Tooltip("draws:Q")],
        )
    )
    rule = (
        alt.Chart(inline([{"observed": null.observed}]))
        .mark_rule(color=PALETTE[4], strokeWidth=3)
        .encode(x="observed:Q")
    )
    caption = f"{null.draws:,} draws, mean {number(null.mean)}; observed {number(null.observed)}, p {p_value(null.p)}"
    return chart(f"Null of {spaced(measure)}: labels permuted within their groups", caption, [bars, rule], 220)


def bin_edges(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64] | None:
    """Bins for a histogram, each over the same number of attainable values.

    Shares of a few items lie on a lattice; bins of another width hold now more of its points and now fewer, and draw
    teeth that the draws do not have.
    """
    distinct = np.unique(np.round(values, 9))
    if len(distinct) < 2:
        return None
    step = np.diff(distinct).min()
    n_values = round(float((distinct[-1] - distinct[0]) / step)) + 1
    width = -(-n_values // BINS)
    n_bins = -(-n_values // width)
    return np.asarray(distinct[0] + step * (width * np.arange(n_bins + 1) - 0.5))


def _phrases(one: ShownReadout) -> Specification | None:
    rows = [
        {"layer": at.layer, "cosine": value, "class": spaced(name), "shown": f"{value:.3f}"}
        for at in one.record.representation
        for name, value in at.cosine.items()
    ]
    if not rows:
        return None
    line = (
        alt.Chart(inline(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("layer:Q", title="layer", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("cosine:Q", title="mean cosine", scale=alt.Scale(zero=False)),
            color=alt.Color("class:N", scale=alt.Scale(range=list(PALETTE)), legend=alt.Legend(title=None, columns=3)),
            tooltip=[alt.Tooltip("class:N"), alt.Tooltip("layer:Q"), alt.Tooltip("shown:N", title="cosine")],
        )
    )
    return chart("Progressive and simple past by layer", "Mean cosine of the two phrases, by verb class.", [line], 300)


def _classes(one: ShownReadout) -> Specification | None:
    """Likeness of the two phrases against TBR at the readout's own layer, a point a verb class."""
    at = next((found for found in one.record.representation if found.layer == one.record.layer), None)
    if at is None or not at.tbr:
        return None
    rows = [
        {
            "class": spaced(name),
            "cosine": at.cosine[name],
            "tbr": value,
            "shown": f"cosine {at.cosine[name]:.3f}, TBR {number(value)}",
        }
        for name, value in at.tbr.items()
    ]
    base = alt.Chart(inline(rows)).encode(
        x=alt.X("cosine:Q", title="mean cosine of the two phrases", scale=alt.Scale(zero=False, padding=30)),
        y=alt.Y("tbr:Q", title="teleological bias rate", scale=alt.Scale(domain=[0, 1])),
        tooltip=[alt.Tooltip("class:N", title="verb class"), alt.Tooltip("shown:N", title="value")],
    )
    layers = [
        base.mark_point(filled=True, size=110, opacity=1, color=PALETTE[0]),
        base.mark_text(dy=-14, fontSize=12).encode(text="class:N"),
    ]
    return chart("Similarity of the two phrases and TBR by verb class", _correlations(one), layers, 300)


def _bias(one: ShownReadout) -> Specification | None:
    """The correlations at every layer, over classes and over items."""
    rows = []
    for at in one.record.representation:
        for series, value, n, p in (("r over classes", at.r, at.n, at.p), ("ρ over items", at.rho, at.rho_n, at.rho_p)):
            if value is not None:
                shown = f"{number(value)}, n {n}, p {p_value(p)}"
                rows.append({"layer": at.layer, "value": value, "series": series, "shown": shown})
    if not rows:
        return None
    colours = {"r over classes": PALETTE[0], "ρ over items": PALETTE[1]}
    names = [name for name in colours if any(row["series"] == name for row in rows)]
    line = (
        alt.Chart(inline(rows))
        .mark_line(point=True)
        .encode(
            x=alt.X("layer:Q", title="layer", axis=alt.Axis(tickMinStep=1)),
            y=alt.Y("value:Q", title="correlation", scale=alt.Scale(domain=[-1, 1])),
            color=alt.Color(
                "series:N",
                scale=alt.Scale(domain=names, range=[colours[name] for name in names]),
                legend=alt.Legend(title=None),
            ),
            tooltip=[alt.Tooltip("series:N"), alt.Tooltip("layer:Q"), alt.Tooltip("shown:N", title="value")],
        )
    )
    caption = _correlations(one)
    return chart("Similarity of the two phrases and teleological bias", caption, [line], 260)


def _correlations(one: ShownReadout) -> str:
    """The correlations at the readout's own layer, and why one is not there."""
    at = next((found for found in one.record.representation if found.layer == one.record.layer), None)
    if at is None:
        return "Correlation of the cosine with TBR by class, and with the probability of True by item."
    over_classes = (
        "no r, since TBR or the cosine does not differ between classes"
        if at.r is None
        else f"r {number(at.r)}, n {at.n} classes, p {p_value(at.p)}"
    )
    over_items = (
        "no ρ, since the probability of True or the cosine does not differ between items"
        if at.rho is None
        else f"ρ {number(at.rho)}, n {at.rho_n} items, p {p_value(at.rho_p)}"
    )
    return f"At layer {at.layer}: {over_classes}; {over_items}."
