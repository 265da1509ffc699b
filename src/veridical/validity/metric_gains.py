"""Intervals over families of the gains in R² and in rank correlation, as the MAE gain has one."""

from __future__ import annotations

import numpy as np

from veridical.stats.rank_correlation import average_ranks, rank_correlation
from veridical.stats.units import Floats, Ints
from veridical.validity.inference import Span
from veridical.validity.intervals import FEW_FAMILIES, over_families
from veridical.validity.predicted import Predicted


def squared_over_families(of: Predicted, draws: int, seed: int) -> Span:
    """The interval of the gain in R²: families' squared errors that the benchmark takes away, over their squares about
    the mean of the others."""
    taken = (of.observed - of.without) ** 2 - (of.observed - of.with_benchmark) ** 2
    about = (of.observed - of.mean) ** 2
    unit = float(about.sum())
    if unit <= 0:
        return Span(method="not estimable: the outcome is constant")
    totals: Floats = np.column_stack(
        [np.bincount(of.families, weights=part / unit).astype(np.float64) for part in (taken, about)]
    )
    others = totals.sum(axis=0) - totals
    with np.errstate(invalid="ignore", divide="ignore"):
        left_out = others[:, 0] / others[:, 1]
        return over_families(totals, lambda drawn: drawn[:, 0] / drawn[:, 1], left_out, draws, seed)


def rho_over_families(of: Predicted, draws: int, seed: int) -> Span:
    """The interval of the gain in Spearman's rho: families resampled, ranks held as they are over all models."""
    if len(np.unique(of.families)) < FEW_FAMILIES:
        left_out = [_rho_gain(of, of.families != family) for family in np.unique(of.families)]
        return over_families(np.empty((len(left_out), 0)), lambda drawn: drawn[:, 0], left_out, draws, seed)
    ranks = average_ranks(np.column_stack([of.observed, of.without, of.with_benchmark])) / len(of.observed)
    totals = _products(ranks, of.families)
    return over_families(totals, _difference, (), draws, seed)


def _rho_gain(of: Predicted, rows: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
    rhos = [rank_correlation(of.observed[rows], part[rows]).rho for part in (of.with_benchmark, of.without)]
    return float("nan") if rhos[0] is None or rhos[1] is None else rhos[0] - rhos[1]


def _products(ranks: Floats, families: Ints) -> Floats:
    """Sums over each family of products of (1, observed, without, with), (families, 16)."""
    rows = np.column_stack([np.ones(len(ranks)), ranks])
    every = (rows[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
    return np.column_stack([np.bincount(families, weights=column) for column in every.T])


def _difference(totals: Floats) -> Floats:
    """Correlation of observed and with, less that of observed and without, from summed products (draws, 16)."""
    drawn = totals.reshape(-1, 4, 4)
    mean = drawn[:, 0] / drawn[:, 0, :1]
    about = drawn / drawn[:, :1, :1] - mean[:, :, None] * mean[:, None, :]
    with np.errstate(invalid="ignore", divide="ignore"):
        without, with_benchmark = (
            about[:, 1, place] / np.sqrt(about[:, 1, 1] * about[:, place, place]) for place in (2, 3)
        )
    difference: Floats = with_benchmark - without
    return difference
