"""Benchmarks that are made of the outcome: a mean, or another weighted sum, of columns among which the outcome stands.

The average of a leaderboard predicts each of its parts, because it holds it. Such a column is found by its numbers,
whatever it is called: over the models that have every column, it is a sum of other columns with weights of 0 or more
(and a constant), exactly but for the digits that were rounded away, and without the outcome no such sum comes as near.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from veridical.stats.units import Bools, Floats

LEAST = 0.02
"""Share of the sum's spread from which a part counts. This and the numbers below are Veridical's choice."""
_WITHIN = 0.95
"""Share of models whose value a sum must meet, as leaderboards correct single cells."""
_COARSE = 0.1
"""A column that is rounded more coarsely than this share of its spread cannot be distinguished from a sum."""
_COMPLETE = 0.5
"""A column counts as a possible part where at least so many of the models have it."""
_TWIN = 0.99
"""Columns that correlate by more are one in two units."""
_FAR = 3.0
"""Without the outcome, the errors of the best sum must be this many times as large."""


@dataclass(frozen=True)
class Composite:
    """A column that is a weighted sum of others, the outcome among them. `parts` are named, largest weight first."""

    column: str
    outcome: str
    parts: tuple[str, ...]
    mean: bool
    """Whether the weights are equal."""

    @property
    def message(self) -> str:
        """What the column is, in words."""
        if self.parts == (self.outcome,):
            return f"{self.column} is {self.outcome} in another unit"
        named = ", ".join(self.parts[:8]) + (f" and {len(self.parts) - 8} more" if len(self.parts) > 8 else "")
        return (
            f"{self.column} is {'the mean' if self.mean else 'a weighted sum'} of {named}, so it holds {self.outcome}"
        )


def composites(
    columns: Mapping[str, Floats], halves: Mapping[str, float], predictors: Sequence[str], outcomes: Sequence[str]
) -> list[Composite]:
    """The predictors that are made of an outcome.

    Arguments:
        columns: every column of numbers by name, shape (models,), NaN where a cell is missing.
        halves: half a unit of the last digit that is written, by column.
        predictors: the columns that may be made of others.
        outcomes: the columns that none of them may be made of.
    """
    found = []
    for name in predictors:
        others = [other for other in columns if other != name]
        fit = _fit(name, others, columns, halves)
        if fit is None:
            continue
        for outcome in outcomes:
            if outcome in fit.parts and _needed(name, outcome, fit, columns, halves):
                equal = max(fit.parts.values()) <= 1.2 * min(fit.parts.values())
                found.append(Composite(name, outcome, tuple(fit.parts), equal))
    return found


@dataclass(frozen=True)
class _Fit:
    names: tuple[str, ...]
    parts: Mapping[str, float]
    """The weights of the columns that count, largest share of the spread first."""
    error: float
    rows: Bools


def _needed(name: str, outcome: str, fit: _Fit, columns: Mapping[str, Floats], halves: Mapping[str, float]) -> bool:
    """Whether no sum without the outcome, and without what is the outcome in another unit, comes as near."""
    there = fit.rows
    copies = {
        other for other in fit.names if abs(_correlation(columns[other][there], columns[outcome][there])) > 1 - 1e-6
    }
    rest = [other for other in fit.names if other not in copies and other != outcome]
    without = _solved(columns[name][there], [columns[other][there] for other in rest])
    return without is None or without[1] > _FAR * max(fit.error, halves[name] / 4)


def _fit(name: str, others: Sequence[str], columns: Mapping[str, Floats], halves: Mapping[str, float]) -> _Fit | None:
    """The nearest sum, where it meets the column but for rounding."""
    target = columns[name]
    known = np.isfinite(target)
    whole = [other for other in others if np.isfinite(columns[other][known]).mean() >= _COMPLETE] if known.any() else []
    # Columns with few gaps first: each must leave models enough to fit.
    rows, names = known.copy(), []
    for other in sorted(whole, key=lambda other: -np.isfinite(columns[other][known]).sum()):
        left = rows & np.isfinite(columns[other])
        if left.sum() >= max(8, _COMPLETE * known.sum()) and np.ptp(columns[other][left]) > 0:
            rows = left
            names.append(other)
    if not names or rows.sum() < 8:
        return None
    spread = float(np.std(target[rows]))
    solved = _solved(target[rows], [columns[other][rows] for other in names])
    if spread == 0 or solved is None:
        return None
    weights, error, residuals = solved
    tolerance = 1.5 * (halves[name] + float(weights @ [halves[other] for other in names])) + 1e-6 * spread
    support = int((weights > 0).sum())
    if tolerance > _COARSE * spread or rows.sum() < support + 3:
        return None
    if (np.abs(residuals) <= tolerance).mean() < _WITHIN:
        return None
    carried = weights * [float(np.std(columns[other][rows])) for other in names]
    if not support:
        return None
    parts = _parts([columns[other][rows] for other in names], weights, carried / carried.sum())
    return _Fit(tuple(names), {names[place]: float(weights[place]) for place in parts}, error, rows)


def _parts(values: Sequence[Floats], weights: Floats, shares: Floats) -> list[int]:
    """The places of columns that carry a share of the spread, and of those of little spread with the same weight.

    A column that is another in a coarser unit takes some of its weight, and is not a part of its own.
    """
    order = [int(place) for place in np.argsort(-shares, kind="stable")]
    parts = [place for place in order if shares[place] >= LEAST]
    usual = float(np.median(weights[parts]))
    for place in order[len(parts) :]:
        same_weight = 0.5 * usual <= weights[place] <= 2 * usual
        if same_weight and not any(abs(_correlation(values[place], values[part])) > _TWIN for part in parts):
            parts.append(place)
    return parts


def _solved(target: Floats, parts: Sequence[Floats]) -> tuple[Floats, float, Floats] | None:
    """Weights of 0 or more of the parts, with a constant: those weights, the root mean square error, the residuals."""
    if not parts:
        return None
    matrix = np.column_stack(parts)
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


def _correlation(one: Floats, other: Floats) -> float:
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
