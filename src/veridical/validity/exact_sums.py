"""Whether one column of numbers is a sum of others exactly, but for the digits that were rounded away.

Chance decides what is exact and what only close: with so many sums tried, columns that are explained all but a tenth
of their spread would have met none so nearly in so many models. This needs no model of how columns relate.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log, pi, sqrt

import numpy as np
from scipy.optimize import nnls

from veridical.stats.units import Bools, Floats

LEAST_MODELS = 6
"""Models that a sum must meet. This and the numbers below are Veridical's choice."""
WITHIN = 0.95
"""Share of models whose value a sum must meet, as leaderboards correct single cells."""
_COARSE = 0.1
"""A column that is rounded more coarsely than this share of its spread cannot be distinguished from a sum."""
_UNEXPLAINED = 0.1
"""What an unrelated sum is granted to leave unexplained, as a share of the spread: a correlation of .995."""
_CHANCE = 1e-3
"""How often an unrelated sum may come as near."""


@dataclass(frozen=True)
class Sum:
    """Weights of columns (and a constant) that give a column, over the models `rows`."""

    names: tuple[str, ...]
    weights: Floats
    rows: Bools
    error: float
    """Root mean square error of the sum."""


def is_exact(residuals: Floats, tolerance: float, spread: float, free: int, tried: int) -> bool:
    """Whether residuals, shape (models,), are those of an exact sum.

    `tolerance` is what rounding may have changed, `free` the number of fitted weights with the constant, `tried` the
    number of sums that were tried.
    """
    tolerance += 1e-9 * spread
    n = len(residuals)
    if n < LEAST_MODELS or spread <= 0 or tolerance > _COARSE * spread:
        return False
    met = int((np.abs(residuals) <= tolerance).sum())
    if met < WITHIN * n:
        return False
    by_chance = min(1.0, 2 * tolerance / (sqrt(2 * pi) * _UNEXPLAINED * spread))
    # Models beyond the fitted weights, and which of them do not meet the sum.
    left = met - free
    return left > 0 and left * log(by_chance) + log(comb(n, met)) + log(tried) < log(_CHANCE)


def same_but_for_unit(one: Floats, other: Floats, half: float, other_half: float) -> float:
    """The factor by which `one` is `other` (with a constant), negative where it is turned round; 0 where it is not."""
    rows = np.isfinite(one) & np.isfinite(other)
    if rows.sum() < LEAST_MODELS or rows.sum() < 0.5 * np.isfinite(one).sum():
        return 0.0
    x, y = other[rows], one[rows]
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        return 0.0
    factor = float(np.cov(x, y, bias=True)[0, 1] / np.var(x))
    residuals = y - factor * x
    residuals = residuals - np.median(residuals)
    exactly = np.abs(residuals).max() <= 1e-7 * np.ptp(y) and len(np.unique(x)) > 3
    tolerance = 1.5 * (half + abs(factor) * other_half)
    return factor if exactly or is_exact(residuals, tolerance, float(np.std(y)), 2, 1) else 0.0


def sum_of(
    name: str,
    parts: Sequence[str],
    columns: dict[str, Floats],
    halves: dict[str, float],
    *,
    turned: Sequence[str] = (),
    sign: int = 1,
) -> Sum | None:
    """The sum of parts that gives a column, each with a weight of 0 or more (of 0 or less for the parts `turned`).

    With `sign` -1 it is the column's negative that is the sum. None where there is no exact one.
    """
    rows, names = _complete(columns[name], parts, columns, turned)
    if not names:
        return None
    target = sign * columns[name][rows]
    signs = np.array([-1.0 if part in turned else 1.0 for part in names])
    matrix = np.column_stack([columns[part][rows] for part in names]) * signs
    if not _may_be_exact(target, matrix, halves[name]):
        return None
    solved = _solved(target, matrix)
    if solved is None:
        return None
    weights, error, residuals = solved
    support = int((weights > 0).sum())
    rounding = halves[name] + float(weights @ [halves[part] for part in names])
    # A column whose parts have many gaps is held to fewer models.
    free, tried = support + 1, comb(len(names), support)
    spread = float(np.std(target))
    if not support or not is_exact(residuals, 1.5 * rounding + 1e-6 * spread, spread, free, tried):
        return None
    return Sum(tuple(names), sign * signs * weights, rows, error)


def _complete(
    target: Floats, parts: Sequence[str], columns: dict[str, Floats], first: Sequence[str]
) -> tuple[Bools, list[str]]:
    """The models that have all parts, and those parts: columns with few gaps first, each leaving models enough."""
    known = np.isfinite(target)
    if not known.any():
        return known, []
    gaps = {part: -int(np.isfinite(columns[part][known]).sum()) for part in parts}
    rows, names = known.copy(), []
    for part in sorted(parts, key=lambda part: (part not in first, gaps[part])):
        left = rows & np.isfinite(columns[part])
        if left.sum() >= max(LEAST_MODELS, 0.5 * known.sum()) and np.ptp(columns[part][left]) > 0:
            rows = left
            names.append(part)
    return rows, names


def _may_be_exact(target: Floats, matrix: Floats, half: float) -> bool:
    """Whether any weights at all come near: a quick look where models are many and parts few."""
    n, p = matrix.shape
    if n <= p + 2 or np.ptp(target) == 0:
        return bool(np.ptp(target) > 0)
    centred = matrix - matrix.mean(axis=0)
    centred /= centred.std(axis=0)
    wanted = target - target.mean()
    weights = np.linalg.lstsq(centred, wanted, rcond=None)[0]
    off = np.abs(wanted - centred @ weights)
    return float(np.median(off)) <= _COARSE * float(np.std(wanted)) + half


def _solved(target: Floats, matrix: Floats) -> tuple[Floats, float, Floats] | None:
    """Weights of 0 or more, with a constant: those weights, the root mean square error, the residuals."""
    centred = matrix - matrix.mean(axis=0)
    scale = centred.std(axis=0)
    scale[scale == 0] = 1.0
    try:
        weights, _ = nnls(centred / scale, target - target.mean())
    except RuntimeError:  # no solution within its iterations
        return None
    residuals: Floats = target - target.mean() - (centred / scale) @ weights
    residuals = residuals - float(np.median(residuals))
    return weights / scale, float(np.sqrt(np.mean(residuals**2))), residuals


def error_of(target: Floats, parts: Sequence[Floats]) -> float | None:
    """The root mean square error of the best sum of parts with weights of 0 or more; None without parts."""
    solved = _solved(target, np.column_stack(parts)) if parts else None
    return None if solved is None else solved[1]


def with_one_other(
    name: str, outcome: str, others: Sequence[str], columns: dict[str, Floats], halves: dict[str, float]
) -> list[tuple[str, float, float]]:
    """Every other column with which an outcome gives a column exactly: its name, its weight and the outcome's."""
    b, y = columns[name], columns[outcome]
    here = np.isfinite(b) & np.isfinite(y)
    if here.sum() < LEAST_MODELS or not others or np.ptp(b[here]) == 0 or np.ptp(y[here]) == 0:
        return []
    matrix = np.column_stack([columns[other] for other in others])[here]
    b, y = b[here], y[here]
    half = np.array([halves[other] for other in others])
    near = _nearly_given(b, y, matrix, halves[name], halves[outcome], half)
    found = []
    for place in np.flatnonzero(near):
        c = matrix[:, place]
        rows = np.isfinite(c)
        if rows.sum() < max(LEAST_MODELS, 0.5 * len(b)) or np.ptp(c[rows]) == 0 or np.ptp(y[rows]) == 0:
            continue
        design = np.column_stack([c[rows], y[rows]])
        design = design - design.mean(axis=0)
        weights, _, rank, _ = np.linalg.lstsq(design, b[rows] - b[rows].mean(), rcond=1e-6)
        spread = float(np.std(b[rows]))
        carried = np.abs(weights) * design.std(axis=0)
        if rank < 2 or carried.min() < 0.02 * spread:
            continue
        residuals = b[rows] - b[rows].mean() - design @ weights
        residuals = residuals - np.median(residuals)
        other = others[int(place)]
        rounding = halves[name] + abs(weights[0]) * halves[other] + abs(weights[1]) * halves[outcome]
        if is_exact(residuals, 1.5 * rounding, spread, 3, len(others)):
            found.append((other, float(weights[0]), float(weights[1])))
    return found


def _nearly_given(b: Floats, y: Floats, matrix: Floats, half: float, half_y: float, halves: Floats) -> Bools:
    """Which columns may give b with y, over the models that have all three; the others need no closer look."""
    there = np.isfinite(matrix)
    n = np.maximum(there.sum(axis=0), 1)
    c = np.where(there, matrix, 0.0)
    c = np.where(there, c - c.sum(axis=0) / n, 0.0)
    b, y = (np.where(there, one[:, None] - (one @ there) / n, 0.0) for one in (b - b.mean(), y - y.mean()))
    bb, yy, cc, by, bc, yc = (np.einsum("ij,ij->j", *pair) for pair in ((b, b), (y, y), (c, c), (b, y), (b, c), (y, c)))
    determinant = yy * cc - yc**2
    with np.errstate(divide="ignore", invalid="ignore"):
        weight, weight_y = (bc * yy - by * yc) / determinant, (by * cc - bc * yc) / determinant
        unexplained = np.maximum(1 - (weight * bc + weight_y * by) / bb, 0.0)
        spread = np.sqrt(bb / n)
        tolerance = 1.5 * (half + np.abs(weight) * halves + np.abs(weight_y) * half_y)
        # Of fewer than 20 models none may miss the sum.
        exact = np.sqrt(unexplained) * spread <= np.where(n < 20, tolerance, np.inf) + 1e-5 * spread
    return np.asarray((determinant > 1e-9 * yy * cc) & (unexplained < 0.02) & exact & (tolerance <= _COARSE * spread))


def mean_of_neighbours(
    name: str, outcome: str, order: Sequence[str], columns: dict[str, Floats], halves: dict[str, float]
) -> tuple[str, ...]:
    """The neighbours in the table, the outcome among them, of which a column is the mean (or the sum); else ().

    It needs no fitted weights, and so few models: averages of as many columns as there are models are found too. Means
    over the scores that a model has count as well.
    """
    b = columns[name]
    names = [one for one in order if one != name]
    there = np.isfinite(b)
    if there.sum() < LEAST_MODELS or np.ptp(b[there]) == 0:
        return ()
    matrix = np.column_stack([columns[one] for one in names])[there]
    b, spread = b[there], float(np.std(b[there]))
    counts = np.cumsum(np.pad(np.isfinite(matrix), ((0, 0), (1, 0))), axis=1)
    totals = np.cumsum(np.pad(np.nan_to_num(matrix), ((0, 0), (1, 0))), axis=1)
    half = halves[name] + max(halves[one] for one in names)
    place, p = names.index(outcome), len(names)
    for first in range(place + 1):
        last = np.arange(max(place, first + 1), p) + 1
        n = counts[:, last] - counts[:, [first]]
        total = totals[:, last] - totals[:, [first]]
        with np.errstate(divide="ignore", invalid="ignore"):
            shown = total / n
        for value, width in ((shown, np.ones(len(last))), (total, last - first)):
            off = np.abs(b[:, None] - value)
            near = np.flatnonzero((off <= 1.5 * half * width).mean(axis=0) >= WITHIN)
            for at in near:
                rows = np.isfinite(off[:, at])
                if is_exact(off[rows, at], 1.5 * half * float(width[at]), spread, 0, p * p):
                    return tuple(names[first : last[at]])
    return ()
