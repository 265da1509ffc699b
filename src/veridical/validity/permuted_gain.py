"""The null of a benchmark's gain: leave-one-family-out ridge done again for every permutation, from family totals.

The baseline z (rows, q) and the outcomes stay as they are; the benchmark x is what its regression on the baseline
predicts, plus its residual permuted within families. In the eigenbasis of the baseline's correlations, the baseline's
part of every ridge is diagonal, so that the benchmark's coefficient follows by elimination:

    beta = (g - sum h b / (lambda + a)) / (n + a - sum h^2 / (lambda + a))

with x standardised, h and b the products of the baseline's eigenfeatures with x and y, g that of x and y, and a the
penalty. g, h and the validation errors are sums over families, so rows are needed for the held-out errors alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from veridical.stats.ridge import CONSTANT, PENALTIES, folds_of_groups
from veridical.stats.units import Floats, Ints

_CELLS = 1_000_000
_ERRORS = 60_000
"""Permutations are made in blocks of at most so many cells, of rows and of errors by outcome and penalty."""
_CACHED = 80_000
"""Cells that are worked on at a time, so that they stay in the processor's cache. A small multiple of what costs as
much as calling the functions that work on them."""
ALPHAS = np.array(PENALTIES)


class Fixed:
    """What ridge on (z, x) has of training families whatever x is, from their products of (1, z, y): (fits, m, m).

    Several fits at once: they come first in every array, and draws last. All that is linear in a draw's totals (the
    products of x with 1, z and y) is one matrix: a product of matrices is quicker than anything that is done by cell.
    """

    def __init__(self, products: Floats, q: int) -> None:
        self.q, n = q, products[:, 0, 0]
        self.n, self.mean = n[:, None], products[:, 0] / n[:, None]
        centred = products - n[:, None, None] * self.mean[:, :, None] * self.mean[:, None, :]
        variance = np.maximum(np.einsum("kii->ki", centred)[:, 1 : q + 1], 0) / self.n
        varies = variance > CONSTANT * np.einsum("kii->ki", products)[:, 1 : q + 1] / self.n
        scale = np.sqrt(np.where(varies, variance, 1.0))
        values, vectors = np.linalg.eigh(centred[:, 1 : q + 1, 1 : q + 1] / (scale[:, :, None] * scale[:, None, :]))
        self.turn = vectors / scale[:, :, None]
        self.back = self.turn.swapaxes(1, 2)
        self.inverse = 1 / (np.maximum(values, 0.0)[:, :, None] + ALPHAS)
        self.b = self.back @ centred[:, 1 : q + 1, q + 1 :]
        self.alone = np.einsum("kqo,kql->kolq", self.b, self.inverse)
        # From totals to g and h, the products with y and with the eigenfeatures about the means.
        unit = np.broadcast_to(np.eye(products.shape[1] - 1), (len(n), products.shape[1] - 1, products.shape[1] - 1))
        self.to_about = np.concatenate([-self.mean[:, 1:, None], unit], axis=2)
        self.to_g, self.to_h = self.to_about[:, q:], self.back @ self.to_about[:, :q]
        # Ones spread each outcome over its penalties: g - sum h b / (lambda + a), the numerator of the coefficient.
        self.spread = np.repeat(np.eye(self.b.shape[2]), len(ALPHAS), axis=0)
        self.to_gamma = self.spread @ self.to_g - self.alone.reshape(len(n), -1, q) @ self.to_h


class Validated:
    """What squared errors on some families have, whatever x is, for fits on others: products are (fits, m, m)."""

    def __init__(self, fixed: Fixed, products: Floats) -> None:
        q, mean, sums = fixed.q, fixed.mean, products[:, 0]
        self.n = products[:, 0, :1]
        # Products of what is centred by the training families' means.
        crossed = mean[:, :, None] * sums[:, None, :]
        centred = products - crossed - crossed.swapaxes(1, 2)
        centred += self.n[:, :, None] * mean[:, :, None] * mean[:, None, :]
        szz = fixed.back @ centred[:, 1 : q + 1, 1 : q + 1] @ fixed.turn
        szy = (fixed.back @ centred[:, 1 : q + 1, q + 1 :]).swapaxes(1, 2)[:, :, None]
        self.first, self.second = np.triu_indices(q)
        twice = np.where(self.first == self.second, 1.0, 2.0)
        pairs = (twice * szz[:, self.first, self.second])[:, :, None]
        pairs = pairs * fixed.inverse[:, self.first] * fixed.inverse[:, self.second]
        self.of_square = np.concatenate([-2 * fixed.inverse, pairs], axis=1).swapaxes(1, 2)
        explained = np.einsum("kqr,kolr->kolq", szz, fixed.alone)
        rest = (szy - explained) * fixed.inverse.swapaxes(1, 2)[:, None]
        # From the totals of these families, and after them those of 1 and z over the training families.
        to_mean = (self.n * mean[:, 1:] - sums[:, 1:])[:, :, None] / fixed.n[:, :, None]
        nothing = np.zeros((len(sums), len(mean[0]) - 1, q))
        about = np.concatenate([fixed.to_about, to_mean, nothing], axis=2)
        self.to_uz = fixed.back @ about[:, :q]
        to_h = np.concatenate([np.zeros((len(sums), q, len(mean[0]))), fixed.to_h[:, :, : q + 1]], axis=2)
        flat = (len(sums), -1, q)
        crossed = fixed.alone.reshape(flat) @ self.to_uz + rest.reshape(flat) @ to_h - fixed.spread @ about[:, q:]
        self.to_cross = 2 * crossed
        own = np.einsum("kii->ki", centred)[:, q + 1 :, None]
        # Summed over the fits: this part of the errors no draw changes.
        self.without = (own + ((explained - 2 * szy) * fixed.alone).sum(axis=3)).sum(axis=0)


def _spread_of(fixed: Fixed, total: Floats, square: Floats) -> tuple[Floats, Floats, Floats]:
    """The mean of x over the training families, its sum of squares about it, and its variance (1 where it is constant):
    (fits, draws), from the totals of x with 1 and with x."""
    mean = total / fixed.n
    about = np.maximum(square - total * mean, 0)
    return mean, about, np.where(about > CONSTANT * square, about / fixed.n, 1.0)


def validation_errors(fixed: Fixed, validated: Validated, totals: Floats, training: Floats, held: Floats) -> Floats:
    """Squared errors summed over fits and over the rows held, as (outcomes, penalties, draws).

    `totals` (fits, 2m, draws) are products of x with (1, z, y) over the rows held and then over the training families;
    `training` and `held` (fits, draws) those of x with itself. The coefficient of x is gamma * shrunk, and the errors
    are its square times `of_square` and itself times `crossed`, beside what no draw changes.
    """
    m, q = fixed.mean.shape[1], fixed.q
    mean, about, variance = _spread_of(fixed, totals[:, m], training)
    h = fixed.to_h[:, :, : q + 1] @ totals[:, m : m + q + 1]
    uz = validated.to_uz @ totals[:, : m + q + 1]
    shrunk = 1 / (about[:, None] + ALPHAS[:, None] * variance[:, None] - fixed.inverse.swapaxes(1, 2) @ (h * h))
    of_pairs = h[:, validated.first] * h[:, validated.second]
    of_square = validated.of_square @ np.concatenate([uz * h, of_pairs], axis=1)
    of_square += (held - mean * (2 * totals[:, 0] - validated.n * mean))[:, None]
    shape = (len(mean), -1, len(ALPHAS), mean.shape[1])
    gamma = (fixed.to_gamma @ totals[:, m:]).reshape(shape)
    crossed = (validated.to_cross @ totals[:, : m + q + 1]).reshape(shape)
    errors: Floats = np.einsum("kold,kold,kld->old", gamma, gamma, of_square * shrunk * shrunk)
    errors += np.einsum("kold,kold,kld->old", gamma, crossed, shrunk)
    errors += validated.without[:, :, None]
    return errors


def coefficients(fixed: Fixed, totals: Floats, squares: Floats, penalties: Ints) -> tuple[Floats, Floats]:
    """Of (1, z), (fits, 1+q, outcomes, draws), and of x, (fits, outcomes, draws), for features about the overall means.

    `totals` (fits, m, draws) and `squares` (fits, draws) are of the training families; `penalties` (fits, outcomes,
    draws) are places among the penalties.
    """
    q = fixed.q
    mean, about, variance = _spread_of(fixed, totals[:, 0], squares)
    h, b = (fixed.to_h @ totals)[:, :, None], fixed.b[:, :, :, None]
    places = penalties + len(ALPHAS) * np.arange(len(penalties))[:, None, None]
    inverse = np.stack([np.take(fixed.inverse[:, one].ravel(), places, mode="clip") for one in range(q)], axis=1)
    left = about[:, None] + np.take(ALPHAS, penalties, mode="clip") * variance[:, None]
    left -= np.einsum("kqod,kqod->kod", h * h, inverse)
    of_x = (fixed.to_g @ totals - np.einsum("kqod,kqod->kod", h * b, inverse)) / left
    turned = (b - h * of_x[:, None]) * inverse
    z = (fixed.turn @ turned.reshape(len(mean), q, -1)).reshape(turned.shape)
    intercept = fixed.mean[:, q + 1 :, None] - np.einsum("kq,kqod->kod", fixed.mean[:, 1 : q + 1], z)
    intercept -= of_x * mean[:, None]
    return np.concatenate([intercept[:, None], z], axis=1), of_x


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A family held out: its rows, and a fit for each inner fold of the others.

    `folds` are the folds validated on, `inside` the place among them of the family's own (none where it is alone in
    it).
    """

    rows: slice
    inner: Fixed
    validated: Validated
    folds: Ints
    inside: Ints


@dataclass(frozen=True, eq=False)
class Plan:
    """What every block of draws shares. Rows are sorted by family; `folds` (F,) are the families' inner folds, `outer`
    the fits without each family."""

    folds: Ints
    fixed: Floats
    parts: tuple[Floats, ...]
    families: tuple[HeldOut, ...]
    outer: Fixed

    @classmethod
    def of(cls, design: Floats, y: Floats, rows: Sequence[slice], folds: Ints) -> Plan:
        q, fixed = design.shape[1] - 1, np.column_stack([design, y])
        products = np.stack([fixed[at].T @ fixed[at] for at in rows])
        by_fold = np.stack([products[folds == fold].sum(axis=0) for fold in range(int(folds.max()) + 1)])
        families = []
        for out, at in enumerate(rows):
            alone = (folds == folds[out]).sum() == 1
            others = np.array([k for k in range(len(by_fold)) if not (alone and k == folds[out])])
            inside = np.flatnonzero(others == folds[out])
            training, held = products.sum(axis=0) - products[out], by_fold[others]
            held[inside] -= products[out]
            inner = Fixed(training - held, q)
            families.append(HeldOut(at, inner, Validated(inner, held), others, inside))
        parts = tuple(np.column_stack([design, -column]) for column in y.T)
        return cls(folds, fixed, parts, tuple(families), Fixed(products.sum(axis=0) - products, q))


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
    plan = Plan.of(design, y, rows, folds_of_groups(families))
    for start, stop in _blocks(draws + 1, min(_CELLS // len(x), _ERRORS // (y.shape[1] * len(ALPHAS)))):
        tiled = np.repeat(left[None], stop - start, axis=0)
        for family in rows:
            if family.stop - family.start > 1:
                tiled[:, family] = rng.permuted(tiled[:, family], axis=1)
        if start == 0:
            tiled[0] = left
        tiled += predicted
        absolute[start:stop], squared[start:stop] = _held_out(plan, tiled.T.copy())
    return absolute, squared


def _blocks(n: int, size: int) -> Iterator[tuple[int, int]]:
    for start in range(0, n, max(1, size)):
        yield start, min(start + max(1, size), n)


def _held_out(plan: Plan, x: Floats) -> tuple[Floats, Floats]:
    """The errors of one block of draws, (draws, outcomes): `x` (rows, draws), rows sorted by family."""
    n_y, draws = len(plan.parts), x.shape[1]
    # Products of x with (1, z, y) and with itself, by family.
    own = np.stack([plan.fixed[one.rows].T @ x[one.rows] for one in plan.families])
    square = np.stack([np.einsum("ij,ij->j", x[one.rows], x[one.rows]) for one in plan.families])
    lines = np.ones((len(plan.families), plan.parts[0].shape[1], n_y, draws))
    of_x = np.empty((len(plan.families), n_y, draws))
    cells = n_y * len(ALPHAS) * (int(plan.folds.max()) + 1)
    for first, last in _blocks(draws, _CACHED // cells):
        at = slice(first, last)
        lines[:, :-1, :, at], of_x[:, :, at] = _refitted(plan, own[:, :, at], square[:, at])
    absolute, squared = np.zeros((n_y, draws)), np.zeros((n_y, draws))
    for out, one in enumerate(plan.families):
        n = one.rows.stop - one.rows.start
        for first, last in _blocks(draws, _CACHED // n):
            at = slice(first, last)
            wrong, part = np.empty((n, last - first)), np.empty((n, last - first))
            for outcome in range(n_y):
                np.matmul(plan.parts[outcome][one.rows], lines[out, :, outcome, at], out=wrong)
                wrong += np.multiply(x[one.rows, at], of_x[out, outcome, at], out=part)
                squared[outcome, at] += np.einsum("ij,ij->j", wrong, wrong)
                absolute[outcome, at] += np.abs(wrong, out=wrong).sum(axis=0)
    return absolute.T, squared.T


def _refitted(plan: Plan, own: Floats, square: Floats) -> tuple[Floats, Floats]:
    """For each family held out, the coefficients of the refit with the penalty chosen inside the others.

    `own` (F, m, draws) are products of x with (1, z, y) by family, `square` (F, draws) those of x with itself.
    """
    folds = range(int(plan.folds.max()) + 1)
    fold_own, fold_square = (np.stack([part[plan.folds == k].sum(axis=0) for k in folds]) for part in (own, square))
    training, training_square = own.sum(axis=0) - own, square.sum(axis=0) - square
    penalties = np.empty((len(own), len(plan.parts), own.shape[2]), dtype=np.int64)
    for out, one in enumerate(plan.families):
        held, held_square = fold_own[one.folds], fold_square[one.folds]
        held[one.inside] -= own[out]
        held_square[one.inside] -= square[out]
        totals = np.concatenate([held, training[out] - held], axis=1)
        errors = validation_errors(one.inner, one.validated, totals, training_square[out] - held_square, held_square)
        penalties[out] = _last_least(errors)
    return coefficients(plan.outer, training, training_square, penalties)


def _last_least(errors: Floats) -> Ints:
    """As `veridical.stats.ridge.last_least`, along the second axis of (outcomes, penalties, draws)."""
    near = errors <= errors.min(axis=1, keepdims=True) * (1 + 1e-12)
    places = near.view(np.int8) * np.arange(len(ALPHAS), dtype=np.int8)[:, None]
    last: Ints = places.max(axis=1).astype(np.int64)
    return last
