"""Permutation tests and their p-values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.stats.bootstrap import Term, cluster_totals
from veridical.stats.units import Floats

_TOLERANCE = 1e-9


def permutation_p(observed: float, null: Floats) -> float:
    """p = (b + 1) / (n + 1): b of the n null values are at least as great as `observed`.

    Never 0, since the observed arrangement is itself one of those possible (Phipson & Smyth 2010, Statistical
    Applications in Genetics and Molecular Biology 9:39). Values that differ by rounding alone count as ties.
    """
    if len(null) == 0:
        raise ValueError("a permutation p-value needs at least one null value")
    b = int(np.count_nonzero(null >= observed - _TOLERANCE * max(1.0, abs(observed))))
    return (b + 1) / (len(null) + 1)


def sign_flip_p(differences: Floats, rng: np.random.Generator, draws: int = 10_000) -> float:
    """Two-sided p-value that the sum of paired differences is 0, by flipping the sign of each at random.

    Exact up to Monte Carlo error where the two sides of each pair are exchangeable under the null hypothesis
    (Fisher 1935, The Design of Experiments, section 21). Equal differences flip together by a binomial count,
    which is the same distribution as flipping each alone. 1 where nothing differs.
    """
    scale = float(np.abs(differences).max(initial=0.0))
    if scale == 0:
        return 1.0
    scaled = np.round(differences / scale, 9)
    sizes, counts = np.unique(np.abs(scaled), return_counts=True)
    counts, sizes = counts[sizes > 0], sizes[sizes > 0]
    null = np.empty(draws)
    block = max(1, 4_000_000 // len(sizes))
    for start in range(0, draws, block):
        stop = min(start + block, draws)
        heads = rng.binomial(counts, 0.5, size=(stop - start, len(sizes)))
        null[start:stop] = np.abs((2 * heads - counts) @ sizes)
    return permutation_p(abs(float(scaled.sum())), null)


def cluster_contributions(terms: Sequence[Term]) -> Floats:
    """What each cluster adds to a weighted sum of means, shape (clusters,); they sum to the statistic."""
    totals = cluster_totals(terms)
    weights = np.array([term.weight / len(term.values) for term in terms])
    contributions: Floats = totals[:, 0::2] @ weights
    return contributions
