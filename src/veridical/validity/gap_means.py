"""Which columns another one is the mean of, where models lack some of the scores.

A leaderboard averages what a model was scored on, so no sum with the same weights for all models gives its average, and
in a wide table hardly a model has every score. But the mean b of the columns S, each model's over those it has, is

    sum over j in S of (x_ij - b_i) = 0        for every model i, absent scores left out,

which is linear in the weights. Non-negative weights that sum to 1 are found by least squares over all models; equal
ones are kept, columns are then put in or taken out one at a time while the mean comes nearer, and the mean of the
columns that remain must meet the column but for rounding: it has no fitted weights, and as many sums count as tried as
there are sets of columns of that size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import comb

import numpy as np
from scipy.optimize import nnls

from veridical.stats.units import Bools, Floats
from veridical.validity.exact_sums import LEAST_MODELS, is_exact

_MOST_CHANGES = 60
"""Columns put in or taken out. Veridical's choice, as is the next."""
_FAR = 3.0
"""Without a part, the errors of the mean must be this many times as large."""


def mean_over_gaps(
    name: str, parts: Sequence[str], columns: Mapping[str, Floats], halves: Mapping[str, float]
) -> tuple[str, ...]:
    """The parts of which a column is the mean over the scores that a model has; () where it is the mean of none.

    Arguments:
        name: the column.
        parts: the columns that it may be a mean of.
        columns: values by name, shape (models,), NaN where a cell is missing.
        halves: half a unit of the last digit that is written, by column.
    """
    known = np.isfinite(columns[name])
    target = columns[name][known]
    if len(target) < LEAST_MODELS or np.ptp(target) == 0:
        return ()
    names = [part for part in parts if np.isfinite(columns[part][known]).sum() >= LEAST_MODELS]
    if len(names) < 2:
        return ()
    values = np.column_stack([columns[part][known] for part in names])
    there = np.isfinite(values).astype(float)
    off = np.where(there > 0, values - target[:, None], 0.0)
    # Least squares need about as many models as there are columns; of most of the columns the mean is near without.
    starts = (_equal_weights(off), np.ones(len(names), bool))
    chosen = min((_nearest(off, there, start) for start in starts), key=lambda one: _size(_errors(off, there, one)[0]))
    k = int(chosen.sum())
    errors, rows = _errors(off, there, chosen)
    if k < 2:
        return ()
    half = halves[name] + max(halves[part] for part, taken in zip(names, chosen, strict=True) if taken)
    if rows.sum() < max(LEAST_MODELS, 0.5 * len(target)):
        return ()
    if not is_exact(errors[rows], 1.5 * half, float(np.std(target)), 0, comb(len(names), k)):
        return ()
    least = _FAR * max(_size(errors[rows]), halves[name] / 4)
    return tuple(
        names[place] for place in map(int, np.flatnonzero(chosen)) if _without(off, there, chosen, place) > least
    )


def _equal_weights(off: Floats) -> Bools:
    """The columns whose weights are alike, of weights of 0 or more that make the sum of `off` least; none where there
    are no such weights."""
    n, p = off.shape
    one = float(np.median(np.linalg.norm(off, axis=0))) or 1.0
    try:
        weights, _ = nnls(np.vstack([off, np.full((1, p), one)]), np.append(np.zeros(n), one))
    except RuntimeError:  # no solution within its iterations
        return np.zeros(p, bool)
    falling = np.sort(weights)[::-1]
    usual = falling[int(np.searchsorted(np.cumsum(falling), falling.sum() / 2))]
    return np.asarray(weights > 0.5 * usual)


def _nearest(off: Floats, there: Floats, chosen: Bools) -> Bools:
    """The columns after those changes, one at a time, that bring their mean nearest."""
    chosen = chosen.copy()
    for _ in range(_MOST_CHANGES):
        sign = np.where(chosen, -1, 1)
        totals = (off @ chosen)[:, None] + sign * off
        counts = (there @ chosen)[:, None] + sign * there
        sizes = _sizes(totals, counts)
        best = int(np.argmin(sizes))
        if sizes[best] >= 0.999 * _size(_errors(off, there, chosen)[0]):
            break
        chosen[best] = not chosen[best]
    return chosen


def _errors(off: Floats, there: Floats, chosen: Bools) -> tuple[Floats, Bools]:
    """How far the mean is off for each model, and which models have one (the others: 0)."""
    counts = there @ chosen
    return (off @ chosen) / np.maximum(counts, 1), counts > 0


def _sizes(totals: Floats, counts: Floats) -> Floats:
    """Root mean square errors of means, over the models that have one; infinite where half have none."""
    rows = counts > 0
    n = rows.sum(axis=0)
    squares = np.where(rows, totals / np.maximum(counts, 1), 0.0) ** 2
    found: Floats = np.where(n >= 0.5 * len(rows), np.sqrt(squares.sum(axis=0) / np.maximum(n, 1)), np.inf)
    return found


def _size(errors: Floats) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def _without(off: Floats, there: Floats, chosen: Bools, place: int) -> float:
    """The size of the errors without one of the columns, over the models that have it and another."""
    rest = chosen.copy()
    rest[place] = False
    errors, rows = _errors(off, there, rest)
    here = rows & (there[:, place] > 0)
    return _size(errors[here]) if here.any() else np.inf
