"""Exact sign-flip test for a handful of paired differences."""

from __future__ import annotations

import numpy as np

from veridical.stats.permutation import sign_flip_p
from veridical.stats.units import Floats

EXACT = 16
"""Up to so many differences every pattern of signs is looked at; above, draws take their place."""
_TIES = 1e-9


def exact_sign_flip_p(differences: Floats, rng: np.random.Generator, draws: int = 10_000) -> float:
    """Two-sided p-value that the sum of differences is 0, over all 2^F patterns of signs.

    The pattern that was observed and its mirror image are among them, so that p is 2^(1 - F) at the least. More
    than `EXACT` differences are flipped at random.
    """
    f = len(differences)
    if f > EXACT:
        return sign_flip_p(differences, rng, draws)
    scale = float(np.abs(differences).max(initial=0.0))
    if scale == 0:
        return 1.0
    scaled = differences / scale
    # Each pattern has its mirror image: half of them are enough.
    patterns = np.arange(2 ** (f - 1))[:, None] >> np.arange(f)[None, :] & 1
    sums = np.abs((1 - 2 * patterns) @ scaled)
    return float((sums >= abs(scaled.sum()) - _TIES).mean())


def least_sign_flip_p(n: int, draws: int = 10_000) -> float:
    """The smallest p-value that flipping n differences can give."""
    return 2.0 ** (1 - n) if n <= EXACT else 1 / (draws + 1)
