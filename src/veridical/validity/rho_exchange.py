"""The difference of two partial rank correlations, and its null: two columns exchanged within models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical.stats.partial_correlation import column_space, correlations, residuals
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.inference import Span
from veridical.validity.intervals import FEW_FAMILIES, leave_one_out_range, over_families
from veridical.validity.partial import Ranked, partial_of_products, partial_rho

NOTHING = Span(method="not estimable: no degree of freedom left, or nothing varies within families")
_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class RhoDifference:
    """Partial rho of the reworked version less that of the original, and the draws of the exchange, (draws + 1,)."""

    value: float | None
    interval: Span
    rhos: tuple[float | None, float | None] = (None, None)
    null: Floats | None = None


def rho_differences(
    covariates: Floats, new: Floats, old: Floats, y: Floats, families: Ints, swaps: Bools, seed: int
) -> list[RhoDifference]:
    """Partial rho of `new` less that of `old` for each outcome of y (rows, outcomes), with interval and null.

    What size and controls leave of the ranks of both columns is exchanged, in units of what family leaves too: a
    version that size explains further is not distinguished from the other by that.
    """
    n_y, c = y.shape[1], covariates.shape[1]
    ranked = Ranked.of(covariates, np.column_stack([new, old, y]), families)
    if ranked.df < 1:
        return [RhoDifference(None, NOTHING)] * n_y
    left = ranked.left()
    rhos = [correlations(left[:, :2], left[:, 2 + place]) for place in range(n_y)]
    norms = np.linalg.norm(left[:, :2], axis=0)
    # Family means stay in what is exchanged: residuals that have lost a dimension for each family would differ less
    # between draws than the columns do between samples. They are taken out of each draw.
    given_covariates = residuals(ranked.columns[ranked.moving, :2], column_space(ranked.covariates[ranked.moving]))
    pair = given_covariates / np.where(norms > 0, norms, 1.0)
    null = swapped(pair, left[:, 2:], ranked.basis, swaps[:, ranked.moving])
    products = ranked.family_products()
    found: list[RhoDifference] = []
    draws = len(swaps) - 1
    for place, both in enumerate(rhos):
        if not np.isfinite(both).all():
            found.append(RhoDifference(None, NOTHING))
            continue
        if len(products) < FEW_FAMILIES:
            span = leave_one_out_range(_left_out(covariates, new, old, y[:, place], families))
        else:
            picked = [*range(c), c, c + 1, c + 2 + place]
            own = products[:, picked][:, :, picked]
            span = over_families(own.reshape(len(own), -1), lambda totals: _difference(totals, c), (), draws, seed)
        own_rhos = (float(both[0]), float(both[1]))
        found.append(RhoDifference(own_rhos[0] - own_rhos[1], span, own_rhos, null[:, place]))
    return found


def swapped(columns: Floats, y: Floats, basis: Floats, swaps: Bools) -> Floats:
    """Differences of partial correlations, (draws, outcomes), with two columns (rows, 2) exchanged by row.

    `y` (rows, outcomes) are residuals on `basis`; `swaps` (draws, rows) says where each draw exchanges. With the
    mean m of the columns and half their difference d, they are m + sd and m - sd for signs s, so that all a draw needs
    are products of its signs with a few fixed columns.
    """
    middle, half = residuals(columns.mean(axis=1), basis), (columns[:, 0] - columns[:, 1]) / 2
    n, n_y = y.shape
    draws = len(swaps)
    targets = half[:, None] * np.column_stack([y, middle, basis])
    along, norms = middle @ y, np.linalg.norm(y, axis=0)
    null = np.empty((draws, n_y))
    block = max(1, _CELLS // n)
    for start in range(0, draws, block):
        stop = min(start + block, draws)
        signs = 1.0 - 2.0 * swaps[start:stop]
        products = signs @ targets
        apart, with_middle = products[:, :n_y], products[:, [n_y]]
        spread = half @ half - (products[:, n_y + 1 :] ** 2).sum(axis=1, keepdims=True)
        rhos = []
        for sign in (1.0, -1.0):
            square = middle @ middle + 2 * sign * with_middle + spread
            scale = np.sqrt(np.maximum(square, 0.0)) * norms
            with np.errstate(invalid="ignore", divide="ignore"):
                rhos.append(np.where(scale > 1e-9, (along + sign * apart) / scale, 0.0))
        null[start:stop] = rhos[0] - rhos[1]
    return null


def _difference(totals: Floats, c: int) -> Floats:
    """Partial rho of the first less that of the second column, from products of (covariates, first, second, y)."""
    drawn = totals.reshape(-1, c + 3, c + 3)
    first, second = (
        partial_of_products(drawn[:, picked][:, :, picked], c)
        for picked in ([*range(c), c, c + 2], [*range(c), c + 1, c + 2])
    )
    return first - second


def _left_out(covariates: Floats, new: Floats, old: Floats, y: Floats, families: Ints) -> list[float]:
    return [
        partial_rho(new[rows], y[rows], covariates[rows], families[rows])
        - partial_rho(old[rows], y[rows], covariates[rows], families[rows])
        for family in np.unique(families)
        if (rows := families != family).sum() > 2
    ]
