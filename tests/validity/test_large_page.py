"""The page of a large table stays small, and says what it leaves to validity.json."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from tests.validity.making import planted
from veridical.report import validity_limits
from veridical.report.validity import page
from veridical.report.validity_charts import charts
from veridical.report.validity_limits import shown_benchmarks
from veridical.validity.analysis import Analysis, analyse
from veridical.validity.results import Correlation, RankedModel, Ranking, Span, Tested

MEGABYTES = 1e6


def wide(analysis: Analysis, columns: int, paired: int | None = None) -> Analysis:
    """The analysis as if it had so many columns; every pair (of the first `paired`) has a correlation of its own, and
    every gain is repeated."""
    names = (*analysis.record.columns, *(f"a benchmark with a name, {place:03d}" for place in range(columns)))[:columns]
    places = {name: place for place, name in enumerate(names)}
    made = Span(low=0.1, high=0.2, level=0.95, method="Bonett–Wright")
    test = Tested(p=0.01, holm=0.02, bh=0.02, tests=columns, null="permutation")
    pairs = tuple(
        Correlation(first=a, second=b, n=96, rho=rho(places[a], places[b]), tau=0.1, interval=made, test=test)
        for a, b in combinations(names[:paired], 2)
    )
    ranked = [RankedModel(model=model, score=0.5, rank=1, low=1, high=9) for model in analysis.table.models]
    alike = tuple(combinations(analysis.table.models[:60], 2))
    rankings = tuple(
        Ranking(column=name, method="binomial", models=tuple(ranked), pairs=4560, inseparable=9, alike=alike)
        for name in names
    )
    gains = tuple(
        gain.model_copy(update={"benchmark": name, "mae_gain": gain.mae_gain - place})
        for gain in analysis.record.gains
        for place, name in enumerate([gain.benchmark, *names[len(analysis.record.columns) :]])
    )
    update = {"columns": names, "correlations": pairs, "rankings": rankings, "gains": gains}
    return replace(analysis, record=analysis.record.model_copy(update=update))


def rho(one: int, other: int) -> float:
    return round(((7 * min(one, other) + 11 * max(one, other)) % 199 - 99) / 100, 2)


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    return analyse(planted(12, 8, benchmarks=("skill",), outcomes={"needed": ""}), draws=99)


def test_a_page_of_96_models_and_234_columns_is_under_3_megabytes(analysis) -> None:
    large = wide(analysis, 234)
    assert (len(large.record.correlations), len(large.record.gains)) == (234 * 233 // 2, 1 + 234 - 2)
    text = page(large)
    assert len(text.encode()) < 3 * MEGABYTES
    assert "The 300 strongest of 27,261 pairs of columns; all are in validity.json" in text


def test_a_page_of_2000_models_and_40_columns_is_under_3_megabytes() -> None:
    outcomes: dict[str, str] = {}
    table = planted(40, 50, benchmarks=("skill",), variants={"copy": "skill"}, outcomes=outcomes)
    text = page(wide(analyse(table, draws=99), 40))
    assert len(text.encode()) < 3 * MEGABYTES
    assert "The first 75 of 2,000 models; all are in validity.json" in text


@pytest.mark.slow
def test_benchmarks_that_are_not_listed_are_counted_and_gain_less(analysis) -> None:
    large = wide(analysis, 1000, paired=60)
    listed = shown_benchmarks(large.record.gains, outcomes=4)
    assert len(listed) == 200
    best = sorted(large.record.gains, key=lambda gain: gain.mae_gain)[-200:]
    assert listed == {gain.benchmark for gain in best}
    assert "The 800 benchmarks of 999 that gain most; all are in validity.json." in page(large)


def test_the_heat_map_of_many_columns_has_every_pair_once(analysis) -> None:
    large = wide(analysis, 60)
    spec = charts(large)["correlations"]
    (rows,) = [data for data in values(spec) if data and "rho" in data[0]]
    (places,) = [data for data in values(spec) if data and "place" in data[0]]
    names = {row["place"]: row["first"] for row in places}
    found = {(names[place], row["second"]): value for row in rows for place, value in enumerate(row["rho"], 1)}
    order = {name: place for place, name in enumerate(large.record.columns)}
    assert found == {(a, b): rho(order[a], order[b]) for a, b in combinations(large.record.columns, 2)}


def values(spec: Any) -> list[list[dict[str, Any]]]:
    """The inline data of a specification."""
    if isinstance(spec, list):
        return [found for part in spec for found in values(part)]
    if not isinstance(spec, dict):
        return []
    if isinstance(spec.get("values"), list) and spec["values"] and isinstance(spec["values"][0], dict):
        return [spec["values"]]
    datasets = list(spec["datasets"].values()) if "datasets" in spec else []
    return datasets + [found for part in spec.values() for found in values(part)]


def test_models_left_out_of_a_chart_are_counted(analysis, monkeypatch) -> None:
    monkeypatch.setattr(validity_limits, "_POINTS", 50)
    spec = json.dumps(charts(analysis)["predicted-0"])
    assert len(re.findall('"observed": [-0-9.]', spec)) == 50
    assert "Drawn: 50 of 96 models." in spec.replace('", "', " ")


def test_a_browser_draws_the_heat_map_of_many_columns(browser, analysis, tmp_path) -> None:
    (tmp_path / "validity.html").write_text(page(wide(analysis, 45)), "utf-8")
    said: list[str] = []
    window = browser.new_page(viewport={"width": 1200, "height": 800})
    window.on("console", lambda message: said.append(message.text))
    window.on("pageerror", lambda error: said.append(str(error)))
    window.goto((tmp_path / "validity.html").as_uri())
    window.locator("#chart-correlations svg.marks").wait_for(timeout=20_000)
    assert window.locator("#chart-correlations svg.marks .mark-rect.role-mark path").count() == 45 * 44 // 2
    assert said == []
    window.close()


def test_drawn_models_are_spread_over_their_order() -> None:
    from veridical.report.validity_charts import _drawn

    always = np.zeros(100, dtype=bool)
    always[[50, 51]] = True
    assert np.flatnonzero(_drawn(100, 3, always)).tolist() == [0, 49, 50, 51, 99]
    assert _drawn(3, 3, np.zeros(3, dtype=bool)).all()
