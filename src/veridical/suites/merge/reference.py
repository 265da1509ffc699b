"""What seed-variant accuracy would be if the errors fell on the variants at random."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from veridical.stats.units import Floats, Ints

STEPS = 20
"""Thresholds are k / 20 for k = 1 to 20. The grid is chosen by Veridical; 0 would ask nothing of a seed and is left
out."""

THRESHOLDS = range(1, STEPS + 1)
"""k of every threshold."""


def needed(n: Ints) -> Ints:
    """How many of `n` variants (seeds,) must be right at each threshold: the least r with 20 r >= k n, (20, seeds)."""
    ks = np.array(THRESHOLDS, dtype=np.int64)[:, None]
    least: Ints = -(-ks * n // STEPS)
    return least


def reference_line(n: Ints, p: float) -> Floats:
    """Mean over seeds of P(Binomial(n_s, p) >= ceil(CT n_s)) at every threshold CT, shape (20,).

    `n` (seeds,) counts the variants of each seed, at least 1; `p` is the variant accuracy. A curve above it at high
    thresholds says that errors gather in some seeds, one below it that they spread more evenly than by chance.
    """
    sizes, seeds = np.unique(n, return_counts=True)
    line: Floats = binom.sf(needed(sizes) - 1, sizes, p) @ seeds / len(n)
    return line
