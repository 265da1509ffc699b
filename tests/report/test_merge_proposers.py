"""Models against proposers: a heat map on the page and a table in the terminal, with what is a model's own framed."""

from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from tests.judge.judging import frame
from tests.judge.variants import TABLE, make
from veridical.judge import judge
from veridical.judge.measure import Measure
from veridical.report.charts import charts
from veridical.report.presentation import presentation_of
from veridical.report.results import Results
from veridical.suites.merge.terminal import merge_table

VARIANTS = [f"{seed}.{i}" for seed, planted in TABLE.items() for i in range(planted.n)]
PROPOSERS = {name: "hf/a/base" if name[-1] in "01" else "minilm-mlm" for name in VARIANTS}


@pytest.fixture(scope="module")
def measures() -> list[Measure]:
    """Of each seed's four variants the first two are one proposer's, the last two another's."""
    suite, answers = make(TABLE, proposer=PROPOSERS)
    return judge(suite, frame(suite, answers, model="nli-model"), draws=200, bases={"nli-model": "hf/a/base"})


def cells(measures: list[Measure]) -> dict[str, dict[str, Any]]:
    spec = charts(presentation_of("merge"), Results.of(measures, "small"), {})["proposers"]
    parts = [spec, *spec["layer"]]
    rows = [row for part in parts for row in part.get("data", {}).get("values", ())]
    rows += [row for values in spec.get("datasets", {}).values() for row in values]
    return {row["proposer"]: row for row in rows if "proposer" in row}


def test_the_heat_map_has_a_cell_a_proposer_and_frames_home(measures: list[Measure]) -> None:
    found = cells(measures)
    # s0 to s4 have 4, 3, 2, 3 and 0 right, in order: of the first two 8 of 10, of the last two 4 of 10.
    assert {name: row["value"] for name, row in found.items()} == pytest.approx({"hf/a/base": 0.8, "minilm-mlm": 0.4})
    assert {name: row["home"] for name, row in found.items()} == {"hf/a/base": True, "minilm-mlm": False}
    assert found["hf/a/base"]["number"] == ".80"


def test_one_proposer_is_not_a_heat_map() -> None:
    suite, answers = make(TABLE, proposer=dict.fromkeys(VARIANTS, "minilm-mlm"))
    found = judge(suite, frame(suite, answers), draws=50)
    assert "proposers" not in charts(presentation_of("merge"), Results.of(found, "small"), {})


def test_the_terminal_has_a_table_of_models_against_proposers(measures: list[Measure]) -> None:
    console = Console(file=io.StringIO(), width=120)
    suite, _ = make(TABLE, proposer=PROPOSERS)
    for part in merge_table(suite, Results.of(measures, "small", presentation_of("merge")), 120):
        console.print(part)
    printed = console.file.getvalue()  # type: ignore[attr-defined]
    assert "Variant accuracy by who proposed the variants" in printed
    after = printed.split("who proposed the variants", 1)[1]
    assert "hf/a/base" in after
    assert ".80" in after
    assert ".40" in after
