"""The null of a benchmark's gain: leave-one-family-out ridge done again for every permutation, from family totals.

The baseline z (rows, q) and the outcomes stay as they are; the benchmark x is what its regression on the baseline
predicts, plus its residual permuted within families. In the eigenbasis of the baseline's correlations, the baseline's
part of every ridge is diagonal, so that the benchmark's coefficient follows by elimination:

    beta = (g - sum h b / (lambda + a)) / (n + a - sum h^2 / (lambda + a))

with x standardised, h and b the products of the baseline's eigenfeatures with x and y, g that of x and y, and a the
penalty. g, h and the validation errors are sums over families, so rows are needed for the held-out errors alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from veridical.stats.ridge import PENALTIES, folds_of_groups, last_least
from veridical.stats.units import Floats, Ints

_CELLS = 1_000_000
_ERRORS = 60_000
"""Draws are made in blocks of at most so many cells, of rows and of errors by outcome and penalty: cache-sized."""
ALPHAS = np.array(PENALTIES)


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over some families. `fixed` (q+1+o, q+1+o) holds products of (1, z, y); `x` (draws, q+1+o) products of x
    with them, `xx` (draws,) of x with itself."""

    fixed: Floats
    x: Floats
    xx: Floats

    def __sub__(self, other: Totals) -> Totals:
        return Totals(self.fixed - other.fixed, self.x - other.x, self.xx - other.xx)

    def __add__(self, other: Totals) -> Totals:
        return Totals(self.fixed + other.fixed, self.x + other.x, self.xx + other.xx)


class Fit:
    """Ridge on (z, x) for every draw, outcome and penalty, from the totals of its training families."""

    def __init__(self, totals: Totals, q: int) -> None:
        fixed, n = totals.fixed, totals.fixed[0, 0]
        self.q, self.n = q, n
        mean = fixed[0] / n
        self.z_mean, self.y_mean = mean[1 : q + 1], mean[q + 1 :]
        centred = fixed - n * np.outer(mean, mean)
        deviation = np.sqrt(np.maximum(np.diag(centred)[1 : q + 1], 0) / n)
        # A constant column's variance is rounding alone.
        flat = deviation <= 1e-9 * np.maximum(np.abs(self.z_mean), 1e-300)
        self.z_scale = np.where(flat, 1.0, deviation)
        self.values, vectors = np.linalg.eigh(centred[1 : q + 1, 1 : q + 1] / np.outer(self.z_scale, self.z_scale))
        self.turn = vectors / self.z_scale[:, None]
        self.inverse = 1 / (self.values[:, None] + ALPHAS)
        self.b = self.turn.T @ centred[1 : q + 1, q + 1 :]
        self.x_mean = totals.x[:, 0] / n
        variance = np.maximum(totals.xx - n * self.x_mean**2, 0) / n
        self.x_scale = np.sqrt(np.where(variance > 1e-18 * np.maximum(totals.xx / n, 1e-300), variance, 1.0))
        products = (totals.x - n * self.x_mean[:, None] * mean) / self.x_scale[:, None]
        self.h = products[:, 1 : q + 1] @ self.turn
        self.left = (variance * n / self.x_scale**2)[:, None] + ALPHAS - self.h**2 @ self.inverse
        self.g = products[:, q + 1 :]

    def beta(self) -> Floats:
        """The coefficient of standardised x, shape (draws, outcomes, penalties)."""
        alone = np.einsum("qo,ql->qol", self.b, self.inverse)
        # One product for all outcomes: g of its own outcome, less h against what the baseline explains.
        weights = np.concatenate([self.own, -alone.reshape(self.q, -1)])
        beta: Floats = np.column_stack([self.g, self.h]) @ weights
        beta = beta.reshape(len(self.h), -1, len(ALPHAS))
        beta *= (1 / self.left)[:, None, :]
        return beta

    @property
    def own(self) -> Floats:
        """Ones that spread each outcome's column over its penalties, (outcomes, outcomes * penalties)."""
        return np.repeat(np.eye(self.g.shape[1]), len(ALPHAS), axis=1)

    def errors(self, other: Totals) -> Floats:
        """The squared error summed over the rows in `other`, shape (draws, outcomes, penalties)."""
        q = self.q
        m, n, z_sum = other.fixed, other.fixed[0, 0], other.fixed[0, 1 : q + 1]
        y_sum = m[0, q + 1 :]
        # Products of what is centred and scaled by the training families.
        szz = m[1 : q + 1, 1 : q + 1] - np.outer(self.z_mean, z_sum) - np.outer(z_sum, self.z_mean)
        szz = self.turn.T @ (szz + n * np.outer(self.z_mean, self.z_mean)) @ self.turn
        szy = m[1 : q + 1, q + 1 :] - np.outer(self.z_mean, y_sum) - np.outer(z_sum, self.y_mean)
        szy = self.turn.T @ (szy + n * np.outer(self.z_mean, self.y_mean))
        syy = np.diag(m)[q + 1 :] - 2 * self.y_mean * y_sum + n * self.y_mean**2
        x_sum = other.x[:, 0] - n * self.x_mean
        shifted = other.x - self.x_mean[:, None] * m[0]
        uz = ((shifted[:, 1 : q + 1] - x_sum[:, None] * self.z_mean) / self.x_scale[:, None]) @ self.turn
        uy = (shifted[:, q + 1 :] - x_sum[:, None] * self.y_mean) / self.x_scale[:, None]
        uu = (other.xx - 2 * self.x_mean * other.x[:, 0] + n * self.x_mean**2) / self.x_scale**2
        first, second = np.triu_indices(q)
        twice = np.where(first == second, 1.0, 2.0)
        pairs = (twice * szz[first, second])[:, None] * self.inverse[first] * self.inverse[second]
        quadratic = np.column_stack([uu, uz * self.h, self.h[:, first] * self.h[:, second]])
        quadratic = quadratic @ np.concatenate([np.ones((1, len(ALPHAS))), -2 * self.inverse, pairs])
        alone = np.einsum("qo,ql->qol", self.b, self.inverse)
        explained = np.einsum("qr,rol->qol", szz, alone)
        without = syy[:, None] + ((explained - 2 * szy[:, :, None]) * alone).sum(axis=0)
        rest = (szy[:, :, None] - explained) * self.inverse[:, None, :]
        weights = np.concatenate([-2 * self.own, 2 * alone.reshape(q, -1), 2 * rest.reshape(q, -1)])
        crossed = (np.column_stack([uy, uz, self.h]) @ weights).reshape(len(uu), -1, len(ALPHAS))
        beta = self.beta()
        found: Floats = beta * quadratic[:, None, :]
        found += crossed
        found *= beta
        found += without
        return found

    def coefficients(self, penalties: Ints) -> tuple[Floats, Floats]:
        """Of (1, z), shape (draws, outcomes, 1+q), and of x, (draws, outcomes), for features about the overall means.

        `penalties` (draws, outcomes) are places among the penalties.
        """
        beta = np.take_along_axis(self.beta(), penalties[:, :, None], axis=2)[:, :, 0]
        inverse = self.inverse.T[penalties]
        z = ((self.b.T - self.h[:, None] * beta[:, :, None]) * inverse) @ self.turn.T
        x = beta / self.x_scale[:, None]
        intercept = self.y_mean - z @ self.z_mean - x * self.x_mean[:, None]
        return np.concatenate([intercept[:, :, None], z], axis=2), x


def permuted_errors(
    z: Floats, x: Floats, y: Floats, families: Ints, rng: np.random.Generator, draws: int
) -> tuple[Floats, Floats]:
    """Held-out absolute and squared errors summed over rows, both (draws + 1, outcomes); the first is as observed.

    `z` (rows, q), `x` (rows,), `y` (rows, outcomes); `families` are codes 0 … F-1. A family with one row stays fixed.
    The penalty is chosen anew, inside the training families, for every draw (`veridical.stats.ridge`).
    """
    order = np.argsort(families, kind="stable")
    # Sums of squares lose no digits to a mean that is far from 0; errors do not depend on it.
    z, x, y, families = (z - z.mean(axis=0))[order], (x - x.mean())[order], (y - y.mean(axis=0))[order], families[order]
    bounds = np.searchsorted(families, np.arange(int(families[-1]) + 2))
    rows = [slice(int(a), int(b)) for a, b in pairwise(bounds)]
    design = np.column_stack([np.ones(len(x)), z])
    predicted = design @ np.linalg.lstsq(design, x, rcond=None)[0]
    left = x - predicted
    absolute, squared = np.zeros((draws + 1, y.shape[1])), np.zeros((draws + 1, y.shape[1]))
    block = max(1, min(_CELLS // len(x), _ERRORS // (y.shape[1] * len(ALPHAS))))
    folds = folds_of_groups(families)
    for start in range(0, draws + 1, block):
        stop = min(start + block, draws + 1)
        tiled = np.repeat(left[None], stop - start, axis=0)
        for family in rows:
            if family.stop - family.start > 1:
                tiled[:, family] = rng.permuted(tiled[:, family], axis=1)
        if start == 0:
            tiled[0] = left
        tiled += predicted
        absolute[start:stop], squared[start:stop] = _held_out(design, tiled, y, rows, folds)
    return absolute, squared


def _held_out(design: Floats, x: Floats, y: Floats, rows: list[slice], folds: Ints) -> tuple[Floats, Floats]:
    """The errors of one block of draws: `x` (draws, rows), sorted by family."""
    fixed = np.column_stack([design, y])
    families = [
        Totals(fixed[at].T @ fixed[at], x[:, at] @ fixed[at], np.einsum("ij,ij->i", x[:, at], x[:, at])) for at in rows
    ]
    q = design.shape[1] - 1
    everything = _sum(families)
    of_fold = {int(k): _sum([families[f] for f in np.flatnonzero(folds == k)]) for k in np.unique(folds)}
    absolute, squared = np.zeros((len(x), y.shape[1])), np.zeros((len(x), y.shape[1]))
    parts = [np.ascontiguousarray(np.column_stack([design, column]).T) for column in y.T]
    for out, at in enumerate(rows):
        training = everything - families[out]
        errors = np.zeros((len(x), y.shape[1], len(ALPHAS)))
        for fold, totals in of_fold.items():
            if fold == folds[out]:
                if (folds == fold).sum() == 1:
                    continue
                totals = totals - families[out]
            errors += Fit(training - totals, q).errors(totals)
        of_design, of_x = Fit(training, q).coefficients(last_least(errors))
        own = x[:, at]
        wrong, part = np.empty_like(own), np.empty_like(own)
        for outcome in range(y.shape[1]):
            np.matmul(np.column_stack([of_design[:, outcome], np.full(len(x), -1.0)]), parts[outcome][:, at], out=wrong)
            wrong += np.multiply(own, of_x[:, outcome, None], out=part)
            squared[:, outcome] += np.einsum("ij,ij->i", wrong, wrong)
            absolute[:, outcome] += np.abs(wrong, out=wrong).sum(axis=1)
    return absolute, squared


def _sum(parts: list[Totals]) -> Totals:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
