"""The null of a benchmark's gain: leave-one-family-out ridge done again for every permutation, from family totals.

The baseline z (rows, q) and the outcomes stay as they are; the benchmark x is what its regression on the baseline
predicts, plus its residual permuted within families. In the eigenbasis of the baseline's correlations, the baseline's
part of every ridge is diagonal, so that the benchmark's coefficient follows by elimination:

    beta = (g - sum h b / (lambda + a)) / (n + a - sum h^2 / (lambda + a))

with x standardised, h and b the products of the baseline's eigenfeatures with x and y, g that of x and y, and a the
penalty. g, h and the validation errors are sums over families, so rows are needed for the held-out errors alone.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    """Sums over some families that change with the draw: `x` (draws, 1+q+o) products of x with (1, z, y), `xx` (draws,)
    of x with itself."""

    x: Floats
    xx: Floats

    def __sub__(self, other: Totals) -> Totals:
        return Totals(self.x - other.x, self.xx - other.xx)


class Fixed:
    """What ridge on (z, x) has of the training families whatever x is, from their products of (1, z, y)."""

    def __init__(self, products: Floats, q: int) -> None:
        self.q, self.n = q, float(products[0, 0])
        self.mean = products[0] / self.n
        centred = products - self.n * np.outer(self.mean, self.mean)
        variance = np.maximum(np.diag(centred)[1 : q + 1], 0) / self.n
        # A constant column's variance is rounding alone.
        varies = variance > 1e-14 * np.diag(products)[1 : q + 1] / self.n
        scale = np.sqrt(np.where(varies, variance, 1.0))
        values, vectors = np.linalg.eigh(centred[1 : q + 1, 1 : q + 1] / np.outer(scale, scale))
        self.turn = vectors / scale[:, None]
        self.inverse = 1 / (np.maximum(values, 0.0)[:, None] + ALPHAS)
        self.b = self.turn.T @ centred[1 : q + 1, q + 1 :]
        self.alone = np.einsum("qo,ql->qol", self.b, self.inverse)
        # Ones spread each outcome's column over its penalties, so that one product serves all outcomes.
        self.spread = np.repeat(np.eye(self.b.shape[1]), len(ALPHAS), axis=1)
        self.of_beta = np.concatenate([self.spread, -self.alone.reshape(q, -1)])


class Validated:
    """What squared errors on some families have, whatever x is, for a fit on others."""

    def __init__(self, fixed: Fixed, products: Floats) -> None:
        q, n = fixed.q, products[0, 0]
        mean, sums = fixed.mean, products[0]
        # Products of what is centred by the training families' means.
        centred = products - np.outer(mean, sums) - np.outer(sums, mean) + n * np.outer(mean, mean)
        self.n, self.sums = float(n), sums
        szz = fixed.turn.T @ centred[1 : q + 1, 1 : q + 1] @ fixed.turn
        szy = fixed.turn.T @ centred[1 : q + 1, q + 1 :]
        self.first, self.second = np.triu_indices(q)
        twice = np.where(self.first == self.second, 1.0, 2.0)
        pairs = (twice * szz[self.first, self.second])[:, None]
        pairs = pairs * fixed.inverse[self.first] * fixed.inverse[self.second]
        self.of_square = np.concatenate([np.ones((1, len(ALPHAS))), -2 * fixed.inverse, pairs])
        explained = np.einsum("qr,rol->qol", szz, fixed.alone)
        rest = (szy[:, :, None] - explained) * fixed.inverse[:, None, :]
        self.without = np.diag(centred)[q + 1 :, None] + ((explained - 2 * szy[:, :, None]) * fixed.alone).sum(axis=0)
        self.of_cross = np.concatenate([-2 * fixed.spread, 2 * fixed.alone.reshape(q, -1), 2 * rest.reshape(q, -1)])


class Fit:
    """Ridge on (z, x) for every draw, outcome and penalty."""

    def __init__(self, fixed: Fixed, totals: Totals) -> None:
        self.fixed, q, n = fixed, fixed.q, fixed.n
        self.x_mean = totals.x[:, 0] / n
        variance = np.maximum(totals.xx - n * self.x_mean**2, 0) / n
        varies = variance > 1e-18 * totals.xx / n
        self.x_scale = np.sqrt(np.where(varies, variance, 1.0))
        products = totals.x[:, 1:] - totals.x[:, :1] * fixed.mean[1:]
        products /= self.x_scale[:, None]
        self.h = products[:, :q] @ fixed.turn
        left = (variance * n / self.x_scale**2)[:, None] + ALPHAS - self.h**2 @ fixed.inverse
        # The coefficient of standardised x, (draws, outcomes, penalties).
        beta: Floats = np.concatenate([products[:, q:], self.h], axis=1) @ fixed.of_beta
        self.beta = beta.reshape(len(left), -1, len(ALPHAS))
        self.beta *= (1 / left)[:, None, :]

    def errors(self, validated: Validated, totals: Totals) -> Floats:
        """The squared error summed over the rows of `totals`, shape (draws, outcomes, penalties)."""
        q, mean = self.fixed.q, self.fixed.mean
        shifted = totals.x[:, 1:] - self.x_mean[:, None] * validated.sums[1:]
        shifted -= (totals.x[:, :1] - validated.n * self.x_mean[:, None]) * mean[1:]
        shifted /= self.x_scale[:, None]
        uz = shifted[:, :q] @ self.fixed.turn
        uu = (totals.xx - self.x_mean * (2 * totals.x[:, 0] - validated.n * self.x_mean)) / self.x_scale**2
        of_pairs = self.h[:, validated.first] * self.h[:, validated.second]
        square = np.concatenate([uu[:, None], uz * self.h, of_pairs], axis=1) @ validated.of_square
        crossed = np.concatenate([shifted[:, q:], uz, self.h], axis=1) @ validated.of_cross
        found: Floats = self.beta * square[:, None, :]
        found += crossed.reshape(found.shape)
        found *= self.beta
        found += validated.without
        return found

    def coefficients(self, penalties: Ints) -> tuple[Floats, Floats]:
        """Of (1, z), shape (draws, outcomes, 1+q), and of x, (draws, outcomes), for features about the overall means.

        `penalties` (draws, outcomes) are places among the penalties.
        """
        q, mean = self.fixed.q, self.fixed.mean
        beta = np.take_along_axis(self.beta, penalties[:, :, None], axis=2)[:, :, 0]
        inverse = self.fixed.inverse.T[penalties]
        z = ((self.fixed.b.T - self.h[:, None] * beta[:, :, None]) * inverse) @ self.fixed.turn.T
        x = beta / self.x_scale[:, None]
        intercept = mean[q + 1 :] - z @ mean[1 : q + 1] - x * self.x_mean[:, None]
        return np.concatenate([intercept[:, :, None], z], axis=2), x


@dataclass(frozen=True, eq=False)
class Plan:
    """What every block of draws shares: rows sorted by family, and the fixed part of every fit.

    `inner` has, for each family held out, its inner folds: a fold, its fit and what its validation rows have.
    """

    rows: tuple[slice, ...]
    folds: Ints
    fixed: Floats
    parts: tuple[Floats, ...]
    outer: tuple[Fixed, ...]
    inner: tuple[tuple[tuple[int, Fixed, Validated], ...], ...]

    @classmethod
    def of(cls, design: Floats, y: Floats, rows: Sequence[slice], folds: Ints) -> Plan:
        q, fixed = design.shape[1] - 1, np.column_stack([design, y])
        products = np.stack([fixed[at].T @ fixed[at] for at in rows])
        everything = products.sum(axis=0)
        inner = []
        for out in range(len(rows)):
            found = []
            for fold in np.unique(folds):
                validation = [f for f in np.flatnonzero(folds == fold) if f != out]
                if validation:
                    held = products[validation].sum(axis=0)
                    fit = Fixed(everything - products[out] - held, q)
                    found.append((int(fold), fit, Validated(fit, held)))
            inner.append(tuple(found))
        return cls(
            rows=tuple(rows),
            folds=folds,
            fixed=fixed,
            parts=tuple(np.ascontiguousarray(np.column_stack([design, column]).T) for column in y.T),
            outer=tuple(Fixed(everything - own, q) for own in products),
            inner=tuple(inner),
        )


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
    plan = Plan.of(design, y, rows, folds_of_groups(families))
    for start in range(0, draws + 1, block):
        stop = min(start + block, draws + 1)
        tiled = np.repeat(left[None], stop - start, axis=0)
        for family in rows:
            if family.stop - family.start > 1:
                tiled[:, family] = rng.permuted(tiled[:, family], axis=1)
        if start == 0:
            tiled[0] = left
        tiled += predicted
        absolute[start:stop], squared[start:stop] = _held_out(plan, tiled)
    return absolute, squared


def _held_out(plan: Plan, x: Floats) -> tuple[Floats, Floats]:
    """The errors of one block of draws: `x` (draws, rows), sorted by family."""
    n_y = len(plan.parts)
    families = [Totals(x[:, at] @ plan.fixed[at], np.einsum("ij,ij->i", x[:, at], x[:, at])) for at in plan.rows]
    everything = _sum(families)
    of_fold = {int(k): _sum([families[f] for f in np.flatnonzero(plan.folds == k)]) for k in np.unique(plan.folds)}
    absolute, squared = np.zeros((len(x), n_y)), np.zeros((len(x), n_y))
    # Without a whole fold, the training families are the same whichever of its families is held out.
    without: dict[int, Fit] = {}
    for out, at in enumerate(plan.rows):
        training = everything - families[out]
        errors = np.zeros((len(x), n_y, len(ALPHAS)))
        for fold, fixed, validated in plan.inner[out]:
            if fold != plan.folds[out]:
                errors += Fit(fixed, training - of_fold[fold]).errors(validated, of_fold[fold])
                continue
            if fold not in without:
                without[fold] = Fit(fixed, everything - of_fold[fold])
            errors += without[fold].errors(validated, of_fold[fold] - families[out])
        of_design, of_x = Fit(plan.outer[out], training).coefficients(last_least(errors))
        own = x[:, at]
        wrong, part = np.empty_like(own), np.empty_like(own)
        for outcome in range(n_y):
            lines = np.column_stack([of_design[:, outcome], np.full(len(x), -1.0)])
            np.matmul(lines, plan.parts[outcome][:, at], out=wrong)
            wrong += np.multiply(own, of_x[:, outcome, None], out=part)
            squared[:, outcome] += np.einsum("ij,ij->i", wrong, wrong)
            absolute[:, outcome] += np.abs(wrong, out=wrong).sum(axis=1)
    return absolute, squared


def _sum(parts: Sequence[Totals]) -> Totals:
    return Totals(np.sum([part.x for part in parts], axis=0), np.sum([part.xx for part in parts], axis=0))
