"""Columns that are made of the outcome are found whatever else is; columns that only go together with it are not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.validity.test_public_tables import family, leaderboard, messages, scores
from veridical.errors import UserError
from veridical.validity.composites import Composite, composites, composites_both_ways
from veridical.validity.roles import Roles
from veridical.validity.table_reading import read_table


def plant(n: int, digits: int, seed: int) -> dict[str, np.ndarray]:
    """Six benchmarks with a factor in common, the outcome `y` among them."""
    values = scores(n, 6, seed=seed)
    columns = {name: values[:, place] for place, name in enumerate(("a", "y", "b", "c", "d", "e"))}
    return {name: np.round(column, digits) for name, column in columns.items()}


MADE = {
    "average": lambda c: sum(c[name] for name in "aybcde") / 6,
    "three": lambda c: (c["a"] + c["y"] + c["b"]) / 3,
    "half": lambda c: 0.5 * c["y"] + 0.5 * c["a"],
    "halves": lambda c: 0.5 * c["y"] + 0.5 * c["d"],
    "copy": lambda c: c["y"],
    "errors": lambda c: 100 - c["y"],
    "weighted": lambda c: 0.6 * c["y"] + 0.3 * c["b"] + 0.1 * c["c"],
    "gap": lambda c: c["a"] - c["y"],
    "mean_gap": lambda c: (c["a"] + c["b"] + c["c"]) / 3 - c["y"],
    "abstained": lambda c: 200 - c["y"] - c["e"],
}
KINDS = {
    "average": "mean",
    "copy": "same",
    "errors": "reversed",
    "gap": "difference",
    "mean_gap": "difference",
    "halves": "mean",
}


def found(
    n: int, digits: int, made: tuple[str, ...], seed: int = 0
) -> tuple[dict[str, Composite], dict[str, np.ndarray]]:
    columns = plant(n, digits, seed)
    columns |= {name: np.round(MADE[name](columns), digits) for name in made}
    halves = dict.fromkeys(columns, 0.5 * 10.0**-digits)
    predictors = [name for name in columns if name != "y"]
    return {one.column: one for one in composites(columns, halves, predictors, ["y"])}, columns


@pytest.mark.parametrize("digits", [2, 9])
@pytest.mark.parametrize("n", [14, 60])
@pytest.mark.parametrize("made", [(name,) for name in MADE])
def test_what_is_made_of_the_outcome_alone_is_found(made, n, digits) -> None:
    expected, _ = found(n, digits, made)
    assert set(expected) == set(made)
    assert all(expected[name].kind == kind for name, kind in KINDS.items() if name in expected)
    assert all(name in one.message and "y" in one.message for name, one in expected.items())


@pytest.mark.parametrize("n", [20, 60])
@pytest.mark.parametrize(
    "made",
    [
        ("average", "half"),
        ("average", "three", "half", "halves"),
        ("errors", "average", "half"),
        ("copy", "errors", "average"),
        ("average", "gap"),
        ("weighted", "average", "half", "copy"),
        tuple(MADE),
    ],
)
def test_what_is_made_of_the_outcome_is_found_next_to_other_such_columns(made, n) -> None:
    for seed in range(3):
        assert set(found(n, 2, made, seed)[0]) == set(made)


def test_a_mean_without_the_outcome_is_none_of_it_next_to_one_that_has_it() -> None:
    columns = plant(40, 2, 1)
    columns["without"] = np.round((columns["b"] + columns["c"] + columns["d"]) / 3, 2)
    columns["average"] = np.round(MADE["average"](columns), 2)
    expected = composites(columns, dict.fromkeys(columns, 0.005), ["without", "average", "a", "b"], ["y"])
    assert [one.column for one in expected] == ["average"]


def test_the_average_of_as_many_columns_as_models_is_found() -> None:
    values = np.round(scores(12, 30, seed=3), 2)
    columns = {f"c{place}": values[:, place] for place in range(30)}
    columns["mean"] = np.round(values.mean(axis=1), 2)
    expected = composites(columns, dict.fromkeys(columns, 0.005), ["mean", "c3"], ["c7"])
    assert [(one.column, one.kind) for one in expected] == [("mean", "mean")]


def test_an_average_over_the_scores_that_there_are_is_found() -> None:
    values = np.round(scores(30, 6, seed=3), 2)
    values[np.random.default_rng(0).random(values.shape) < 0.2] = np.nan
    columns = {f"c{place}": values[:, place] for place in range(6)}
    columns["mean"] = np.round(np.nanmean(values, axis=1), 2)
    expected = composites(columns, dict.fromkeys(columns, 0.005), ["mean", "c3"], ["c2"])
    assert [(one.column, one.kind) for one in expected] == [("mean", "mean")]


@pytest.mark.parametrize("interleaved", [True, False])
def test_the_averages_of_interleaved_measures_are_found_on_few_models(interleaved) -> None:
    """As AgentBoard's table has them: two measures a task, and 11 of 27 models."""
    values = np.round(scores(27, 18, seed=6), 1)
    values[11:] = np.nan
    kinds = [("success", "progress")[place % 2] for place in range(18)]
    columns = {f"task{place // 2}_{kind}": values[:, place] for place, kind in enumerate(kinds)}
    if not interleaved:
        order = np.random.default_rng(0).permutation(18)
        columns = {list(columns)[place]: values[:, place] for place in order}
    for kind in ("success", "progress"):
        columns[f"average_{kind}"] = np.round(sum(columns[f"task{i}_{kind}"] for i in range(9)) / 9, 1)
    predictors = ["average_success", "average_progress", "task1_success"]
    told = composites(columns, dict.fromkeys(columns, 0.05), predictors, ["task3_success"])
    assert [(one.column, one.kind) for one in told] == [("average_success", "mean")]


def test_the_outcomes_rank_is_made_of_it() -> None:
    columns = plant(30, 4, 2)
    columns["rank"] = np.argsort(np.argsort(-columns["y"])) + 1.0
    expected = composites(columns, dict.fromkeys(columns, 5e-5), ["rank", "a"], ["y"])
    assert [(one.column, one.kind) for one in expected] == [("rank", "order")]


@pytest.mark.parametrize("own", [8.0, 2.0, 0.7])
@pytest.mark.parametrize("digits", [0, 1, 3])
@pytest.mark.parametrize(("n", "p"), [(8, 4), (8, 30), (12, 12), (30, 40), (60, 8)])
def test_benchmarks_that_only_go_together_are_not_refused(n, p, digits, own) -> None:
    """Correlations of .69 to .997; more columns than models among them."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values = np.round(50 + 12 * rng.normal(size=(n, 1)) + own * rng.normal(size=(n, p)), digits)
        columns = {f"c{place}": values[:, place] for place in range(p)}
        halves = dict.fromkeys(columns, 0.5 * 10.0**-digits)
        assert composites(columns, halves, ["c1", "c2", "c3"], ["c0"]) == []


@pytest.mark.parametrize(
    ("cell", "says"),
    [
        (lambda value: f"{100 - value:.2f}", r"errors is bbh turned round"),
        (lambda value: f"{value:.2f}", r"errors holds the same scores as bbh"),
        (lambda value: f"{value / 100:.4f}", r"errors is bbh in another unit"),
        (lambda value: f"{1 - value / 100:.4f}", r"errors is bbh turned round"),
    ],
)
def test_the_outcome_itself_is_refused_as_a_benchmark(tmp_path: Path, cell, says) -> None:
    values = np.round(scores(40), 2)[:, 1]
    path = leaderboard(tmp_path / "a.csv", family=family(), errors=[cell(value) for value in values])
    with pytest.raises(UserError, match=rf"{says}.*leave errors out"):
        read_table(path, Roles(benchmarks=("errors", "musr"), outcomes={"bbh": ""}))
    table = read_table(path, Roles(outcomes={"bbh": ""}))
    assert "errors" not in table.roles.benchmarks
    assert any("left out: errors" in message for message in messages(table, "composite"))


@pytest.mark.parametrize("digits", [2, 9])
@pytest.mark.parametrize(
    ("whole", "parts"),
    [
        ("average", {"a", "y", "b", "c", "d", "e"}),
        ("three", {"a", "y", "b"}),
        ("half", {"a", "y"}),
        ("weighted", {"y", "b", "c"}),
    ],
)
def test_the_parts_of_an_outcome_are_found_and_nothing_else(whole, parts, digits) -> None:
    columns = plant(60, digits, 3)
    columns[whole] = np.round(MADE[whole](columns), digits)
    halves = dict.fromkeys(columns, 0.5 * 10.0**-digits)
    made, held = composites_both_ways(columns, halves, [name for name in columns if name != whole], [whole])
    assert made == []
    assert {one.column for one in held} == {whole}
    assert {one.outcome for one in held} == parts


def test_a_part_of_the_outcome_is_refused_by_name_and_left_out_otherwise(tmp_path: Path) -> None:
    values = np.round(scores(40), 2)
    whole = [f"{value:.4f}" for value in (values[:, 1] + values[:, 2]) / 2]
    path = leaderboard(tmp_path / "a.csv", family=family(), whole=whole)
    names = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    part = next(name for name in names if name == "bbh")
    with pytest.raises(UserError, match=rf"whole is the mean of .*{part} predicts whole because it is a part of it"):
        read_table(path, Roles(benchmarks=(part,), outcomes={"whole": ""}))
    table = read_table(path, Roles(outcomes={"whole": ""}))
    assert part not in table.roles.benchmarks
    assert "musr" in table.roles.benchmarks or len(table.roles.benchmarks) > 0
    assert any(
        message.startswith(f"left out: {part}, since whole is the mean of") for message in messages(table, "composite")
    )
