"""Percentile bootstrap over clusters, vectorised.

Statistics here are functions of totals over clusters (sums and counts), so a resample is a weighted sum of
rows of a (clusters, columns) table and no answer is looked at twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from veridical.stats.interval import FEWEST_CLUSTERS, Interval, degenerate, not_estimable, too_few
from veridical.stats.units import Floats, Ints, Units, align

_CELLS = 4_000_000
"""Draws are made in blocks of about this many cluster indices: 32 MB."""
_MANY = 2000
"""From this many clusters on, those whose totals are nearly equal are drawn as one (`_alike`) where they are common."""
_CELLS_PER_SD = 8
"""Clusters in one cell of this width differ by so little that any sum of columns keeps 255/256 of its variance or
more, and 767/768 where they are spread evenly over the cell: an interval is narrower by .2 % at most. Our choice."""


@dataclass(frozen=True, eq=False)
class Term:
    """A mean over rows that enters a statistic with a weight (1 or -1 in a difference). `values`: (rows,)."""

    values: Floats
    units: Units
    weight: float = 1.0

    def __post_init__(self) -> None:
        if self.values.shape != self.units.sets.shape:
            raise ValueError(f"{len(self.values)} values for {len(self.units)} rows")

    @property
    def mean(self) -> float:
        """Mean of the values, without the weight."""
        return float(self.values.mean())


def cluster_totals(terms: Sequence[Term]) -> Floats:
    """Sum and number of rows of each term in each cluster, shape (clusters, 2 * terms)."""
    codes, positions = align([term.units for term in terms])
    columns: list[Floats] = []
    for term, position in zip(terms, positions, strict=True):
        columns.append(np.bincount(position, weights=term.values, minlength=len(codes)).astype(np.float64))
        columns.append(np.bincount(position, minlength=len(codes)).astype(np.float64))
    return np.stack(columns, axis=1)


def resampled(totals: Floats, statistic: Callable[[Floats], Floats], rng: np.random.Generator, draws: int) -> Floats:
    """The statistic over `draws` resamples of whole clusters with replacement, shape (draws,).

    `totals` is (clusters, columns); `statistic` maps summed totals (draws, columns) to (draws,). Clusters
    with equal totals are interchangeable: where there are few distinct ones their multinomial counts are
    drawn, which is the same distribution and does not grow with the number of clusters.
    """
    n = len(totals)
    distinct, counts = np.unique(totals, axis=0, return_counts=True)
    if n >= _MANY and len(distinct) * 8 > n:
        distinct, counts = _alike(totals)
    if len(distinct) * 8 <= n:
        return statistic(rng.multinomial(n, counts / n, size=draws) @ distinct)
    block = max(1, _CELLS // n)
    parts: list[Floats] = []
    for start in range(0, draws, block):
        size = min(block, draws - start)
        picks = rng.integers(0, n, size=(size, n), dtype=np.int64)
        picks += np.arange(size, dtype=np.int64)[:, None] * n
        weights = np.bincount(picks.ravel(), minlength=size * n).reshape(size, n)
        parts.append(statistic(weights @ totals))
    return np.concatenate(parts)


def _alike(totals: Floats) -> tuple[Floats, Ints]:
    """Groups of clusters whose totals (clusters, columns) are nearly equal: the mean of each, and its size.

    The cells are cut along the principal axes of the columns, in parts of each axis's standard deviation: columns that
    go together (a sum and its number of rows, where clusters differ in size) are cut finely across the line on which
    they lie. Since means take the place of their members, the sample's own value is what it was.
    """
    centred = totals - totals.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    centred /= np.where(scale > 0, scale, 1.0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    along = centred @ axes
    spread = along.std(axis=0)
    # What is left of an axis along which nothing varies is rounding.
    varies = spread > 1e-9 * spread.max(initial=0.0)
    cells = np.floor(along[:, varies] / spread[varies] * _CELLS_PER_SD)
    _, group, counts = np.unique(cells, axis=0, return_inverse=True, return_counts=True)
    means = np.stack([np.bincount(group.ravel(), weights=column) for column in totals.T], axis=1) / counts[:, None]
    return means, counts


def bootstrap_distribution(terms: Sequence[Term], rng: np.random.Generator, draws: int) -> Floats:
    """Bootstrap draws of the weighted sum of means. NaN where a draw left a term without rows."""
    weights = np.array([term.weight for term in terms])

    def statistic(summed: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = summed[:, 0::2] / summed[:, 1::2]
        result: Floats = means @ weights
        return result

    return resampled(cluster_totals(terms), statistic, rng, draws)


def bootstrap_interval(
    terms: Sequence[Term], rng: np.random.Generator, draws: int = 10_000, level: float = 0.95
) -> Interval:
    """Percentile interval of a weighted sum of means, resampling the clusters of all terms together.

    Terms that share clusters are thereby paired, terms that do not are independent. Efron & Tibshirani 1993,
    An Introduction to the Bootstrap, chapters 8 and 13. Not estimable where a term has fewer than two
    clusters, and without ends where it has fewer than `FEWEST_CLUSTERS`, or where both ends coincide.
    """
    return bootstrap_test(terms, rng, draws, level)[0]


def bootstrap_test(
    terms: Sequence[Term], rng: np.random.Generator, draws: int = 10_000, level: float = 0.95
) -> tuple[Interval, float | None]:
    """`bootstrap_interval`, and the two-sided p-value that the statistic is 0, from the same draws.

    The p-value is that of the inverted interval (Efron & Tibshirani 1993, section 15.4): the level at which one end
    comes to 0, so that p < .05 where the 95 % interval excludes 0. Rows of different terms are not exchanged for
    each other: what one term gains and another loses is not noise of their sum, as it is to a sign flip. None where
    there is no interval.
    """
    if any(term.units.n_clusters < 2 for term in terms):
        return not_estimable(level), None
    if (fewest := min(term.units.n_clusters for term in terms)) < FEWEST_CLUSTERS:
        return too_few(fewest, level), None
    above = any(term.units.nested for term in terms)
    method = "bootstrap over clusters" if above else "bootstrap over sets"
    distribution = bootstrap_distribution(terms, rng, draws)
    finite = distribution[np.isfinite(distribution)]
    interval = percentile_interval(finite, level, method)
    return interval, inverted_p(finite) if interval.estimable else None


def inverted_p(distribution: Floats) -> float:
    """Two-sided p-value that a statistic is 0, from its bootstrap draws (draws,): twice the smaller tail, 1 at most.

    A draw of 0 counts to both tails, and the observed sample to either, so that no p is 0.
    """
    tail = min(int((distribution <= 1e-9).sum()), int((distribution >= -1e-9).sum()))
    return min(1.0, 2 * (tail + 1) / (len(distribution) + 1))


def percentile_interval(distribution: Floats, level: float, method: str) -> Interval:
    """The central `level` of a distribution of draws, shape (draws,)."""
    if len(distribution) == 0:
        return not_estimable(level)
    low, high = np.quantile(distribution, [(1 - level) / 2, (1 + level) / 2])
    # Sums of equal terms may differ in the last bits from draw to draw.
    if high - low < 1e-9:
        return degenerate(level, method)
    return Interval(float(low), float(high), level, method)
