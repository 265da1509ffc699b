"""Partial correlation by residuals, and its permutation null after Freedman and Lane."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy import stats

from veridical.stats.units import Floats, Ints

_CELLS = 2_000_000
"""Permutations are made in blocks of about this many residuals: 16 MB."""
_ZERO = 1e-10
"""A direction is held to be no direction where it is this much shorter than the longest."""


def column_space(covariates: Floats) -> Floats:
    """An orthonormal basis (rows, rank) of the constant and the columns of `covariates` (rows, columns).

    Columns that add no direction take none, so that the number of controls is rank - 1.
    """
    design = np.column_stack([np.ones(len(covariates)), covariates])
    norms = np.linalg.norm(design, axis=0)
    left, singular, _ = np.linalg.svd(design / np.where(norms > 0, norms, 1.0), full_matrices=False)
    basis: Floats = left[:, singular > _ZERO * singular[0]]
    return basis


def residuals(values: Floats, basis: Floats) -> Floats:
    """What is left of columns (rows, columns) or (rows,) after regression on a basis of `column_space`.

    A column that the basis explains altogether has a residual of exactly 0.
    """
    left: Floats = values - basis @ (basis.T @ values)
    spread = np.linalg.norm(values - values.mean(axis=0), axis=0)
    varies = spread > 1e-12 * np.linalg.norm(values, axis=0)
    return np.where(varies & (np.linalg.norm(left, axis=0) > 1e-9 * spread), left, 0.0)


def correlations(x: Floats, y: Floats) -> Floats:
    """Correlations of residuals: of each column of `x` (rows, columns) with `y` (rows,); NaN where one is 0."""
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Floats = (y @ x) / (np.linalg.norm(x, axis=0) * np.linalg.norm(y))
    return np.clip(r, -1.0, 1.0)


def degrees_of_freedom(n: int, n_controls: int) -> int:
    """n - 2 - k: each control costs one more than a plain correlation's n - 2."""
    return n - 2 - n_controls


def student_p(r: float, df: int) -> float | None:
    """Two-sided p of a (partial) correlation by Student's t on `df` degrees of freedom; None for df below 1."""
    if df < 1:
        return None
    if abs(r) >= 1:
        return 0.0
    return float(2 * stats.t.sf(abs(r) * sqrt(df / (1 - r * r)), df))


def permutations(n: int, draws: int, rng: np.random.Generator) -> Ints:
    """Random orders of n rows, shape (draws, n)."""
    orders: Ints = rng.permuted(np.broadcast_to(np.arange(n), (draws, n)), axis=1)
    return orders


def freedman_lane(x: Floats, y: Floats, basis: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """The null of partial correlations, shape (draws, y columns, x columns).

    `x` (rows, columns) and `y` (rows, columns) are residuals on `basis`. Each draw permutes the residuals of y, adds
    them to what the covariates predict, and regresses on the covariates again (Freedman & Lane 1983, Journal of
    Business & Economic Statistics 1:292-298). What the covariates predict drops out of the second regression, so that
    a draw costs one product of the permuted residuals with x and the basis, the same for every column of x.
    """
    n, n_x = x.shape
    targets = np.column_stack([x, basis])
    x_norms = np.linalg.norm(x, axis=0)
    null = np.empty((draws, y.shape[1], n_x))
    block = max(1, _CELLS // max(n, 1))
    for start in range(0, draws, block):
        stop = min(start + block, draws)
        orders = permutations(n, stop - start, rng)
        for column in range(y.shape[1]):
            products = y[:, column][orders] @ targets
            left = y[:, column] @ y[:, column] - (products[:, n_x:] ** 2).sum(axis=1)
            scale = np.sqrt(np.maximum(left, 0.0))[:, None] * x_norms
            with np.errstate(invalid="ignore", divide="ignore"):
                null[start:stop, column] = np.where(scale > 0, products[:, :n_x] / scale, 0.0)
    return null
