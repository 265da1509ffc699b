"""Krippendorff's alpha, with an interval, from coincidences of values.

Krippendorff 2004, Content Analysis, 2nd edition, chapter 11. Missing ratings are allowed; an item that fewer than
two raters rated pairs nothing and does not enter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from veridical.stats.bootstrap import percentile_interval, resampled
from veridical.stats.interval import FEWEST_CLUSTERS, Interval, not_estimable, too_few
from veridical.stats.units import Floats, Ints

Level = Literal["nominal", "ordinal"]

MISSING = -1
_CELLS = 4_000_000
"""Cells of all draws' coincidence matrices that are held at once: 32 MB."""


def coincidences(ratings: Ints) -> Floats:
    """How often two raters of an item gave two values, shape (items, values, values).

    `ratings` is (items, raters) of codes: 0, 1, ... in the values' order, `MISSING` where a rater gave none. An
    item's ordered pairs of ratings each count 1 / (its number of ratings - 1), so that it adds up to that number; an
    item with fewer than two ratings adds nothing.
    """
    n_values = int(ratings.max(initial=MISSING)) + 1
    counts: Floats = (ratings[:, :, None] == np.arange(n_values)).sum(axis=1).astype(np.float64)
    rated = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(n_values)
    weighted: Floats = np.where(rated > 1, 1 / np.maximum(rated - 1, 1), 0.0)[:, None, None] * pairs
    return weighted


def _nominal(totals: Floats) -> Floats:
    return np.broadcast_to(1 - np.eye(totals.shape[-1]), (*totals.shape, totals.shape[-1]))


def _ordinal(totals: Floats) -> Floats:
    # The ranks between the middles of two values: all that lie between, and half of either.
    middles = np.cumsum(totals, axis=-1) - totals / 2
    squared: Floats = (middles[..., :, None] - middles[..., None, :]) ** 2
    return squared


_SQUARED_DIFFERENCES: dict[Level, Callable[[Floats], Floats]] = {"nominal": _nominal, "ordinal": _ordinal}
"""Squared differences between values, (..., values, values), from the number of pairable ratings of each."""


def _alphas(matrices: Floats, level: Level) -> Floats:
    """Alpha of each of (..., values, values) summed coincidences; NaN where all ratings are one value."""
    totals: Floats = matrices.sum(axis=-1)
    squared = _SQUARED_DIFFERENCES[level](totals)
    observed = (matrices * squared).sum(axis=(-2, -1))
    expected = np.einsum("...i,...ij,...j->...", totals, squared, totals)
    with np.errstate(invalid="ignore", divide="ignore"):
        alphas: Floats = np.where(expected > 0, 1 - (totals.sum(axis=-1) - 1) * observed / expected, np.nan)
    return alphas


def alpha(ratings: Ints, level: Level) -> float | None:
    """Alpha of ratings (items, raters) as in `coincidences`; None where the pairable ratings do not vary."""
    value = float(_alphas(coincidences(ratings).sum(axis=0), level))
    return None if np.isnan(value) else value


def alpha_interval(
    ratings: Ints,
    clusters: Ints,
    level: Level,
    rng: np.random.Generator,
    draws: int = 10_000,
    confidence: float = 0.95,
) -> Interval:
    """Percentile interval of alpha, resampling whole clusters of items (`clusters`: a code an item, shape (items,)).

    Values' frequencies, and with them the ordinal differences, are those of each draw. Draws in which all ratings are
    one value have no alpha and are left out; the interval's method says how many. Only clusters with a pairable
    item are drawn from; not estimable with fewer than two of them, and without ends with fewer than `FEWEST_CLUSTERS`.
    """
    pairable = (ratings != MISSING).sum(axis=1) > 1
    codes, places = np.unique(clusters[pairable], return_inverse=True)
    if len(codes) < 2:
        return not_estimable(confidence)
    if len(codes) < FEWEST_CLUSTERS:
        return too_few(len(codes), confidence)
    matrices = coincidences(ratings[pairable])
    n_values = matrices.shape[1]
    totals = np.zeros((len(codes), n_values * n_values))
    np.add.at(totals, places, matrices.reshape(len(matrices), -1))

    def statistic(summed: Floats) -> Floats:
        return _alphas(summed.reshape(-1, n_values, n_values), level)

    block = max(1, _CELLS // totals.shape[1])
    sizes = [min(block, draws - start) for start in range(0, draws, block)]
    drawn = np.concatenate([resampled(totals, statistic, rng, size) for size in sizes])
    found = drawn[np.isfinite(drawn)]
    method = f"bootstrap over {'items' if len(codes) == int(pairable.sum()) else 'sets'}"
    if len(found) < draws:
        method += f"; {draws - len(found):,} of {draws:,} draws without variation left out"
    return percentile_interval(found, confidence, method)
