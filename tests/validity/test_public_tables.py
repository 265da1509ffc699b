"""Tables of the shapes in which people hold scores: leaderboards, long tables of scenarios, tables with gaps and signs.

All numbers are made here; the shapes are those of the Open LLM Leaderboard (v1, v2), of HELM's and of the arena's
tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.cli.test_bad_input import call, fault
from veridical.errors import UserError
from veridical.studies.validity import validity
from veridical.validity.composites import composites
from veridical.validity.quality import quality
from veridical.validity.roles import Roles
from veridical.validity.table import ScoreTable
from veridical.validity.table_reading import read_table

TASKS = ("ifeval", "bbh", "math", "gpqa", "musr", "mmlupro")


def scores(n: int = 40, columns: int = 6, seed: int = 0) -> np.ndarray:
    """Percentages that share a factor, shape (n, columns)."""
    rng = np.random.default_rng(seed)
    return 50 + 12 * rng.normal(size=(n, 1)) + 8 * rng.normal(size=(n, columns))


def leaderboard(path: Path, n: int = 40, **more: Sequence[str]) -> Path:
    """The shape of the Open LLM Leaderboard's v2: the average and its parts, each also as a raw share."""
    values = np.round(scores(n), 2)
    mean = scores(n).mean(axis=1)
    header = ["model", "average", *(part for task in TASKS for part in (task, f"{task}_raw")), "params_b", *more]
    lines = [",".join(header)]
    for i in range(n):
        cells = [f"org{i % 5}/net-{i}", f"{mean[i]:.2f}"]
        for value in values[i]:
            cells += [f"{value:.2f}", f"{value / 100:.2f}"]
        cells += [str(1 + i % 7), *(column[i] for column in more.values())]
        lines.append(",".join(cells))
    path.write_text("\n".join(lines) + "\n")
    return path


def family(n: int = 40) -> list[str]:
    return [f"family{i % 5}" for i in range(n)]


def long(path: Path, header: str, rows: Sequence[Sequence[object]]) -> Path:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


def messages(table: ScoreTable, kind: str) -> list[str]:
    return [note.message for note in quality(table) if note.kind == kind]


# --- means of columns among which the outcome stands


def test_an_average_that_holds_the_outcome_is_refused_where_it_is_named(tmp_path) -> None:
    path = leaderboard(tmp_path / "a.csv", family=family())
    with pytest.raises(UserError, match=r"average is the mean of .*bbh.*, so it holds bbh: .* leave average out"):
        read_table(path, Roles(benchmarks=("average", "musr"), outcomes={"bbh": ""}))


@pytest.mark.parametrize("outcome", TASKS)
def test_an_average_that_nobody_named_is_left_out_and_said(tmp_path, outcome) -> None:
    table = read_table(leaderboard(tmp_path / "a.csv", family=family()), Roles(outcomes={outcome: ""}))
    assert "average" not in table.roles.benchmarks
    assert set(TASKS) - {outcome} <= set(table.roles.benchmarks)
    wording = messages(table, "composite")
    assert any(message.startswith("left out: average is the mean of") for message in wording)
    assert any(f"{outcome}_raw is {outcome} in another unit" in message for message in wording)
    assert len(wording) == 2


def test_an_average_of_columns_without_the_outcome_stays(tmp_path) -> None:
    rng = np.random.default_rng(1)
    goal = [f"{value:.2f}" for value in scores(40, 1, seed=3)[:, 0] + rng.normal(size=40)]
    table = read_table(leaderboard(tmp_path / "a.csv", family=family(), goal=goal), Roles(outcomes={"goal": ""}))
    assert "average" in table.roles.benchmarks
    assert not messages(table, "composite")


@pytest.mark.parametrize(("weights", "said"), [((1, 1, 1, 1), "the mean"), ((4, 1, 1, 2), "a weighted sum")])
@pytest.mark.parametrize("digits", [1, 2, 12])
def test_sums_are_found_within_what_rounding_takes_away(weights, said, digits) -> None:
    values = scores(60, 6, seed=2)
    columns = {f"c{place}": np.round(values[:, place], digits) for place in range(6)}
    total = values[:, :4] @ np.array(weights) / sum(weights)
    columns["sum"] = np.round(total, digits)
    halves = dict.fromkeys(columns, 0.5 * 10.0**-digits)
    found = composites(columns, halves, ["sum", "c4"], ["c0", "c5"])
    assert [(one.column, one.outcome, set(one.parts)) for one in found] == [("sum", "c0", {"c0", "c1", "c2", "c3"})]
    assert said in found[0].message


def test_a_sum_over_other_models_is_found_with_gaps_in_its_parts() -> None:
    values = scores(60, 4, seed=5)
    columns = {f"c{place}": values[:, place].copy() for place in range(4)}
    columns["sum"] = values.mean(axis=1)
    columns["c3"][:15] = np.nan
    found = composites(columns, dict.fromkeys(columns, 1e-9), ["sum"], ["c3"])
    assert [one.outcome for one in found] == ["c3"]


def test_columns_that_share_a_factor_are_not_sums() -> None:
    for seed in range(30):
        values = np.round(scores(40, 12, seed=seed), 1)
        columns = {f"c{place}": values[:, place] for place in range(12)}
        assert composites(columns, dict.fromkeys(columns, 0.05), list(columns)[1:], ["c0"]) == []


def test_more_columns_than_models_are_not_sums() -> None:
    values = np.round(scores(30, 80, seed=4), 1)
    columns = {f"c{place}": values[:, place] for place in range(80)}
    assert composites(columns, dict.fromkeys(columns, 0.05), ["c1", "c2", "c3"], ["c0"]) == []


# --- cells


@pytest.mark.parametrize("cell", ["-", "–", "—", "--", "N/A", "n.a.", "?", "Unknown"])
def test_signs_of_no_score_are_read_and_counted(tmp_path, cell) -> None:
    more = [cell if i in (3, 8) else "0.5" if i % 2 else "0.25" for i in range(40)]
    table = read_table(leaderboard(tmp_path / "a.csv", extra=more), Roles(benchmarks=("extra", "bbh")))
    assert np.flatnonzero(np.isnan(table.column("extra"))).tolist() == [3, 8]
    assert f"2 cells hold {cell!r}, read as no score (in extra)" in messages(table, "missing")


def test_sizes_of_0_and_below_are_not_known(tmp_path) -> None:
    sizes = ["0", "-1", "-1", *(str(i + 1) for i in range(37))]
    path = leaderboard(tmp_path / "a.csv", params=sizes, family=family())
    table = read_table(path, Roles(size="params", outcomes={"bbh": ""}))
    assert np.flatnonzero(np.isnan(table.size)).tolist() == [0, 1, 2]
    assert "params: 3 of 40 rows hold 0, -1, read as no size" in messages(table, "missing")


@pytest.mark.parametrize(
    ("written", "value"),
    [("45.5%", 45.5), ("45.5 %", 45.5), ("45,5", 45.5), ("1,250", 1250.0), ("1,250.5", 1250.5)],
)
def test_a_column_may_share_a_notation(tmp_path, written, value) -> None:
    path = tmp_path / "a.csv"
    path.write_text("model;arena\n" + "".join(f"m{i};{written}\n" for i in range(8)))
    assert read_table(path, Roles(benchmarks=("arena",))).column("arena").tolist() == [value] * 8
    assert read_table(path, Roles()).roles.benchmarks == ("arena",)


@pytest.mark.parametrize("sentinel", ["-1", "-999", "9999"])
def test_a_sentinel_is_named_and_read_as_no_score_on_demand(tmp_path, sentinel) -> None:
    more = [sentinel if i == 5 else "0.5" if i % 2 else "0.25" for i in range(40)]
    path = leaderboard(tmp_path / "a.csv", extra=more)
    (wording,) = messages(read_table(path, Roles(benchmarks=("extra",), percent=("extra",))), "sentinel")
    assert wording.startswith(f"extra: 1 of 40 scores are {sentinel}, outside all others (0.25 to 0.5)")
    assert wording.endswith(f"give --missing={sentinel}")
    table = read_table(path, Roles(benchmarks=("extra",), missing=(f"{sentinel}.0",)))
    assert np.isnan(table.column("extra")[5])
    assert not messages(table, "sentinel")


def test_scores_that_may_be_negative_hold_no_sentinel(tmp_path) -> None:
    more = [f"{i - 20}" for i in range(40)]
    table = read_table(leaderboard(tmp_path / "a.csv", extra=more), Roles(benchmarks=("extra",)))
    assert not messages(table, "sentinel")


# --- several rows of one model


def repeated(path: Path) -> Path:
    rows: list[list[object]] = [[f"m{i}", f"f{i % 3}", i + 1, 10 + i, "bfloat16"] for i in range(9)]
    rows.append(["m2", "f2", 3, 30, "float16"])
    rows.append(["m2", "f2", 3, 15, "float16"])
    return long(path, "model,family,size,bench,precision", rows)


@pytest.mark.parametrize(("rule", "value"), [("first", 12.0), ("mean", 19.0)])
def test_rows_of_one_model_come_to_one_by_a_stated_rule(tmp_path, rule, value) -> None:
    table = read_table(repeated(tmp_path / "a.csv"), Roles(benchmarks=("bench",), duplicates=rule))
    assert table.models.count("m2") == 1
    assert table.column("bench")[table.models.index("m2")] == value
    (wording,) = messages(table, "duplicate")
    assert wording.startswith("1 model has 2 further rows that differ; the ")


def test_rows_of_one_model_that_differ_are_refused_with_what_to_do(tmp_path) -> None:
    with pytest.raises(UserError, match=r"'m2' has lines 4 and 11, and they differ; give --duplicates first or"):
        read_table(repeated(tmp_path / "a.csv"), Roles(benchmarks=("bench",)))


def test_a_rule_that_there_is_not_is_refused() -> None:
    with pytest.raises(UserError, match="unknown rule for duplicates 'last'"):
        Roles(duplicates="last")


# --- long tables


def scenarios(path: Path, *, header: str = "tag,scenario,score", copies: int = 1) -> Path:
    rows = [
        [f"m{i}", name, f"{0.3 + 0.05 * i + 0.01 * place + 0.2 * copy:.2f}"]
        for i in range(9)
        for place, name in enumerate(("boolq", "mmlu"))
        for copy in range(copies)
    ]
    return long(path, header, rows)


def test_a_table_of_tag_scenario_and_score_is_read_by_flags(tmp_path) -> None:
    path = scenarios(tmp_path / "a.csv", header="tag,suite,points")
    table = validity(path, model="tag", benchmark_column="suite", score_column="points", draws=99).table
    assert table.names == ("boolq", "mmlu")
    assert table.column("mmlu")[0] == 0.31


def test_scenario_and_score_are_known_by_their_names(tmp_path) -> None:
    assert read_table(scenarios(tmp_path / "a.csv"), Roles(model="tag")).names == ("boolq", "mmlu")


@pytest.mark.parametrize(("rule", "value"), [("first", 0.3), ("mean", 0.4)])
def test_scores_that_stand_twice_come_to_one_by_a_stated_rule(tmp_path, rule, value) -> None:
    path = scenarios(tmp_path / "a.csv", copies=2)
    with pytest.raises(UserError, match=r"second score on 'boolq'.*--duplicates first or mean"):
        read_table(path, Roles(model="tag"))
    table = read_table(path, Roles(model="tag", duplicates=rule))
    assert table.column("boolq")[0] == pytest.approx(value)
    (wording,) = messages(table, "duplicate")
    assert "boolq (9), mmlu (9) models" in wording


def measured(path: Path) -> Path:
    rows = [
        [f"m{i}", f"f{i % 3}", name, metric, f"{0.3 + 0.05 * i + shift:.2f}", f"{0.01 * (i + place):.2f}"]
        for i in range(9)
        for place, (name, metric, shift) in enumerate(
            (("arc", "acc", 0), ("arc", "acc_norm", 0.1), ("piqa", "acc", 0.2))
        )
    ]
    return long(path, "model,family,task,metric,score,stderr", rows)


def test_a_column_of_metrics_divides_benchmarks_that_have_several(tmp_path) -> None:
    table = read_table(measured(tmp_path / "a.csv"), Roles())
    assert table.names == ("arc/acc", "arc/acc_norm", "piqa")
    assert table.column("arc/acc_norm")[0] == 0.4


def test_a_column_that_varies_within_a_model_is_named_and_left_out(tmp_path) -> None:
    table = read_table(measured(tmp_path / "a.csv"), Roles())
    (wording,) = messages(table, "column")
    assert wording.startswith("left out, as they differ between rows of one model (such as m0)")
    assert "describe it: stderr;" in wording


def test_a_second_score_names_the_column_that_would_tell_them_apart(tmp_path) -> None:
    path = measured(tmp_path / "a.csv")
    path.write_text(path.read_text().replace("metric", "filter"))
    with pytest.raises(UserError, match="give --split-column 'filter' where that makes it another benchmark"):
        read_table(path, Roles())
    assert read_table(path, Roles(split=("filter",))).names == ("arc/acc", "arc/acc_norm", "piqa")


# --- families and sizes that the table does not have


def test_families_are_suggested_in_a_file_that_is_then_used(tmp_path) -> None:
    path, models = leaderboard(tmp_path / "a.csv"), tmp_path / "models.csv"
    with pytest.raises(UserError, match=r"needs the family of each model; give --family COL, or --models models\.csv"):
        validity(path, outcomes=["bbh"])
    with pytest.raises(UserError, match=r"models\.csv is written: families and sizes are suggestions"):
        validity(path, outcomes=["bbh"], models=models)
    assert models.read_text().splitlines()[:2] == ['"model","family","size"', '"org0/net-0","net",""']
    lines = ["model,family,size", *(f"org{i % 5}/net-{i},family{i % 5},{1 + i % 7}" for i in range(40))]
    models.write_text("\n".join(lines))
    table = validity(path, benchmarks=["musr"], outcomes=["bbh"], models=models, draws=99).table
    assert table.family_names == tuple(f"family{i}" for i in range(5))
    assert table.size[table.models.index("org3/net-3")] == 4


def test_flags_of_the_command_reach_the_table(tmp_path) -> None:
    path = scenarios(tmp_path / "a.csv", header="tag,suite,points", copies=2)
    flags = ["--model", "tag", "--benchmark-column", "suite", "--score-column", "points", "--draws", "99"]
    refused = call("validity", str(path), *flags)
    assert refused.returncode == 2
    assert "--duplicates first or mean" in fault(refused)
    done = call("validity", str(path), *flags, "--duplicates", "mean", "--missing=0.4", "--out", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "several scores of one model on boolq (9), mmlu (9) models; their mean is used" in " ".join(
        done.stdout.split()
    )


def test_roles_in_yaml_say_the_same_as_flags(tmp_path) -> None:
    from veridical.validity.roles import read_roles

    (tmp_path / "roles.yaml").write_text(
        "benchmark: suite\nvalue: points\nsplit: [tag]\nduplicates: mean\nmissing: [-1]\n"
    )
    expected = Roles(benchmark="suite", value="points", split=("tag",), duplicates="mean", missing=("-1",))
    assert replace(read_roles(tmp_path / "roles.yaml")) == expected


@pytest.mark.parametrize(
    ("cells", "first", "mean"),
    [
        (("0,5", "0,75", "0,25"), 0.5, 0.625),
        (("50%", "75%", "25%"), 50.0, 62.5),
        (("50,5%", "75,5%", "25,0%"), 50.5, 63.0),
        (("1,234", "1,236", "2,000"), 1234.0, 1235.0),
        (("0.5", "0.75", "0.25"), 0.5, 0.625),
        (("1", "0,5", "0,25"), 1.0, 0.75),
    ],
)
def test_several_scores_are_joined_as_their_column_writes_numbers(
    tmp_path: Path, cells: tuple[str, ...], first: float, mean: float
) -> None:
    # Two rows of model a, one of each other.
    rows = [("a", cells[0]), ("a", cells[1]), *((other, cells[2]) for other in "bcdefghi")]
    path = tmp_path / "t.csv"
    path.write_text("model;benchmark;score\n" + "".join(f"{model};x;{cell}\n" for model, cell in rows))
    for rule, expected in (("first", first), ("mean", mean)):
        assert read_table(path, Roles(duplicates=rule)).scores[0, 0] == pytest.approx(expected)
