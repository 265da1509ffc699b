"""The whole analysis: verdicts on a planted table, a real table with its gaps, the command and its files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from tests.cli.test_bad_input import call, fault
from tests.report.pages import HOSTILE
from tests.validity.making import planted, without
from veridical.report.validity import page
from veridical.report.validity_charts import charts
from veridical.validity.analysis import Analysis, analyse
from veridical.validity.quality import quality
from veridical.validity.results import Validity

SCORES = Path(__file__).parents[3] / "shared" / "data" / "scores_obsscaling" / "base_llm_benchmark_eval.csv"
VARIANTS = {"variants": {"copy": "skill", "poor": "skill"}}


@pytest.fixture(scope="module")
def analysis() -> Analysis:
    table = planted(
        **VARIANTS,
        controls=("check",),
        axes={"skill": "deep", "idle": "wide"},
        outcomes={"needed": "deep", "sized": "wide"},
    )
    return analyse(table, draws=499)


def test_verdicts_say_what_was_planted(analysis) -> None:
    expected = analysis.record.verdicts
    assert any(t.startswith("skill adds to model size and controls for predicting needed: gain +") for t in expected)
    for pair in (("skill", "sized"), ("idle", "needed"), ("idle", "sized")):
        starts = tuple(
            f"{pair[0]} {does} to model size and controls for predicting {pair[1]}:"
            for does in ("adds nothing", "is not shown to add")
        )
        assert any(t.startswith(starts) for t in expected)
    assert any(
        t.startswith(("copy and skill rank models with ρ .99", "copy and skill rank models with ρ 1")) for t in expected
    )
    assert any("by held-out gain it predicts worse needed" in t for t in expected if t.startswith("poor and skill"))


def test_the_first_sentence_says_what_adds_to_what(analysis) -> None:
    gains = [gain for gain in analysis.record.gains if gain.baseline == "size + controls"]
    adding = [(gain.benchmark, gain.outcome) for gain in gains if gain.mae_gain > 0 and gain.test.holm <= 0.05]
    assert {outcome for _, outcome in adding} == {"needed"}
    names = [f"{benchmark} (for needed)" for benchmark, _ in adding]
    assert analysis.record.verdicts[0] == (
        f"{len(names)} of 4 benchmarks {'adds' if len(names) == 1 else 'add'} to model size and controls, after "
        f"correction for 8 tests: {' and '.join([', '.join(names[:-1]), names[-1]] if len(names) > 1 else names)}."
    )


def test_few_families_lead_with_leaving_each_out() -> None:
    record = analyse(planted(5, 6), draws=99).record
    assert record.lead == "leave one family out"
    # 2^(1 - 5) = .0625
    (expected,) = [expected for expected in record.verdicts if expected.startswith("With 5 families")]
    assert "below .062" in expected
    assert {gain.interval.level for gain in record.gains} == {None}


def test_an_outcome_that_too_few_models_have_is_said_to_be_untested() -> None:
    table = planted(5, 6)
    for model in range(23):
        table = without(table, model, "sized")
    record = analyse(table, draws=99).record
    assert {gain.outcome for gain in record.gains} == {"needed"}
    start = "skill, idle cannot be tested for sized: 7 models have both, with size and controls; 8 in 3 families are"
    assert any(expected.startswith(start) for expected in record.verdicts)


def test_the_record_is_strict_json_and_comes_back(analysis) -> None:
    text = json.dumps(analysis.record.model_dump(mode="json"), allow_nan=False)
    assert json.loads(text)["schema"] == "veridical.validity/1"
    assert Validity.model_validate_json(text) == analysis.record


def test_quality_names_what_stands_in_the_way() -> None:
    table = without(planted(5, 6, controls=("check",)), 2, "check")
    scores = table.scores.copy()
    scores[:, table.names.index("sized")] = 0.5
    scores[:, table.names.index("idle")] = scores[:, table.names.index("skill")]
    scores[4] = scores[9]
    codes = ["lonely" if place == 0 else family for place, family in enumerate(table.families)]
    models = ["org/Net-7b", "other/net_7B", *table.models[2:]]
    found = quality(replace(table, scores=scores, families=tuple(codes), models=tuple(models)))
    kinds = {(note.kind, note.where) for note in found}
    assert ("missing", ("check",)) in kinds
    assert ("constant", ("sized",)) in kinds
    assert ("same column", ("skill", "idle")) in kinds
    assert ("same model", ("m4", "m9")) in kinds
    assert ("same model", ("org/Net-7b", "other/net_7B")) in kinds
    assert ("singleton family", ("lonely",)) in kinds


def test_ceiling_and_floor_are_reported() -> None:
    table = planted(4, 5)
    scores = np.clip(table.scores, 0, 1)
    scores[:3, 0], scores[:3, 1] = 1.0, 0.0
    scores[3:, :2] = np.linspace(0.3, 0.7, 17)[:, None]
    found = {(n.kind, n.where) for n in quality(replace(table, scores=scores))}
    assert ("ceiling", ("skill",)) in found
    assert ("floor", ("idle",)) in found


def test_constant_columns_and_outcomes_break_nothing() -> None:
    table = planted(5, 6, **VARIANTS)
    scores = table.scores.copy()
    scores[:, table.names.index("idle")] = 0.5
    scores[:, table.names.index("sized")] = 0.5
    record = analyse(replace(table, scores=scores), draws=99).record
    by_pair = {(gain.benchmark, gain.outcome): gain for gain in record.gains}
    assert by_pair["idle", "needed"].mae_gain == pytest.approx(0, abs=1e-12)
    assert by_pair["idle", "needed"].test.p == 1
    assert by_pair["skill", "sized"].with_benchmark.r2 is None
    rho = {(one.benchmark, one.outcome): one.rho for one in record.partials}
    assert rho["idle", "needed"] is None
    assert rho["skill", "sized"] is None


def test_the_page_holds_every_part_and_asks_for_nothing_from_outside(analysis) -> None:
    text = page(analysis)
    for part in ("chart-correlations", "chart-flow-0", "chart-gain-0", "chart-predicted-1", 'id="data-quality"'):
        assert part in text
    data = json.loads(text.split('<script type="application/json" id="data">')[1].split("</script>")[0])
    assert set(data["charts"]) == {"correlations", "flow-0", "flow-1", "gain-0", "predicted-0", "gain-1", "predicted-1"}
    assert data["sets"] == []
    assert "default-src 'none'" in text
    assert "<link" not in text


@pytest.mark.parametrize("width", [400, 1200])
def test_a_browser_draws_every_figure_and_asks_for_nothing(browser, analysis, tmp_path, width) -> None:
    path = tmp_path / "validity.html"
    path.write_text(page(analysis), "utf-8")
    said, asked = [], []
    window = browser.new_page(viewport={"width": width, "height": 800})
    window.on("console", lambda message: said.append(message.text))
    window.on("pageerror", lambda error: said.append(str(error)))
    window.on("request", lambda request: asked.append(request.url))
    window.goto(path.as_uri())
    window.set_default_timeout(20_000)
    for chart in window.locator(".chart").all():
        chart.locator("svg.marks").wait_for()
    assert window.locator(".chart").count() == 7
    assert window.evaluate("document.documentElement.scrollWidth") <= width
    assert said == []
    assert asked == [path.as_uri()]
    window.close()


def lines_of(spec: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a rank flow, wherever the specification keeps them."""
    found, pending = [], [spec]
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            found += [part] if "kind" in part and "reworked" in part else []
            pending += part.values()
        elif isinstance(part, list):
            pending += part
    return found


def test_a_rank_flow_of_many_models_names_those_that_move_most_before_the_rest(analysis) -> None:
    (poor,) = [place for place, one in enumerate(analysis.record.agreements) if one.reworked == "poor"]
    lines = {line["model"]: line for line in lines_of(charts(analysis)[f"flow-{poor}"])}
    assert len(lines) == 72
    named = [line for line in lines.values() if line["label"]]
    rest = [line for line in lines.values() if not line["label"]]
    assert len(named) >= 10
    assert {line["kind"] for line in rest} == {"other models"}
    assert {line["kind"] for line in named} <= {"up", "down"}
    moves = [[abs(line["original"] - line["reworked"]) for line in part] for part in (named, rest)]
    assert min(moves[0]) > max(moves[1])


def test_the_influence_table_has_every_family_that_any_gain_rests_on() -> None:
    table = planted(5, 6)
    # The first benchmark lacks all of one family.
    for model in range(6):
        table = without(table, model, "skill")
    text = page(analyse(table, draws=99))
    assert text.count("without f0</th>") == 2


def test_hostile_names_reach_the_page_as_text() -> None:
    table = planted(5, 6, **VARIANTS)
    renamed = {name: f"{name}{HOSTILE}" for name in table.names}
    roles = replace(
        table.roles,
        benchmarks=tuple(renamed[name] for name in table.roles.benchmarks),
        outcomes={renamed[name]: HOSTILE for name in table.roles.outcomes},
        variants={renamed[a]: renamed[b] for a, b in table.roles.variants.items()},
    )
    hostile = replace(
        table,
        source=HOSTILE,
        names=tuple(renamed.values()),
        models=tuple(f"{HOSTILE}{name}" for name in table.models),
        families=tuple(f"{HOSTILE}{name}" for name in table.families),
        roles=roles,
    )
    text = page(analyse(hostile, draws=99))
    assert "<script>window.pwned" not in text
    assert "<img src=x" not in text


@pytest.mark.skipif(not SCORES.is_file(), reason="needs the table of public scores")
class TestRealScores:
    ROLES = """
model: Model
family: Model Family
size: Model Size (B)
benchmarks: {HellaSwag: event, ARC-C: , Winograd: language, XWinograd: language}
controls: [MMLU]
outcomes: {GSM8K: maths, HumanEval: code, TruthfulQA: language}
variants: {XWinograd: Winograd}
items: {HellaSwag: 10042, Winograd: 273}
"""

    def test_it_runs_whole_with_its_gaps_and_families_of_one(self, tmp_path) -> None:
        (tmp_path / "roles.yaml").write_text(self.ROLES)
        done = call(
            "validity", str(SCORES), "--roles", "roles.yaml", "--draws", "99", "--out", "out", "--json", cwd=tmp_path
        )
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        frame = pl.read_csv(SCORES)
        assert document["models"] == frame.height == 148
        n = {(one["first"], one["second"]): one["n"] for one in document["correlations"]}
        both = frame.filter(pl.col("XWinograd").is_not_null() & pl.col("HumanEval").is_not_null()).height
        assert n["XWinograd", "HumanEval"] == both
        notes = {note["kind"]: note for note in document["quality"]}
        alone = frame["Model Family"].value_counts().filter(pl.col("count") == 1)["Model Family"]
        assert set(notes["singleton family"]["where"]) == set(alone)
        assert {"missing", "floor"} <= set(notes)
        assert len(document["gains"]) == 2 * 4 * 3
        assert len(document["partials"]) == 4 * 3
        assert document == json.loads((tmp_path / "out" / "validity.json").read_text())
        predictions = pl.read_parquet(tmp_path / "out" / "predictions.parquet")
        one = document["gains"][0]
        rows = predictions.filter(benchmark=one["benchmark"], outcome=one["outcome"], baseline=one["baseline"])
        wrong = (rows["observed"] - rows["without"]).abs().mean() - (
            rows["observed"] - rows["with_benchmark"]
        ).abs().mean()
        assert one["mae_gain"] == pytest.approx(wrong)


@pytest.mark.slow
def test_the_command_prints_tables_and_writes_a_page(tmp_path) -> None:
    table = planted(5, 6)
    frame = pl.DataFrame({"model": table.models, "family": table.families, "size": table.size})
    frame = frame.with_columns(pl.Series(name, table.column(name)) for name in table.names)
    frame.write_csv(tmp_path / "scores.csv")
    done = call(
        "validity", "scores.csv", "--benchmark", "skill:deep", "--benchmark", "idle", "--outcome", "needed:deep",
        "--outcome", "sized", "--variant", "idle=skill", "--draws", "99", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "30 models in 5 families" in done.stdout
    assert "skill adds to model size for predicting needed" in " ".join(done.stdout.split())
    assert "report: studies/scores-validity/validity.html" in done.stdout
    assert (tmp_path / "studies" / "scores-validity" / "validity.html").is_file()
    expected = fault("validity", "scores.csv", "--outcome", "needed", "--control", "needed", cwd=tmp_path)
    assert "'needed' is a control and an outcome" in expected
    assert "did you mean 'needed'" in fault("validity", "scores.csv", "--outcome", "neded", cwd=tmp_path)
    assert "no such file" in fault("validity", "none.csv", cwd=tmp_path)
    assert "'--draws'" in fault("validity", "scores.csv", "--draws", "1000000000", cwd=tmp_path)
