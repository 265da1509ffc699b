"""The bootstrap against analytic standard errors, and what it says where it has nothing to say."""

from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats

from veridical.stats.bootstrap import (
    Term,
    bootstrap_distribution,
    bootstrap_interval,
    bootstrap_test,
    cluster_totals,
    inverted_p,
    resampled,
)
from veridical.stats.units import Units


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def clustered(n_clusters: int = 60, size: int = 5, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Values that agree within clusters, and the cluster of each."""
    source = rng(seed)
    clusters = np.repeat(np.arange(n_clusters), size)
    return source.normal(size=n_clusters)[clusters] + 0.5 * source.normal(size=len(clusters)), clusters


def test_bootstrap_standard_error_is_the_analytic_one() -> None:
    """Trap 40: not too small by the square root of the number of draws."""
    values = rng(3).normal(size=150)
    draws = bootstrap_distribution([Term(values, Units.of_sets(np.arange(150)))], rng(), 10_000)
    assert draws.std() == pytest.approx(values.std() / np.sqrt(150), rel=0.03)


def test_bootstrap_standard_error_of_grouped_rows_is_the_cluster_robust_one() -> None:
    """Trap 41: against the sandwich estimate of statsmodels, and well above that of independent rows."""
    values, clusters = clustered()
    draws = bootstrap_distribution([Term(values, Units.of_sets(clusters))], rng(), 10_000)
    robust = sm.OLS(values, np.ones(len(values))).fit(cov_type="cluster", cov_kwds={"groups": clusters}).bse[0]
    assert draws.std() == pytest.approx(robust, rel=0.05)
    assert draws.std() > 1.7 * values.std() / np.sqrt(len(values))


def test_estimate_and_interval_read_one_grouping() -> None:
    """Trap 42: rows in any order, codes of any value: the grouping decides, not where rows stand."""
    values, clusters = clustered()
    shuffled = rng(5).permutation(len(values))
    relabelled = 1000 - 7 * clusters
    one = Term(values, Units.of_sets(clusters))
    other = Term(values[shuffled], Units.of_sets(relabelled[shuffled]))
    assert one.mean == pytest.approx(other.mean)
    a, b = bootstrap_interval([one], rng(), 20_000), bootstrap_interval([other], rng(), 20_000)
    assert (a.low, a.high) == pytest.approx((b.low, b.high), abs=0.02)
    totals = cluster_totals([one])
    assert totals[:, 0].sum() / totals[:, 1].sum() == pytest.approx(values.mean())


def test_one_cluster_is_not_estimable() -> None:
    """Trap 44: a standard error of 0 is not what one cluster says."""
    interval = bootstrap_interval([Term(rng().normal(size=9), Units.of_sets(np.zeros(9)))], rng())
    assert (interval.low, interval.high) == (None, None)
    assert "fewer than two" in interval.method


def test_equal_values_give_a_degenerate_interval_and_no_ends() -> None:
    interval = bootstrap_interval([Term(np.ones(110), Units.of_sets(np.arange(110)))], rng())
    assert (interval.low, interval.high) == (None, None)
    assert interval.method == "bootstrap over sets: degenerate"


def test_few_distinct_clusters_are_drawn_from_the_same_distribution() -> None:
    """The multinomial over distinct clusters and plain indices give the binomial that theory says."""
    values = (np.arange(200) < 60).astype(float)  # 30 % ones: two distinct clusters
    draws = bootstrap_distribution([Term(values, Units.of_sets(np.arange(200)))], rng(), 20_000)
    expected = stats.binom(200, 0.3)
    assert draws.mean() == pytest.approx(0.3, abs=0.002)
    assert draws.std() == pytest.approx(expected.std() / 200, rel=0.03)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert (low, high) == pytest.approx((expected.ppf(0.025) / 200, expected.ppf(0.975) / 200), abs=0.0051)


def test_many_distinct_clusters_are_drawn_in_blocks_with_the_same_distribution() -> None:
    values = rng(2).exponential(size=1900)  # 5,000 draws of 1,900: more than one block
    totals = np.stack([values, np.ones(1900)], axis=1)
    draws = resampled(totals, lambda summed: summed[:, 0] / summed[:, 1], rng(), 5000)
    assert len(draws) == 5000
    assert draws.std() == pytest.approx(values.std() / np.sqrt(1900), rel=0.04)


@pytest.mark.parametrize("sigma", [0.0, 1.0, 3.0])
def test_very_many_clusters_are_drawn_in_groups_without_a_trace(sigma: float) -> None:
    """Evenly spread values, and skewed ones of which a few make most of the sum."""
    values = rng(2).exponential(size=50_000) if not sigma else rng(2).lognormal(sigma=sigma, size=50_000)
    draws = bootstrap_distribution([Term(values, Units.of_sets(np.arange(50_000)))], rng(), 10_000)
    standard_error = values.std() / np.sqrt(50_000)
    assert draws.std() == pytest.approx(standard_error, rel=0.03)
    assert abs(draws.mean() - values.mean()) < 0.05 * standard_error


@pytest.mark.parametrize("sizes", ["even", "one large", "pareto"])
def test_many_clusters_of_uneven_sizes_have_the_bootstrap_of_all_of_them(sizes: str) -> None:
    """Against a bootstrap over all 2,500 clusters that is written here, whatever their sizes."""
    source = rng(11)
    n = {
        "even": np.full(2500, 8),
        "one large": np.append(source.integers(1, 41, 2499), 6000),
        "pareto": np.ceil(source.pareto(1.2, 2500) + 1).astype(int),
    }[sizes]
    shares = np.append(source.beta(2, 2, 2499), 0.5)
    right = source.binomial(n, shares)
    totals = np.stack([right, n], axis=1).astype(float)
    draws = resampled(totals, lambda summed: summed[:, 0] / summed[:, 1], rng(), 10_000)
    picks = source.integers(0, 2500, size=(10_000, 2500))
    exact = right[picks].sum(1) / n[picks].sum(1)
    assert draws.std() == pytest.approx(exact.std(), rel=0.04)
    width = np.subtract(*np.quantile(exact, [0.975, 0.025]))
    for share in (0.025, 0.5, 0.975):
        assert np.quantile(draws, share) == pytest.approx(np.quantile(exact, share), abs=0.04 * width)


def test_terms_over_the_same_clusters_are_paired() -> None:
    """The difference of two sides that move together varies far less than its sides do."""
    source = rng(7)
    base = source.normal(size=100)
    units = Units.of_sets(np.arange(100))
    noise = 0.1 * source.normal(size=100)
    draws = bootstrap_distribution([Term(base + noise, units), Term(base, units, -1.0)], rng(), 5000)
    assert draws.std() == pytest.approx(noise.std() / 10, rel=0.05)


def test_terms_over_other_clusters_are_independent() -> None:
    source = rng(8)
    one, other = source.normal(size=100), source.normal(size=50)
    terms = [Term(one, Units.of_sets(np.arange(100))), Term(other, Units.of_sets(100 + np.arange(50)), -1.0)]
    draws = bootstrap_distribution(terms, rng(), 10_000)
    assert draws.std() == pytest.approx(np.hypot(one.std() / 10, other.std() / np.sqrt(50)), rel=0.05)


def test_same_seed_same_interval() -> None:
    values, clusters = clustered()
    term = Term(values, Units.of_sets(clusters))
    assert bootstrap_interval([term], rng(4), 500) == bootstrap_interval([term], rng(4), 500)


def test_clusters_above_sets_are_what_is_resampled_and_named() -> None:
    values, clusters = clustered(n_clusters=30)
    units = Units(np.arange(len(values)), clusters)
    nested = bootstrap_interval([Term(values, units)], rng())
    alone = bootstrap_interval([Term(values, Units.of_sets(np.arange(len(values))))], rng())
    assert nested.method == "bootstrap over clusters"
    assert nested.high - nested.low > 1.5 * (alone.high - alone.low)


def test_percentile_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """400 samples of 30 clusters of 4 rows: coverage of a nominal 90 % between .83 and .94."""
    source = rng(11)
    clusters = np.repeat(np.arange(30), 4)
    covered = 0
    for _ in range(400):
        values = source.normal(size=30)[clusters] + source.normal(size=120)
        interval = bootstrap_interval([Term(values, Units.of_sets(clusters))], source, 400, 0.9)
        covered += interval.low <= 0 <= interval.high
    assert 0.83 <= covered / 400 <= 0.94


def two_samples(gains: np.ndarray, costs: np.ndarray) -> list[Term]:
    """A mean of gains less a mean of costs, over sets of their own."""
    n = len(gains)
    sets = np.arange(n + len(costs))
    return [Term(gains, Units.of_sets(sets[:n])), Term(costs, Units.of_sets(sets[n:]), -1.0)]


def test_inverted_p_is_twice_the_smaller_tail() -> None:
    """Of nine draws two are 0 or less, so with the sample itself 2 (2 + 1) / (9 + 1)."""
    assert inverted_p(np.array([-0.1, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])) == pytest.approx(0.6)
    assert inverted_p(np.zeros(9)) == 1.0


def test_inverted_p_is_the_two_sample_z_test() -> None:
    values = rng(5)
    gains, costs = values.normal(0.3, 1, 300), values.normal(0.1, 2, 300)
    error = np.sqrt(gains.var() / 300 + costs.var() / 300)
    _, p = bootstrap_test(two_samples(gains, costs), rng(), 20_000)
    assert p == pytest.approx(2 * stats.norm.sf(abs(gains.mean() - costs.mean()) / error), abs=0.02)


@pytest.mark.parametrize(
    ("gain", "cost", "least", "most"),
    [(0.85, 0.85, 0.0, 0.08), (0.95, 0.75, 0.93, 1.0)],
    ids=["size", "power"],
)
def test_gains_in_one_sample_are_tested_against_costs_in_another(
    gain: float, cost: float, least: float, most: float
) -> None:
    """Of 100 sets each; a sign flip finds the second in a tenth of cases (benchmarks/compound_tests.py)."""
    source, rejected = rng(7), []
    for _ in range(300):
        gains, costs = (source.random((2, 100)) < np.array([[gain], [cost]])).astype(float)
        interval, p = bootstrap_test(two_samples(gains, costs), source, 1_000)
        assert p is not None
        assert interval.low is not None
        assert interval.high is not None
        rejected.append(p < 0.05)
        # Where they part, an end of the interval is within a draw of 0.
        assert rejected[-1] == (interval.low > 0 or interval.high < 0) or abs(p - 0.05) < 0.005
    assert least <= np.mean(rejected) <= most
