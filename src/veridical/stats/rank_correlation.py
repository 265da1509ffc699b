"""Spearman's and Kendall's rank correlations, with the number of pairs that each rests on."""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, sqrt, tanh

import numpy as np
from scipy import stats

from veridical.stats.interval import Interval, not_estimable
from veridical.stats.units import Bools, Floats

LEAST = 4
"""The standard error of a transformed correlation needs more than three pairs."""


@dataclass(frozen=True, slots=True)
class RankCorrelation:
    """Correlations over the `n` pairs that have both values; None where one side is constant or n is below 3."""

    rho: float | None
    tau: float | None
    n: int
    p: float | None
    interval: Interval


def rank_correlation(x: Floats, y: Floats, level: float = 0.95) -> RankCorrelation:
    """Spearman's rho and Kendall's tau-b of two columns, both (rows,), over the rows where neither is NaN.

    p is of rho, two-sided, by Student's t on n - 2 degrees of freedom; both are SciPy's.
    """
    both: Bools = np.isfinite(x) & np.isfinite(y)
    n = int(both.sum())
    a, b = x[both], y[both]
    if n < 3 or a.min() == a.max() or b.min() == b.max():
        return RankCorrelation(None, None, n, None, not_estimable(level))
    spearman, kendall = stats.spearmanr(a, b), stats.kendalltau(a, b)
    rho = float(spearman.statistic)
    return RankCorrelation(rho, float(kendall.statistic), n, float(spearman.pvalue), rho_interval(rho, n, level))


def rho_interval(rho: float, n: int, level: float = 0.95) -> Interval:
    """Interval of Spearman's rho by Fisher's z with the standard error sqrt((1 + rho^2 / 2) / (n - 3)).

    Bonett & Wright 2000, Psychometrika 65:23-28. Not estimable below 4 pairs, nor at -1 and 1, where z is infinite.
    """
    if n < LEAST or abs(rho) >= 1 - 1e-12:
        return not_estimable(level)
    half = float(stats.norm.ppf((1 + level) / 2)) * sqrt((1 + rho * rho / 2) / (n - 3))
    return Interval(tanh(atanh(rho) - half), tanh(atanh(rho) + half), level, "Fisher z (Bonett–Wright)")


def average_ranks(values: Floats) -> Floats:
    """Ranks from 1 within each column of (rows, columns) or (rows,); ties share their mean rank."""
    ranks: Floats = np.asarray(stats.rankdata(values, axis=0), dtype=np.float64)
    return ranks
