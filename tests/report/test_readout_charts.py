"""Charts of readouts: what they are drawn from."""

import json
from typing import Any

import numpy as np
import polars as pl
import pytest

from veridical.readouts.record import ReadoutRecord, Representation
from veridical.report.readout_charts import BINS, bin_edges, charts
from veridical.report.shown_readout import ShownReadout


@pytest.mark.parametrize("step", [1 / 162, 1 / 54, 1 / 1000])
@pytest.mark.parametrize("n_values", [2, 29, 31, 61, 62, 150])
def test_bins_of_a_flat_null_are_flat(step: float, n_values: int) -> None:
    """Every attainable value drawn five times: every bar is as high, but for a last one that is not full."""
    draws = np.repeat(0.1 + step * np.arange(n_values), 5)
    edges = bin_edges(draws)
    assert edges is not None
    counts, _ = np.histogram(draws, bins=edges)
    assert counts.sum() == len(draws)
    assert len(counts) <= BINS
    assert len(set(counts[:-1].tolist())) <= 1
    assert counts[-1] <= counts[0]


def test_draws_of_one_value_have_no_histogram() -> None:
    assert bin_edges(np.full(10, 0.5)) is None


def figures(*, r: float | None) -> dict[str, tuple[dict[str, Any], str]]:
    """The charts of a readout of two layers with these correlations over classes, and one of .25 over items."""
    at = [
        Representation(
            layer=layer,
            cosine={"Creation": 0.9},
            tbr={"Creation": 0.0},
            r=r,
            n=4,
            p=None if r is None else 0.5,
            rho=0.25,
            rho_n=30,
            rho_p=0.18,
        )
        for layer in (0, 1)
    ]
    record = ReadoutRecord(
        suite="s", fitted_on="s", prompt="ask", layer=1, n_blocks=1, folds=5, seed=0, representation=tuple(at)
    )
    return charts(ShownReadout("m", record, {}, pl.DataFrame()))


def subtitle(chart: dict[str, Any]) -> str:
    """The subtitle, which is broken into lines."""
    return " ".join(chart["title"]["subtitle"])


def test_a_correlation_that_cannot_be_computed_has_no_place_in_the_legend_and_says_why() -> None:
    chart, _ = figures(r=None)["bias"]
    assert "r over classes" not in json.dumps(chart, ensure_ascii=False)
    assert "At layer 1: no r, since TBR or the cosine does not differ between classes; ρ .25, n 30 items" in subtitle(
        chart
    )


def test_correlations_that_are_there_are_both_reported() -> None:
    chart, _ = figures(r=0.5)["bias"]
    assert "r over classes" in json.dumps(chart, ensure_ascii=False)
    assert "At layer 1: r .50, n 4 classes, p .500; ρ .25, n 30 items, p .180" in subtitle(chart)


def test_classes_are_points_of_likeness_against_bias_at_the_layer_of_the_readout() -> None:
    spec, caption = figures(r=-0.97)["classes"]
    (points,) = spec["datasets"].values() if "datasets" in spec else (spec["layer"][0]["data"]["values"],)
    assert [(row["class"], row["cosine"], row["tbr"]) for row in points] == [("Creation", 0.9, 0.0)]
    assert "n 4 classes" in subtitle(spec)
    assert "few points" in caption
