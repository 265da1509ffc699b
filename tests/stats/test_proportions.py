"""Closed-form intervals and tests against published worked examples and other libraries."""

from __future__ import annotations

from math import sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from veridical.stats.interval import Interval
from veridical.stats.proportions import fisher_exact, mcnemar_exact, newcombe, newcombe_paired, wilson

counts = st.integers(2, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))

NEWCOMBE_1998_TABLE_II = [
    # successes and n on each side, limits by method 10 as printed
    ((56, 48), (70, 80), 0.0524, 0.3339),
    ((9, 3), (10, 10), 0.1705, 0.8090),
    ((6, 2), (7, 7), 0.0582, 0.8062),
    ((5, 0), (56, 29), -0.0381, 0.1926),
    ((0, 0), (10, 20), -0.1611, 0.2775),
    ((0, 0), (10, 10), -0.2775, 0.2775),
    ((10, 0), (10, 20), 0.6791, 1.0000),
    ((10, 0), (10, 10), 0.6075, 1.0000),
]


@given(counts, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_wilson_agrees_with_statsmodels(sample: tuple[int, int], level: float) -> None:
    successes, n = sample
    interval = wilson(successes, n, level)
    expected = proportion_confint(successes, n, alpha=1 - level, method="wilson")
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)


def test_wilson_has_a_width_where_all_are_successes() -> None:
    # at 110 of 110 the lower limit is n / (n + z^2)
    interval = wilson(110, 110)
    assert interval.low == pytest.approx(110 / (110 + 1.959964**2), abs=1e-6)
    assert interval.high == pytest.approx(1)


@pytest.mark.parametrize(("successes", "ns", "low", "high"), NEWCOMBE_1998_TABLE_II)
def test_newcombe_gives_the_limits_of_its_paper(
    successes: tuple[int, int], ns: tuple[int, int], low: float, high: float
) -> None:
    interval = newcombe(successes, ns)
    assert interval.low == pytest.approx(low, abs=5.1e-5)
    assert interval.high == pytest.approx(high, abs=5.1e-5)


@given(counts, counts)
def test_newcombe_agrees_with_statsmodels(one: tuple[int, int], other: tuple[int, int]) -> None:
    interval = newcombe((one[0], other[0]), (one[1], other[1]))
    expected = confint_proportions_2indep(*one, *other, method="newcomb", compare="diff")
    assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-9)


def test_newcombe_paired_gives_a_published_example() -> None:
    """Complete response before and after consolidation therapy (Cavo et al. 2012), as worked out in Fagerland,
    Lydersen & Laake 2017, Statistical Analysis of Contingency Tables, chapter 8."""
    interval = newcombe_paired(59, 6, 16, 80)
    assert interval.low == pytest.approx(-0.1186, abs=5e-5)
    assert interval.high == pytest.approx(-0.0046, abs=5e-5)
    assert mcnemar_exact(6, 16) == pytest.approx(0.052479, abs=5e-7)


def test_newcombe_paired_adds_squares_where_the_corrected_correlation_is_zero() -> None:
    # 1 * 12 - 1 * 7 = 5 is below n / 2 = 10.5: phi is corrected to 0 (airway reactivity, Bentur et al. 2009)
    interval = newcombe_paired(1, 1, 7, 12)
    low1, high1 = proportion_confint(2, 21, method="wilson")
    low2, high2 = proportion_confint(8, 21, method="wilson")
    p1, p2 = 2 / 21, 8 / 21
    assert interval.low == pytest.approx(p1 - p2 - sqrt((p1 - low1) ** 2 + (high2 - p2) ** 2))
    assert interval.high == pytest.approx(p1 - p2 + sqrt((high1 - p1) ** 2 + (p2 - low2) ** 2))
    assert (round(interval.low, 3), round(interval.high, 3)) == (-0.507, -0.026)


def test_newcombe_paired_corrects_a_positive_correlation_by_hand() -> None:
    # e, f, g, h = 20, 12, 2, 16: cross product 320 - 24 = 296, less n / 2 = 25, over sqrt(32 * 18 * 22 * 28)
    phi = 271 / sqrt(32 * 18 * 22 * 28)
    low1, high1 = stats.binomtest(32, 50).proportion_ci(method="wilson")
    low2, high2 = stats.binomtest(22, 50).proportion_ci(method="wilson")
    a, b = 0.64 - low1, high2 - 0.44
    c, d = high1 - 0.64, 0.44 - low2
    interval = newcombe_paired(20, 12, 2, 16)
    assert interval.low == pytest.approx(0.20 - sqrt(a * a - 2 * phi * a * b + b * b))
    assert interval.high == pytest.approx(0.20 + sqrt(c * c - 2 * phi * c * d + d * d))


@given(st.tuples(*[st.integers(0, 40)] * 4).filter(lambda cells: sum(cells) >= 2))
def test_newcombe_paired_is_antisymmetric_and_within_range(cells: tuple[int, int, int, int]) -> None:
    both, first, second, neither = cells
    interval, mirror = newcombe_paired(both, first, second, neither), newcombe_paired(both, second, first, neither)
    assert (interval.low, interval.high) == pytest.approx((-mirror.high, -mirror.low))
    difference = (first - second) / sum(cells)
    assert -1 - 1e-9 <= interval.low <= difference + 1e-12
    assert difference - 1e-12 <= interval.high <= 1 + 1e-9
    assert interval.low < interval.high


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_statsmodels(first: int, second: int) -> None:
    expected = mcnemar([[3, first], [second, 4]], exact=True).pvalue if first + second else 1.0
    assert mcnemar_exact(first, second) == pytest.approx(expected)


def test_paired_test_finds_what_the_unpaired_one_misses() -> None:
    """Trap 43: 200 pairs, 110 against 101 right, 1 of the 11 discordant pairs against: McNemar's p is
    2 * (1 + 11) / 2^11 = .0117, Fisher's test on the same margins sees nothing."""
    assert mcnemar_exact(10, 1) == pytest.approx(24 / 2048)
    assert fisher_exact((110, 101), (200, 200)) > 0.3


@pytest.mark.parametrize(
    "interval", [wilson(1, 1), newcombe((1, 5), (1, 9)), newcombe_paired(1, 0, 0, 0)], ids=lambda i: "one unit"
)
def test_one_unit_gives_no_interval(interval: Interval) -> None:
    """Trap 44."""
    assert interval.low is None
    assert interval.high is None
    assert "not estimable" in interval.method


def test_an_interval_without_width_cannot_be_made() -> None:
    with pytest.raises(ValueError, match="width"):
        Interval(1.0, 1.0, 0.95, "bootstrap over sets")
