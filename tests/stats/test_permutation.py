"""Permutation p-values and adjustments for many tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.multitest import multipletests

from veridical.stats.bootstrap import Term
from veridical.stats.multiple import benjamini_hochberg, holm
from veridical.stats.permutation import cluster_contributions, permutation_p, sign_flip_p
from veridical.stats.units import Units


@pytest.fixture(autouse=True, scope="module")
def _without_collection() -> Iterator[None]:
    """statsmodels' `multipletests` collects garbage at every call: half a second where many modules are loaded."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gc, "collect", lambda *_: 0)
        yield


p_values = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_permutation_p_counts_the_observed_arrangement() -> None:
    null = np.array([0.1, 0.2, 0.3, 0.4])
    assert permutation_p(0.9, null) == 1 / 5
    assert permutation_p(0.3, null) == 3 / 5
    assert permutation_p(0.0, null) == 1


def test_permutation_p_takes_rounding_for_a_tie() -> None:
    assert permutation_p(0.1 + 0.2, np.array([0.3, 0.0])) == 2 / 3


def test_sign_flip_agrees_with_every_arrangement() -> None:
    differences = np.array([0.3, -0.1, 0.5, 0.2, 0.2, 0.0, 0.4, -0.1])
    arrangements = [abs(np.dot(signs, differences)) for signs in product((-1, 1), repeat=8)]
    exact = np.mean(np.array(arrangements) >= abs(differences.sum()) - 1e-12)
    assert sign_flip_p(differences, np.random.default_rng(0), 100_000) == pytest.approx(exact, abs=0.003)


def test_sign_flip_of_zero_one_differences_is_mcnemar() -> None:
    differences = np.array([1.0] * 12 + [-1.0] * 3 + [0.0] * 40)
    exact = stats.binomtest(12, 15).pvalue
    assert sign_flip_p(differences, np.random.default_rng(0), 100_000) == pytest.approx(exact, abs=0.002)


def test_sign_flip_agrees_with_scipy_on_continuous_differences() -> None:
    differences = np.random.default_rng(3).normal(0.3, 1, 40)
    expected = stats.permutation_test(
        (differences,),
        lambda x, axis: abs(x.sum(axis=axis)),
        permutation_type="samples",
        alternative="greater",
        n_resamples=50_000,
        rng=np.random.default_rng(1),
    ).pvalue
    assert sign_flip_p(differences, np.random.default_rng(2), 50_000) == pytest.approx(expected, abs=0.006)


def test_nothing_differs_is_not_evidence() -> None:
    assert sign_flip_p(np.zeros(30), np.random.default_rng(0)) == 1


def test_contributions_of_clusters_sum_to_the_statistic() -> None:
    source = np.random.default_rng(0)
    terms = [
        Term(source.normal(size=20), Units.of_sets(np.arange(20) // 2)),
        Term(source.normal(size=9), Units.of_sets(np.arange(9)), -1.0),
    ]
    assert cluster_contributions(terms).sum() == pytest.approx(terms[0].mean - terms[1].mean)


@settings(max_examples=50)
@given(p_values)
def test_holm_agrees_with_statsmodels(values: list[float]) -> None:
    assert holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))


@settings(max_examples=50)
@given(p_values)
def test_benjamini_hochberg_agrees_with_statsmodels(values: list[float]) -> None:
    assert benjamini_hochberg(values) == pytest.approx(list(multipletests(values, method="fdr_bh")[1]))


def test_holm_by_hand() -> None:
    # sorted .01 * 4, .02 * 3, .03 * 2 = .06 (as high as before), .5 * 1
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])


def test_no_tests_need_no_adjustment() -> None:
    assert holm([]) == []
    assert benjamini_hochberg([]) == []
