"""Leave-one-family-out ridge done again for every draw of one feature, with the penalty chosen inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from veridical.stats.rank_correlation import average_ranks
from veridical.stats.ridge import folds_of_groups
from veridical.stats.units import Floats, Ints
from veridical.validity.ridge_fits import ALPHAS, BaselineFits, Validation, coefficients, validation_errors

_CELLS = 1_000_000
_ERRORS = 60_000
"""Draws are worked on in blocks of at most so many cells, of rows and of errors by outcome and penalty."""
_CACHED = 80_000
"""Cells that are worked on at a time, so that they stay in the processor's cache. A small multiple of what costs as
much as calling the functions that work on them."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """A family held out: its rows, and a fit for each inner fold of the others.

    `folds` are the folds validated on, `inside` the place among them of the family's own (none where it is alone in
    it).
    """

    rows: slice
    inner: BaselineFits
    validation: Validation
    folds: Ints
    inside: Ints


@dataclass(frozen=True, eq=False)
class Drawn:
    """Held-out predictions of each draw against the outcomes: absolute and squared errors summed over rows, and
    Spearman's rho, all (draws, outcomes). `rho` is of the first draws alone where rows are very many, and empty where
    no ranks were asked for; 0 where predictions are constant."""

    absolute: Floats
    squared: Floats
    rho: Floats

    def of(self, outcome: int) -> Drawn:
        """Those of one outcome, each (draws,)."""
        return Drawn(self.absolute[:, outcome], self.squared[:, outcome], self.rho[:, outcome])


class HeldOutRidge:
    """Leave-one-family-out ridge on a baseline z (rows, n_baseline) and any feature, for outcomes y (rows, outcomes).

    `families` are codes 0 … F-1. The penalty is chosen anew, inside the training families, for every draw
    (`veridical.stats.ridge`).
    """

    def __init__(self, baseline: Floats, y: Floats, families: Ints) -> None:
        self._order = np.argsort(families, kind="stable")
        sorted_families = families[self._order]
        bounds = np.searchsorted(sorted_families, np.arange(int(sorted_families[-1]) + 2))
        # Sums of squares lose no digits to a mean that is far from 0; errors do not depend on it.
        centred_y = (y - y.mean(axis=0))[self._order]
        design = np.column_stack([np.ones(len(y)), (baseline - baseline.mean(axis=0))[self._order]])
        self._fixed = np.column_stack([design, centred_y])
        rows = [slice(int(a), int(b)) for a, b in pairwise(bounds)]
        self._folds = folds_of_groups(sorted_families)
        n_baseline = baseline.shape[1]
        products = np.stack([self._fixed[at].T @ self._fixed[at] for at in rows])
        self._families = tuple(_held_out(products, self._folds, rows, n_baseline))
        self._outer = BaselineFits(products.sum(axis=0) - products, n_baseline)
        self._parts = tuple(np.column_stack([design, -column]) for column in centred_y.T)
        self._y = centred_y
        self._ranks = average_ranks(centred_y) - (len(y) + 1) / 2

    def errors(self, draws: Iterable[Floats], ranked: int = 0) -> Drawn:
        """What held-out predictions miss with each of these features, which come in blocks (rows, draws).

        Rho is of the first `ranked` draws.
        """
        parts: list[Drawn] = []
        for block in draws:
            parts.append(self._block(block[self._order], ranked))
            ranked = max(0, ranked - block.shape[1])
        return Drawn(*(np.concatenate([getattr(part, name) for part in parts]) for name in Drawn.__annotations__))

    def block_size(self) -> int:
        """Draws that are best given at a time."""
        rows, outcomes = self._y.shape
        return max(1, min(_CELLS // int(rows), _ERRORS // (int(outcomes) * len(ALPHAS))))

    def _block(self, x: Floats, ranked: int) -> Drawn:
        """The errors of one block: `x` (rows, draws), rows sorted by family."""
        (n, draws), n_y = x.shape, len(self._parts)
        x = np.ascontiguousarray(x - x.mean(axis=0))
        # Products of x with (1, z, y) and with itself, by family.
        own = np.stack([self._fixed[one.rows].T @ x[one.rows] for one in self._families])
        square = np.stack([np.einsum("ij,ij->j", x[one.rows], x[one.rows]) for one in self._families])
        lines = np.ones((len(self._families), self._parts[0].shape[1], n_y, draws))
        of_x = np.empty((len(self._families), n_y, draws))
        cells = n_y * len(ALPHAS) * (int(self._folds.max()) + 1)
        for first, last in blocks_of(draws, _CACHED // cells):
            at = slice(first, last)
            lines[:, :-1, :, at], of_x[:, :, at] = self._refitted(own[:, :, at], square[:, at])
        absolute, squared = np.empty((n_y, draws)), np.empty((n_y, draws))
        rho = np.empty((n_y, min(ranked, draws)))
        for first, last in blocks_of(draws, _CACHED // n):
            wrong, part = np.empty((n, last - first)), np.empty((n, last - first))
            at = slice(first, last)
            for outcome in range(n_y):
                for out, one in enumerate(self._families):
                    np.matmul(self._parts[outcome][one.rows], lines[out, :, outcome, at], out=wrong[one.rows])
                    np.multiply(x[one.rows, at], of_x[out, outcome, at], out=part[one.rows])
                wrong += part
                squared[outcome, at] = np.einsum("ij,ij->j", wrong, wrong)
                if first < rho.shape[1]:
                    most = min(last, rho.shape[1])
                    rho[outcome, first:most] = self._rho(wrong[:, : most - first], outcome)
                absolute[outcome, at] = np.abs(wrong, out=wrong).sum(axis=0)
        return Drawn(absolute.T, squared.T, rho.T)

    def _rho(self, wrong: Floats, outcome: int) -> Floats:
        """Spearman's rho of predictions, whose errors are (rows, draws), with the outcome: (draws,)."""
        y, ranks = self._y[:, outcome], self._ranks[:, outcome]
        unit = float(np.ptp(y)) or 1.0
        # Predictions that differ by rounding alone are tied.
        predicted = average_ranks(np.round((wrong + y[:, None]) / unit, 10)) - (len(y) + 1) / 2
        scale = np.sqrt(np.einsum("ij,ij->j", predicted, predicted) * (ranks @ ranks))
        with np.errstate(invalid="ignore", divide="ignore"):
            rho: Floats = np.where(scale > 0, (ranks @ predicted) / scale, 0.0)
        return rho

    def _refitted(self, own: Floats, square: Floats) -> tuple[Floats, Floats]:
        """For each family held out, the coefficients of the refit with the penalty chosen inside the others.

        `own` (F, m, draws) are products of x with (1, z, y) by family, `square` (F, draws) those of x with itself.
        """
        folds = range(int(self._folds.max()) + 1)
        by_fold, square_by_fold = (
            np.stack([part[self._folds == fold].sum(axis=0) for fold in folds]) for part in (own, square)
        )
        training, training_square = own.sum(axis=0) - own, square.sum(axis=0) - square
        penalties = np.empty((len(own), len(self._parts), own.shape[2]), dtype=np.int64)
        for out, one in enumerate(self._families):
            held, held_square = by_fold[one.folds], square_by_fold[one.folds]
            held[one.inside] -= own[out]
            held_square[one.inside] -= square[out]
            totals = np.concatenate([held, training[out] - held], axis=1)
            inner_square = training_square[out] - held_square
            errors = validation_errors(one.inner, one.validation, totals, inner_square, held_square)
            penalties[out] = _last_least(errors)
        return coefficients(self._outer, training, training_square, penalties)


def _held_out(products: Floats, folds: Ints, rows: Sequence[slice], n_baseline: int) -> Iterator[HeldOut]:
    """For each family the fits on the others' inner folds, from products (F, m, m)."""
    by_fold = np.stack([products[folds == fold].sum(axis=0) for fold in range(int(folds.max()) + 1)])
    for out, at in enumerate(rows):
        alone = (folds == folds[out]).sum() == 1
        others = np.array([fold for fold in range(len(by_fold)) if not (alone and fold == folds[out])])
        inside = np.flatnonzero(others == folds[out])
        training, held = products.sum(axis=0) - products[out], by_fold[others]
        held[inside] -= products[out]
        inner = BaselineFits(training - held, n_baseline)
        yield HeldOut(at, inner, Validation(inner, held), others, inside)


def blocks_of(n: int, size: int) -> Iterator[tuple[int, int]]:
    """Bounds of consecutive blocks of `size` (1 at the least) among n."""
    for start in range(0, n, max(1, size)):
        yield start, min(start + max(1, size), n)


def _last_least(errors: Floats) -> Ints:
    """As `veridical.stats.ridge.last_least`, along the second axis of (outcomes, penalties, draws)."""
    near = errors <= errors.min(axis=1, keepdims=True) * (1 + 1e-12)
    places = near.view(np.int8) * np.arange(len(ALPHAS), dtype=np.int8)[:, None]
    last: Ints = places.max(axis=1).astype(np.int64)
    return last
