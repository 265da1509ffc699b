"""Averages over the scores that a model has are found in wide tables, and nothing is where nothing is an average."""

from __future__ import annotations

import numpy as np
import pytest

from tests.validity.test_public_tables import scores
from veridical.stats.units import Floats
from veridical.validity.composites import composites, composites_both_ways
from veridical.validity.gap_means import mean_over_gaps


def table(n: int, p: int, *, gaps: float, seed: int, digits: int = 2) -> dict[str, Floats]:
    """Columns that share a factor, with gaps at random."""
    values = np.round(scores(n, p, seed=seed), digits)
    values[np.random.default_rng(seed).random(values.shape) < gaps] = np.nan
    return {f"c{place}": values[:, place] for place in range(p)}


def mean_of(columns: dict[str, Floats], parts: list[str]) -> Floats:
    values = np.column_stack([columns[part] for part in parts])
    there = np.isfinite(values)
    with np.errstate(invalid="ignore"):
        return np.round(np.where(there, values, 0).sum(axis=1) / there.sum(axis=1), 2)


def drawn(columns: dict[str, Floats], k: int, seed: int) -> list[str]:
    return sorted(np.random.default_rng(seed + 99).choice(list(columns), k, replace=False))


@pytest.mark.parametrize("gaps", [0.0, 0.25, 0.6])
@pytest.mark.parametrize(
    ("n", "p", "k"),
    [
        (40, 41, 3), (40, 41, 20), (40, 41, 38), (100, 80, 6), (100, 80, 40), (40, 150, 4), (100, 150, 20),
        (100, 150, 147), (100, 230, 20), (200, 230, 40), (100, 230, 229),
    ],
)  # fmt: skip
def test_every_part_of_an_average_is_found_and_no_other_column(n: int, p: int, k: int, gaps: float) -> None:
    columns = table(n, p, gaps=gaps, seed=k)
    parts = drawn(columns, k, k)
    columns["average"] = mean_of(columns, parts)
    halves = dict.fromkeys(columns, 0.005)
    found = mean_over_gaps("average", [name for name in columns if name != "average"], columns, halves)
    assert sorted(found) == parts


def test_an_average_is_found_next_to_another_one_of_some_of_its_parts() -> None:
    columns = table(60, 60, gaps=0.3, seed=5)
    parts = drawn(columns, 15, 5)
    plain = list(columns)
    columns |= {"average": mean_of(columns, parts), "of_five": mean_of(columns, parts[:5])}
    columns["without"] = mean_of(columns, [name for name in plain if name not in parts][:9])
    halves = dict.fromkeys(columns, 0.005)
    outcome = parts[2]
    told = composites(columns, halves, ["average", "of_five", "without", plain[0]], [outcome])
    assert [(one.column, one.kind, set(one.parts)) for one in told] == [
        ("average", "mean", set(parts)),
        ("of_five", "mean", set(parts[:5])),
    ]


def test_the_parts_of_an_outcome_that_is_an_average_over_gaps_are_found() -> None:
    columns = table(80, 60, gaps=0.3, seed=6)
    parts = drawn(columns, 12, 6)
    plain = list(columns)
    columns["average"] = mean_of(columns, parts)
    made, held = composites_both_ways(columns, dict.fromkeys(columns, 0.005), plain, ["average"])
    assert made == []
    assert {one.outcome for one in held} == set(parts)
    assert {one.kind for one in held} == {"mean"}


@pytest.mark.parametrize("own", [8.0, 2.0, 0.7])
@pytest.mark.parametrize("digits", [0, 1, 2])
@pytest.mark.parametrize(("n", "p"), [(8, 60), (14, 41), (40, 100), (100, 230)])
def test_columns_that_only_go_together_are_no_averages(n: int, p: int, digits: int, own: float) -> None:
    """Correlations of .69 to .997 and a quarter of the cells missing."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values = np.round(50 + 12 * rng.normal(size=(n, 1)) + own * rng.normal(size=(n, p)), digits)
        values[rng.random(values.shape) < 0.25] = np.nan
        columns = {f"c{place}": values[:, place] for place in range(p)}
        halves = dict.fromkeys(columns, 0.5 * 10.0**-digits)
        for name in list(columns)[:6]:
            assert mean_over_gaps(name, [one for one in columns if one != name], columns, halves) == ()


def test_a_weighted_mean_and_a_noisy_one_are_no_averages() -> None:
    columns = table(60, 45, gaps=0.2, seed=7)
    values = np.column_stack([columns[name] for name in ("c1", "c2", "c3")])
    weights = np.where(np.isfinite(values), [0.6, 0.3, 0.1], 0.0)
    weighted = np.round((np.nan_to_num(values) * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 0.1), 2)
    noisy = mean_of(columns, ["c1", "c2", "c3"]) + np.random.default_rng(0).normal(scale=0.3, size=60)
    parts = list(columns)
    for column in (weighted, noisy):
        columns["made"] = column
        assert mean_over_gaps("made", parts, columns, dict.fromkeys(columns, 0.005)) == ()
