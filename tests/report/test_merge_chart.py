"""The figures and the terminal's table of a suite of seeds and variants."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import altair as alt
import polars as pl
import pytest
from rich.console import Console

from tests.judge.judging import frame
from tests.judge.variants import TABLE, Planted, make
from veridical.items import Suite
from veridical.judge import baseline_frame, judge
from veridical.judge.measure import Measure
from veridical.report.charts import charts
from veridical.report.html import page
from veridical.report.presentation import presentation_of
from veridical.report.results import Results
from veridical.report.terminal import render

SEEDS = {**TABLE, "alone": Planted(True, 0, 0)}
NOUNS = ("s0.0", "s1.0", "s2.0", "s3.0", "s4.0")


@pytest.fixture(scope="module")
def asked() -> tuple[Suite, pl.DataFrame, list[Measure]]:
    """A model, the same without the premise, one that says True to everything, and the baselines."""
    names = [f"{seed}.{i}" for seed, planted in TABLE.items() for i in range(planted.n)]
    suite, answers = make(SEEDS, word_class={name: "noun" if name in NOUNS else "verb" for name in names})
    responses = pl.concat(
        [
            frame(suite, answers, model="careful"),
            frame(suite, answers | {"s0": None}, model="careful", input="hypothesis_only"),
            frame(suite, dict.fromkeys(answers, "True"), model="yes"),
        ]
    )
    found = [*judge(suite, responses, draws=200), *judge(suite, baseline_frame(suite), draws=200)]
    return suite, responses, found


@pytest.fixture(scope="module")
def specs(asked: tuple[Suite, pl.DataFrame, list[Measure]]) -> dict[str, Any]:
    return charts(presentation_of("merge"), Results.of(asked[2], "small"), {})


def rows(spec: dict[str, Any], *fields: str) -> Iterator[dict[str, Any]]:
    """The data rows of a specification that have all of `fields`."""
    for part in (spec, *spec["layer"]):
        for row in part.get("data", {}).get("values", ()):
            if all(field in row for field in fields):
                yield row
    for values in spec.get("datasets", {}).values():
        yield from (row for row in values if all(field in row for field in fields))


def test_both_figures_are_drawn_and_valid(specs: dict[str, Any]) -> None:
    assert set(specs) == {"consistency", "word-classes"}
    for spec in specs.values():
        alt.Chart.from_dict(spec)


def test_curve_and_reference_line_are_the_measures(specs: dict[str, Any]) -> None:
    drawn = {(r["series"], r["line"], r["ct"]): r["value"] for r in rows(specs["consistency"], "line", "ct")}
    curve = [drawn["careful · zero-shot", "SV: seeds that pass", k / 20] for k in range(1, 21)]
    assert curve == pytest.approx([0.8] * 10 + [0.6] * 5 + [0.2] * 5)
    assert drawn["careful · zero-shot", "errors at random", 1.0] == pytest.approx(0.6**4)
    # Over the five seeds that have variants, not the six.
    assert drawn["careful · zero-shot", "seed accuracy", 1.0] == pytest.approx(0.6)


def test_diamond_stands_at_the_match_and_the_bar_spans_the_tie(specs: dict[str, Any]) -> None:
    marks = {r["series"]: r for r in rows(specs["consistency"], "lowest")}
    # Whoever says one thing has no diamond.
    assert set(marks) == {"careful · zero-shot"}
    mark = marks["careful · zero-shot"]
    assert (mark["lowest"], mark["ct"], mark["value"]) == (0.55, 0.75, pytest.approx(0.6))
    assert "yes · zero-shot (a constant answer (True))" in " ".join(specs["consistency"]["title"]["subtitle"])


def test_word_classes_are_points_of_variant_accuracy(specs: dict[str, Any]) -> None:
    drawn = {(r["series"], r["word_class"]): r["value"] for r in rows(specs["word-classes"], "word_class")}
    assert drawn["careful · zero-shot", "noun"] == pytest.approx(4 / 5)
    assert drawn["careful · zero-shot", "verb"] == pytest.approx(8 / 15)


def test_page_shows_the_figures_and_says_why_a_match_is_withheld(
    asked: tuple[Suite, pl.DataFrame, list[Measure]],
) -> None:
    suite, responses, measures = asked
    text = page([suite], measures, responses, {}, {})
    assert 'id="chart-0-consistency"' in text
    assert "withheld: a constant answer (True) is right on all variants of a seed or on none" in text
    assert re.search(r"<td[^>]*>\s*\.55–\.75", text)  # the whole tie, in the table of results
    assert "NaN" not in text.split('id="data">')[1].split("</script>")[0]


@pytest.mark.parametrize("width", [100, 80])
def test_terminal_has_a_line_an_answering_with_its_match(
    asked: tuple[Suite, pl.DataFrame, list[Measure]], width: int
) -> None:
    suite, _, measures = asked
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(render([suite], measures))
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    first = next(line for line in lines if line.startswith("  zero-shot"))
    for text in (".60", ".20", ".75"):
        assert text in first
    majority = next(line for line in lines if line.startswith("majority"))
    assert "withheld" in majority
    assert "1 seed has no variants" in "\n".join(lines)
    assert any("word class" in line for line in lines)


def test_what_was_not_answered_is_hatched_from_bound_to_bound() -> None:
    names = [f"{seed}.{i}" for seed, planted in TABLE.items() for i in range(planted.n)]
    suite, answers = make(SEEDS, word_class={name: "noun" if name in NOUNS else "verb" for name in names})
    measures = judge(suite, frame(suite, answers | {"s0.0": None}, model="careful"), draws=50)
    drawn = charts(presentation_of("merge"), Results.of(measures, "small"), {})
    # One of the five nouns: its seed could be right on it or not, and so could the share of nouns.
    (noun,) = [row for row in rows(drawn["word-classes"], "bounds") if row["word_class"] == "noun"][:1]
    assert noun["bound_low"] == pytest.approx(noun["value"])
    assert noun["bound_high"] - noun["bound_low"] == pytest.approx(1 / 5)
    whole = [row for row in rows(drawn["consistency"], "bounds") if row["ct"] == 1 and row["line"].startswith("SV")]
    assert whole[0]["bound_high"] >= whole[0]["value"] == pytest.approx(whole[0]["bound_low"])
    for spec in drawn.values():
        alt.Chart.from_dict(spec)
        assert "Hatched: where the point could lie" in " ".join(spec["title"]["subtitle"])


def test_where_all_was_answered_nothing_is_hatched(specs: dict[str, Any]) -> None:
    for spec in specs.values():
        assert "Hatched" not in " ".join(spec["title"]["subtitle"])
