"""Original and reworked exchanged within models: exact by hand, of the right size, and able to find a difference."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.validity.making import made
from veridical.stats.ridge import leave_groups_out
from veridical.validity.comparison import comparisons
from veridical.validity.exchange import ColumnPair, exchanged_differences, least_exchange_p, swaps_of
from veridical.validity.roles import Roles
from veridical.validity.table import ScoreTable


def two_versions(seed: int, *, noise: float = 1.0, size_of_new: float = 1.0, unit: float = 1.0, outcomes: int = 3):
    """24 models in 6 families. Both versions are size, skill and noise of their own; outcomes need size and skill.

    The reworked version has `noise` times the noise, goes with size by `size_of_new`, and stands in another `unit`.
    """
    rng = np.random.default_rng([seed, 5])
    families = np.repeat(np.arange(6), 4)
    size, skill = rng.uniform(0, 2, 24), rng.normal(size=24) + 0.5 * rng.normal(size=6)[families]
    columns = {
        "original": size + skill + 0.6 * rng.normal(size=24),
        "reworked": unit * (size_of_new * size + skill + 0.6 * noise * rng.normal(size=24)) + 3 * (unit - 1),
    }
    for place in range(outcomes):
        columns[f"o{place}"] = size + skill + 0.6 * rng.normal(size=24)
    roles = Roles(
        "model",
        "family",
        "size",
        benchmarks=("original",),
        outcomes={f"o{place}": "" for place in range(outcomes)},
        variants={"reworked": "original"},
    )
    return made(columns, families, 10**size, roles)


def test_a_draw_is_the_whole_procedure_with_residuals_exchanged() -> None:
    table = two_versions(0)
    z = table.log_size[:, None]
    pair = np.column_stack([table.column("reworked"), table.column("original")])
    y, families = table.column("o0")[:, None], table.family_codes
    swaps = swaps_of(np.random.default_rng(2), 6, 24)
    found = exchanged_differences(z, pair, y, families, swaps)
    design = np.column_stack([np.ones(24), z])
    fitted = design @ np.linalg.lstsq(design, pair, rcond=None)[0]
    left = pair - fitted
    unit = left / left.std(axis=0)
    for draw, swap in enumerate(swaps):
        exchanged = np.where(swap[:, None], unit[:, ::-1], unit) * left.std(axis=0) + fitted
        new, old = (
            np.abs(y - leave_groups_out(np.column_stack([z, one]), y, families)[0]).mean() for one in exchanged.T
        )
        assert found[draw, 0] == pytest.approx(old - new, abs=1e-10)
    # The first is as observed.
    assert not swaps[0].any()


def called(seeds: range, **planted) -> tuple[int, int]:
    """How often the pooled p by gain and by partial rho are at most .05."""
    found = np.zeros(2, dtype=int)
    for seed in seeds:
        (one,) = comparisons(two_versions(seed, **planted), 99, seed)[1]
        found += [one.gain_test.p <= 0.05, one.rho_test.p <= 0.05]
    return int(found[0]), int(found[1])


@pytest.mark.slow
@pytest.mark.parametrize("size_of_new", [1.0, 0.3])
def test_versions_that_predict_alike_are_distinguished_as_rarely_as_p_says(size_of_new) -> None:
    # Binomial(100, .05): 99.9 % are at most 13.
    assert max(called(range(100), size_of_new=size_of_new)) <= 13


def test_a_noisier_version_is_found_to_predict_worse_with_six_families() -> None:
    # By chance 5 at most, in 99.9 % of such trials.
    assert min(called(range(20), noise=4.0)) >= 9


def test_the_unit_of_a_version_changes_nothing() -> None:
    one, other = (comparisons(two_versions(1, unit=unit), 99, 0)[1][0] for unit in (1.0, 100.0))
    assert one.gain_test.p == other.gain_test.p
    assert one.rho_test == other.rho_test


def test_one_pooled_test_a_pair_with_what_it_can_reach() -> None:
    table: ScoreTable = two_versions(3)
    each, (together,) = comparisons(table, 99, 0)
    assert together.outcomes == ("o0", "o1", "o2")
    assert together.gain_test.tests == 1
    assert {one.gain_test.tests for one in each} == {3}
    assert together.rho_difference == pytest.approx(np.mean([one.rho_difference for one in each]))
    assert least_exchange_p(24, 99) == 1 / 100
    # Four models: 16 patterns, of which mirror images differ alike.
    assert least_exchange_p(4, 9_999) == 1 / 8


def test_a_version_that_size_explains_altogether_cannot_be_exchanged() -> None:
    table = two_versions(4)
    scores = table.scores.copy()
    scores[:, table.names.index("reworked")] = table.log_size
    flat = replace(table, scores=scores)
    pair = ColumnPair.of(np.column_stack([flat.column("reworked"), flat.column("original")]), flat.log_size[:, None])
    assert not pair.exchangeable
    each, (together,) = comparisons(flat, 99, 0)
    assert {one.gain_test for one in each} == {None}
    assert together.gain_test is None
