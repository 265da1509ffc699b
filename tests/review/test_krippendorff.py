"""Alpha against tables worked by hand, published figures and the package `krippendorff`."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest

from veridical.review.krippendorff import MISSING, alpha, alpha_interval, coincidences
from veridical.stats.units import Ints


def with_gaps(rng: np.random.Generator, items: int, raters: int, values: int) -> Ints:
    """Ratings that follow a common truth half of the time, a fifth of them missing."""
    truth = rng.integers(0, values, size=(items, 1))
    noise = rng.integers(0, values, size=(items, raters))
    ratings = np.where(rng.random((items, raters)) < 0.5, truth, noise)
    return np.where(rng.random((items, raters)) < 0.2, MISSING, ratings).astype(np.int64)


def by_package(ratings: Ints, level: str) -> float:
    floats = np.where(ratings == MISSING, np.nan, ratings.astype(float))
    domain = list(range(int(ratings.max()) + 1))
    return float(krippendorff.alpha(floats.T, level_of_measurement=level, value_domain=domain))


def test_two_raters_and_two_values_by_hand() -> None:
    # Coincidences: 4 of 0-0, 2 of 1-1, 1 of 0-1 and of 1-0; n0 = 5, n1 = 3: alpha = 1 - 7 * 2 / (2 * 5 * 3).
    ratings = np.array([[0, 0], [0, 0], [1, 1], [0, 1]])
    assert coincidences(ratings).sum(axis=0).tolist() == [[4, 1], [1, 2]]
    assert alpha(ratings, "nominal") == pytest.approx(1 - 14 / 30)


def test_ordinal_differences_by_hand() -> None:
    # n = 3, 3, 2. Squared differences (3+3-3)² = 9, (3+2-2.5)² = 6.25 and, from first to last, (8-2.5)² = 30.25:
    # alpha = 1 - 7 * (2 * 9) / (2 * (9*9 + 6*6.25 + 6*30.25)) = 1 - 126/600.
    ratings = np.array([[0, 0], [1, 1], [2, 2], [0, 1]])
    assert alpha(ratings, "ordinal") == pytest.approx(0.79)


def test_three_raters_with_gaps_by_hand() -> None:
    # Item 1 (0, 0, 1): each pair counts a half: 0-0 1, 0-1 1, 1-0 1. Item 2 (1, 1): 1-1 2. Item 3 has one rating.
    ratings = np.array([[0, 0, 1], [1, MISSING, 1], [MISSING, 0, MISSING]])
    assert coincidences(ratings).tolist() == [[[1, 1], [1, 0]], [[0, 0], [0, 2]], [[0, 0], [0, 0]]]
    # n0 = 2, n1 = 3: alpha = 1 - 4 * 2 / (2 * 2 * 3).
    assert alpha(ratings, "nominal") == pytest.approx(1 - 8 / 12)


def test_published_example_of_four_observers() -> None:
    """Krippendorff 2011, Computing Krippendorff's Alpha-Reliability: .743 nominal, .815 ordinal."""
    rows = ["1 2 3 3 2 1 4 1 2 . . .", "1 2 3 3 2 2 4 1 2 5 . 3", ". 3 3 3 2 3 4 2 2 5 1 .", "1 2 3 3 2 4 4 1 2 5 1 ."]
    ratings = np.array([[MISSING if v == "." else int(v) - 1 for v in row.split()] for row in rows]).T
    assert alpha(ratings, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert alpha(ratings, "ordinal") == pytest.approx(0.815, abs=5e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize(("items", "raters", "values"), [(12, 2, 2), (30, 3, 5), (98, 2, 4), (40, 6, 3)])
def test_alpha_is_that_of_the_package(items: int, raters: int, values: int, level) -> None:
    for seed in range(5):
        ratings = with_gaps(np.random.default_rng(seed), items, raters, values)
        assert alpha(ratings, level) == pytest.approx(by_package(ratings, level), abs=1e-12)


def test_ratings_that_do_not_vary_have_no_alpha() -> None:
    assert alpha(np.zeros((5, 2), np.int64), "nominal") is None
    assert alpha(np.full((5, 2), MISSING, np.int64), "ordinal") is None
    # What varies is rated once, and pairs nothing.
    assert alpha(np.array([[0, 0], [1, MISSING]]), "nominal") is None


def test_opposite_raters_are_worse_than_chance() -> None:
    value = alpha(np.array([[0, 1], [1, 0], [0, 1], [1, 0]]), "nominal")
    assert value == pytest.approx(1 - 7 * 8 / (2 * 4 * 4))  # all 8 coincidences differ; n = 4, 4


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
def test_interval_is_that_of_resampling_with_the_package(level) -> None:
    ratings = with_gaps(np.random.default_rng(1), 60, 3, 4)
    pairable = ratings[(ratings != MISSING).sum(axis=1) > 1]
    rng = np.random.default_rng(2)
    drawn = [by_package(pairable[rng.integers(0, len(pairable), len(pairable))], level) for _ in range(1500)]
    interval = alpha_interval(ratings, np.arange(60), level, np.random.default_rng(3))
    assert interval.method == "bootstrap over items"
    # The standard error of a quantile of 1,500 draws is under a tenth of the interval.
    width = np.quantile(drawn, 0.975) - np.quantile(drawn, 0.025)
    assert interval.low == pytest.approx(np.quantile(drawn, 0.025), abs=width / 10)
    assert interval.high == pytest.approx(np.quantile(drawn, 0.975), abs=width / 10)


def test_items_of_one_set_are_drawn_together() -> None:
    """Each item twice says no more than each item once."""
    once = with_gaps(np.random.default_rng(1), 60, 3, 3)
    twice = np.repeat(once, 2, axis=0)
    plain = alpha_interval(once, np.arange(60), "nominal", np.random.default_rng(0))
    grouped = alpha_interval(twice, np.repeat(np.arange(60), 2), "nominal", np.random.default_rng(0))
    apart = alpha_interval(twice, np.arange(120), "nominal", np.random.default_rng(0))
    assert grouped.method == "bootstrap over sets"
    assert None not in (plain.low, plain.high, grouped.low, grouped.high, apart.low, apart.high)
    assert grouped.high - grouped.low == pytest.approx(plain.high - plain.low, rel=0.05)
    assert apart.high - apart.low == pytest.approx((plain.high - plain.low) / np.sqrt(2), rel=0.1)


def test_draws_without_variation_are_counted_and_left_out() -> None:
    # One item of twelve differs: a draw misses it with probability (11/12)^12 = .352.
    ratings = np.array([[0, 0]] * 11 + [[0, 1]])
    interval = alpha_interval(ratings, np.arange(12), "nominal", np.random.default_rng(0))
    words = interval.method.split()
    assert words[:3] == ["bootstrap", "over", "items;"]
    assert int(words[3].replace(",", "")) / 10_000 == pytest.approx((11 / 12) ** 12, abs=0.02)


def test_one_pairable_cluster_gives_no_interval() -> None:
    ratings = np.array([[0, 1], [1, MISSING]])
    assert not alpha_interval(ratings, np.arange(2), "nominal", np.random.default_rng(0)).estimable


@pytest.mark.parametrize("n_clusters", [2, 3, 9])
def test_few_clusters_give_no_ends(n_clusters: int) -> None:
    """As for every other resampling: three sets of ten items each say little of a fourth."""
    clusters = np.repeat(np.arange(n_clusters), 10)
    ratings = np.random.default_rng(2).integers(0, 3, size=(len(clusters), 2))
    interval = alpha_interval(ratings, clusters, "nominal", np.random.default_rng(0))
    assert (interval.low, interval.high) == (None, None)
    assert interval.method == f"too few sets for an interval: {n_clusters}, and 10 are needed"
