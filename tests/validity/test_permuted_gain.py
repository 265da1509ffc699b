"""What baseline and family means leave of a benchmark, which is what the null of its gain permutes."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.validity.permuted_gain import left_within_families

FAMILIES = np.repeat(np.arange(5), 6)


@pytest.mark.parametrize("value", [0.5, 1 / 3, 71.3, 1e-8, -2e9])
@pytest.mark.parametrize("seed", range(20))
def test_of_a_constant_column_exactly_nothing_is_left(value: float, seed: int) -> None:
    # Rounding of some 1e-17 that is left would be permuted as if it were a score: how much is left depends on the BLAS.
    baseline = np.random.default_rng(seed).normal(size=(30, 3)) * 10.0 ** np.arange(3)
    assert not left_within_families(baseline, np.full(30, value), FAMILIES).any()


@pytest.mark.parametrize("spread", [1e-6, 1.0, 1e6])
def test_what_varies_within_families_is_left_whatever_its_size(spread: float) -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=30)
    means = np.array([noise[family == FAMILIES].mean() for family in range(5)])[FAMILIES]
    left = left_within_families(np.zeros((30, 1)), 0.5 + spread * noise, FAMILIES)
    np.testing.assert_allclose(left, spread * (noise - means), rtol=1e-6, atol=1e-9 * spread)
