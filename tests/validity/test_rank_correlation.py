"""Rank correlations against SciPy and pingouin, over the pairs that are there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from tests.validity.making import planted, without
from veridical.stats.rank_correlation import rank_correlation, rho_interval
from veridical.validity.ranks import correlations


def test_correlations_are_scipys_over_the_pairs_that_are_there() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, 40).astype(float)
    y = x + rng.normal(size=40)
    x[3], y[[5, 9]] = np.nan, np.nan
    both = np.isfinite(x) & np.isfinite(y)
    found = rank_correlation(x, y)
    assert found.n == 37
    assert found.rho == pytest.approx(stats.spearmanr(x[both], y[both]).statistic)
    assert found.p == pytest.approx(stats.spearmanr(x[both], y[both]).pvalue)
    assert found.tau == pytest.approx(stats.kendalltau(x[both], y[both]).statistic)
    frame = pd.DataFrame({"x": x, "y": y})
    theirs = pingouin.corr(frame["x"], frame["y"], method="spearman")
    assert found.rho == pytest.approx(theirs["r"].iloc[0])
    assert theirs["n"].iloc[0] in (37, 40)


def test_a_constant_column_has_no_correlation() -> None:
    found = rank_correlation(np.ones(9), np.arange(9.0))
    assert (found.rho, found.tau, found.p, found.n) == (None, None, None, 9)
    assert not found.interval.estimable


def test_the_interval_is_bonett_and_wrights() -> None:
    # rho .5, n 28: z = .5493, standard error sqrt(1.125 / 25) = .21213, half-width 1.95996 * .21213 = .41577.
    found = rho_interval(0.5, 28)
    assert (found.low, found.high) == (
        pytest.approx(np.tanh(0.549306 - 0.415772), abs=1e-5),
        pytest.approx(np.tanh(0.549306 + 0.415772), abs=1e-5),
    )
    assert not rho_interval(1.0, 28).estimable


def test_every_pair_has_its_own_n_and_holm_and_bh_are_statsmodels() -> None:
    table = without(without(planted(), 0, "skill"), 1, "needed")
    found = {(one.first, one.second): one for one in correlations(table)}
    assert found["skill", "needed"].n == 70
    assert found["skill", "idle"].n == 71
    assert found["idle", "sized"].n == 72
    p = [one.test.p for one in found.values()]
    for method, field in (("holm", "holm"), ("fdr_bh", "bh")):
        theirs = multipletests(p, method=method)[1]
        assert [getattr(one.test, field) for one in found.values()] == pytest.approx(list(theirs))
    assert {one.test.tests for one in found.values()} == {6}
