"""Intervals and tests for proportions in closed form, at any level. Counts in, no data."""

from __future__ import annotations

from math import sqrt

from scipy import stats

from veridical.stats.interval import Interval, not_estimable


def wilson(successes: int, n: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for a binomial proportion (Wilson 1927, JASA 22:209-212), through SciPy.

    Has a width at 0 of n and n of n too. Not estimable for n < 2.
    """
    if n < 2:
        return not_estimable(level)
    low, high = _wilson(successes, n, level)
    return Interval(low, high, level, "Wilson")


def newcombe(successes: tuple[int, int], ns: tuple[int, int], level: float = 0.95) -> Interval:
    """Hybrid score interval for p1 - p2 of two independent samples.

    Newcombe 1998, "Interval estimation for the difference between independent proportions", Statistics in
    Medicine 17:873-890, method 10: the distances of the two Wilson limits, squared and added. Not estimable
    where a sample has fewer than two.
    """
    if min(ns) < 2:
        return not_estimable(level)
    p1, p2 = successes[0] / ns[0], successes[1] / ns[1]
    low1, high1 = _wilson(successes[0], ns[0], level)
    low2, high2 = _wilson(successes[1], ns[1], level)
    difference = p1 - p2
    low = difference - sqrt((p1 - low1) ** 2 + (high2 - p2) ** 2)
    high = difference + sqrt((high1 - p1) ** 2 + (p2 - low2) ** 2)
    return Interval(low, high, level, "Newcombe")


def newcombe_paired(both: int, first: int, second: int, neither: int, level: float = 0.95) -> Interval:
    """Score interval for p1 - p2 of paired 0/1 outcomes, with the correction for their correlation.

    Newcombe 1998, "Improved confidence intervals for the difference between binomial proportions based on
    paired data", Statistics in Medicine 17:2635-2650, method 10. `first` counts the pairs where only the
    first is 1. Not estimable for fewer than two pairs.
    """
    n = both + first + second + neither
    if n < 2:
        return not_estimable(level)
    p1, p2 = (both + first) / n, (both + second) / n
    low1, high1 = _wilson(both + first, n, level)
    low2, high2 = _wilson(both + second, n, level)
    phi = _corrected_phi(both, first, second, neither)

    def distance(a: float, b: float) -> float:
        return sqrt(max(a * a - 2 * phi * a * b + b * b, 0.0))

    low = (p1 - p2) - distance(p1 - low1, high2 - p2)
    high = (p1 - p2) + distance(high1 - p1, p2 - low2)
    return Interval(low, high, level, "Newcombe paired")


def mcnemar_exact(first: int, second: int) -> float:
    """Two-sided exact p-value of McNemar's test from the two discordant counts.

    Given the discordant pairs, `first` is Binomial(first + second, 1/2) under the null hypothesis that both
    sides have one proportion (McNemar 1947, Psychometrika 12:153-157). 1 where nothing is discordant.
    """
    n = first + second
    return float(stats.binomtest(first, n, 0.5).pvalue) if n else 1.0


def fisher_exact(successes: tuple[int, int], ns: tuple[int, int]) -> float:
    """Two-sided p-value of Fisher's exact test that two independent samples have one proportion."""
    table = [[successes[0], ns[0] - successes[0]], [successes[1], ns[1] - successes[1]]]
    return float(stats.fisher_exact(table).pvalue)


def _wilson(successes: int, n: int, level: float) -> tuple[float, float]:
    interval = stats.binomtest(successes, n).proportion_ci(confidence_level=level, method="wilson")
    return float(interval.low), float(interval.high)


def _corrected_phi(both: int, first: int, second: int, neither: int) -> float:
    """The phi coefficient with Newcombe's continuity correction: 0 where a margin is empty."""
    margins = (both + first) * (second + neither) * (both + second) * (first + neither)
    if margins == 0:
        return 0.0
    n = both + first + second + neither
    cross = both * neither - first * second
    corrected = max(cross - n / 2, 0.0) if cross > 0 else float(cross)
    return corrected / sqrt(margins)
