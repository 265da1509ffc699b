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


def reachable(least: Ints, low: Ints, high: Ints, seeds_right: tuple[int, int]) -> list[int]:
    """Every `highest` that `match` gives over all ways in which open answers can turn out, in ascending order.

    `least` (20, seeds) is how many variants of a seed must be right at each threshold; `low` and `high` (seeds,) are
    the ends of how many are; the number of right seeds may be any in `seeds_right`, ends included. Exact where no
    item stands in two sets, and otherwise no narrower than the truth.
    """
    steps = np.vstack([np.zeros_like(least[:1]), least, np.full_like(least[:1], _FAR)])
    right = np.arange(seeds_right[0], seeds_right[1] + 1, dtype=np.int64)
    return [k for k in THRESHOLDS if _from_above(steps, low, high, right, k) or _from_below(steps, low, high, right, k)]


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
    """Whether k can match with a curve that is below all of `right` that it can reach there.

    (Where it can reach `right` and fall after k, k matches from above.) Then it must fall after k, and be level from
    some j + 1 to k, with j at least as far above `right` as k is below (or no j). All seeds that can pass at k do,
    and of the others at j as many as can.
    """
    most = int((high >= steps[k]).sum())
    beyond = right[right > most]
    splits = np.maximum(low, steps[k]) < np.minimum(high + 1, steps[k + 1])  # can pass at k and fail after
    if len(beyond) == 0 or not (k == STEPS or splits.any()):
        return False
    for j in range(k):
        others = high < steps[k]
        if (others & (low >= steps[j + 1])).any():
            continue  # such a seed makes the curve fall between j + 1 and k
        stays = others & (np.maximum(low, steps[j]) < np.minimum(high + 1, steps[j + 1]))
        if j == 0 or 2 * most + int(stays.sum()) >= 2 * beyond[0]:
            return True
    return False
