"""Reliability of a column over models, and correlations freed of the noise of items.

A correlation over the root of both reliabilities is what would be seen with endless items (Spearman 1904, American
Journal of Psychology 15:72-101). It is an estimate that may exceed 1, and is marked as such wherever it is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from veridical.stats.units import Floats
from veridical.validity.results import Correlation, Disattenuated, Reliability
from veridical.validity.seeds import generator
from veridical.validity.table import ScoreTable

HALVES = 200
"""Random splits of the sets; their mean moves little after a hundred. A choice of Veridical."""


def split_half(sets: Floats, rng: np.random.Generator, halves: int = HALVES) -> float | None:
    """Split-half reliability of scores (models, sets): mean over random halves of 2r / (1 + r), r over models.

    Spearman 1910, Brown 1910 (British Journal of Psychology 3). None for fewer than two sets, or where a half is
    constant over models.
    """
    n = sets.shape[1]
    if n < 2:
        return None
    first = (rng.permuted(np.broadcast_to(np.arange(n), (halves, n)), axis=1) < n // 2).astype(np.float64)
    one, other = first @ sets.T / (n // 2), (1 - first) @ sets.T / (n - n // 2)
    one, other = one - one.mean(axis=1, keepdims=True), other - other.mean(axis=1, keepdims=True)
    spread = np.sqrt((one**2).sum(axis=1) * (other**2).sum(axis=1))
    if (spread < 1e-12).any():
        return None
    r = (one * other).sum(axis=1) / spread
    # The mean of r comes before the correction, which is not defined at r = -1.
    mean = float(r.mean())
    return 2 * mean / (1 + mean) if mean > -1 else None


def binomial_reliability(shares: Floats, n_items: int) -> float | None:
    """Reliability of shares (models,) of `n_items` right, were every item alike: 1 − mean(p(1 − p) / (n − 1)) / var(p).

    Kuder and Richardson's formula 21 with the variance over models (Psychometrika 2:151-160, 1937). Items that
    differ in difficulty make the true value higher. None where models do not differ or there is one item.
    """
    variance = float(shares.var(ddof=1)) if len(shares) > 1 else 0.0
    if n_items < 2 or variance <= 0:
        return None
    return 1 - float((shares * (1 - shares)).mean()) / (n_items - 1) / variance


def reliabilities(table: ScoreTable, answers: Mapping[str, Floats], seed: int) -> list[Reliability]:
    """Split-half where answers to sets are at hand, else binomial where the number of items is known."""
    found = []
    for name in table.names:
        values = table.column(name)
        there = np.isfinite(values)
        value, method = None, ""
        sets = answers.get(name)
        if sets is not None and there.any() and np.isfinite(sets[there]).all():
            value = split_half(sets[there], generator(seed, "halves", name))
            method = f"split-half, mean of {HALVES} random halves of {sets.shape[1]:,} sets, Spearman–Brown"
        elif name in table.roles.items and (scale := table.scale(name)) is not None:
            n_items = table.roles.items[name]
            value = binomial_reliability(values[there] / scale.top, n_items)
            method = f"binomial error of {n_items:,} items (Kuder–Richardson 21), a lower bound; {scale.words}"
        if value is not None:
            found.append(Reliability(column=name, value=value, method=method, n=int(there.sum())))
    return found


def disattenuated(pairs: Sequence[Correlation], reliable: Sequence[Reliability]) -> list[Disattenuated]:
    """Spearman's rho over the root of both reliabilities, where both are known and above 0."""
    known = {one.column: one.value for one in reliable if one.value > 0}
    return [
        Disattenuated(
            first=pair.first,
            second=pair.second,
            observed=pair.rho,
            value=pair.rho / float(np.sqrt(known[pair.first] * known[pair.second])),
        )
        for pair in pairs
        if pair.rho is not None and pair.first in known and pair.second in known
    ]
