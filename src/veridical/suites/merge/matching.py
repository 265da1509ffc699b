"""Matching correctness: the threshold at which seed-variant accuracy comes closest to seed accuracy.

Everything is counted in seeds, not in shares, so that ties are ties. A curve is the number of seeds that pass at
each of the 20 thresholds; it never rises.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical.stats.units import Floats, Ints
from veridical.suites.merge.reference import STEPS, THRESHOLDS

_FAR = 2**40
"""More variants than a seed has: what the threshold beyond the last asks for."""


@dataclass(frozen=True, slots=True)
class Match:
    """The thresholds (k of k / 20) that come closest: with ties all from `lowest` to `highest`."""

    lowest: int
    highest: int


def match(curve: Ints | Floats, seeds_right: float) -> Match:
    """Where a curve (20,) comes closest to the number of seeds that are right. Ties are neighbours."""
    distance = np.abs(curve - seeds_right)
    tied = np.flatnonzero(distance <= distance.min() + 1e-9) + 1
    return Match(int(tied[0]), int(tied[-1]))


def highest_matches(curves: Floats, seeds_right: Floats) -> Floats:
    """`match(...).highest` as a share, for draws: curves (draws, 20) of counts and counts (draws,) to (draws,)."""
    distance = np.abs(curves - seeds_right[:, None])
    highest: Floats = (STEPS - np.argmin(distance[:, ::-1], axis=1)) / STEPS
    return highest


def reachable(least: Ints, low: Ints, high: Ints, seeds_right: tuple[int, int]) -> Match:
    """The least and the greatest `highest` over every way in which open answers can turn out.

    `least` (20, seeds) is how many variants of a seed must be right at each threshold; `low` and `high` (seeds,) are
    the ends of how many are; the number of right seeds may be any in `seeds_right`, ends included. Exact where no
    item stands in two sets, and otherwise no narrower than the truth.
    """
    steps = np.vstack([np.zeros_like(least[:1]), least, np.full_like(least[:1], _FAR)])
    right = np.arange(seeds_right[0], seeds_right[1] + 1, dtype=np.int64)
    found = [
        k for k in THRESHOLDS if _from_above(steps, low, high, right, k) or _from_below(steps, low, high, right, k)
    ]
    return Match(found[0], found[-1])


def _from_above(steps: Ints, low: Ints, high: Ints, right: Ints, k: int) -> bool:
    """Whether k can match with a curve that is at `right` or above there.

    Then it must lie farther below `right` at k + 1, so as few seeds as can be pass at k, and of those as few as can
    be at k + 1.
    """
    surely, after = int((low >= steps[k]).sum()), int((low >= steps[k + 1]).sum())
    perhaps = (low < steps[k]) & (steps[k] <= high)
    # Of those that are made to pass at k, these need not pass at k + 1.
    apart = int((perhaps & (steps[k] < steps[k + 1])).sum())
    point = np.maximum(right, surely)
    beyond = after + np.maximum(point - surely - apart, 0)
    possible = point <= surely + int(perhaps.sum())
    return bool((possible & ((k == STEPS) | (point + beyond < 2 * right))).any())


def _from_below(steps: Ints, low: Ints, high: Ints, right: Ints, k: int) -> bool:
    """Whether k can match with a curve that is below `right` there.

    Then it must fall after k, and be level from some j + 1 to k, with j at least as far above `right` as k is below
    (or no j). As many seeds as can be pass at k, and at j as many of the others as can be.
    """
    splits = np.maximum(low, steps[k]) < np.minimum(high + 1, steps[k + 1])  # can pass at k and fail after
    for j in range(k):
        must = low >= steps[j + 1]
        if (must & (high < steps[k])).any():
            continue  # this seed makes the curve fall between j + 1 and k
        may = (low < steps[j + 1]) & (high >= steps[k])
        # Where j and j + 1 ask for as many, a seed that passes at j passes at k.
        bound = may & (steps[j] == steps[j + 1])
        stays = (high < steps[k]) & (np.maximum(low, steps[j]) < np.minimum(high + 1, steps[j + 1]))
        n_must, n_may, n_bound = (int(each.sum()) for each in (must, may, bound))
        point = np.minimum(n_must + n_may, right - 1)
        taken = point - n_must
        possible = taken >= 0
        from_others = np.maximum(taken - n_bound, 0)
        if k < STEPS and not (must & splits).any():
            possible &= (taken >= 1) & bool((may & splits).any())
            if not (bound & splits).any():
                from_others = np.maximum(from_others, 1)
        earlier = point + int(stays.sum()) + n_may - n_bound - from_others
        if (possible & ((j == 0) | (earlier + point >= 2 * right))).any():
            return True
    return False
