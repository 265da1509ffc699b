"""Does a reworked benchmark (or a measure of sets) predict better than the original (or accuracy) beside it?

Both are looked at on the same models, so that their difference is paired.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from veridical.stats.partial_correlation import correlations, residuals
from veridical.stats.permutation import permutation_p
from veridical.stats.ridge import leave_groups_out
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.intervals import FEW_FAMILIES, adjusted, leave_one_out_range, over_families
from veridical.validity.leave_family_out import (
    NULL,
    baselines_of,
    dense,
    error_p,
    gain_over_families,
    least_permutation_p,
    predictable,
    unit_of,
)
from veridical.validity.partial import Ranked, covariates_of, partial_of_products, partial_rho
from veridical.validity.permuted_gain import permuted_errors
from veridical.validity.results import Comparison, Span, Tested
from veridical.validity.seeds import generator
from veridical.validity.table import ScoreTable

SWAP = "original and reworked exchanged at random within each model, {draws:,} draws"
NOTHING = Span(method="not estimable: no degree of freedom left, or nothing varies within families")
_CELLS = 2_000_000

Difference = tuple[float | None, Span, Tested | None]


def comparisons(table: ScoreTable, draws: int, seed: int) -> list[Comparison]:
    """Each reworked version beside its original for every outcome; p adjusted over all of them.

    A pair and outcome for which fewer than 8 models or 3 families have all that is needed are not there.
    """
    from threadpoolctl import threadpool_limits

    def of_variant(pair: tuple[str, str]) -> list[Comparison]:
        return list(_of_variant(table, *pair, draws, seed))

    with threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        found = [one for part in pool.map(of_variant, table.roles.variants.items()) for one in part]
    rho = adjusted([one.rho_test for one in found])
    gain = adjusted([one.gain_test for one in found])
    beyond = adjusted([one.beyond_test for one in found])
    return [
        one.model_copy(update={"rho_test": r, "gain_test": g, "beyond_test": b})
        for one, r, g, b in zip(found, rho, gain, beyond, strict=True)
    ]


def _of_variant(table: ScoreTable, reworked: str, original: str, draws: int, seed: int) -> Iterator[Comparison]:
    baseline = list(baselines_of(table).values())[-1]
    new, old = table.column(reworked), table.column(original)
    groups: dict[bytes, tuple[Bools, list[str]]] = {}
    for outcome in table.roles.outcomes:
        rows = table.complete(baseline, new, old, table.column(outcome))
        if predictable(rows, table.family_codes):
            groups.setdefault(rows.tobytes(), (rows, []))[1].append(outcome)
    for rows, outcomes in groups.values():
        rng = generator(seed, "reworked", reworked, original, rows.tobytes())
        families = dense(table.family_codes[rows])
        z, x = baseline[rows], (new[rows], old[rows])
        y = np.column_stack([table.column(outcome)[rows] for outcome in outcomes])
        differences = rho_differences(covariates_of(table)[rows], *x, y, families, rng, draws, seed)
        of_new, of_old = (np.abs(y - leave_groups_out(np.column_stack([z, one]), y, families)[0]) for one in x)
        both = permuted_errors(np.column_stack([z, x[1]]), x[0], y, families, rng, draws)[0]
        for place, (outcome, (difference, interval, test)) in enumerate(zip(outcomes, differences, strict=True)):
            less = of_old[:, place] - of_new[:, place]
            gain_interval, flip, _ = gain_over_families(less, families, draws, seed, unit_of(y[:, place]))
            yield Comparison(
                reworked=reworked,
                original=original,
                outcome=outcome,
                n=len(y),
                rho_difference=difference,
                rho_interval=interval,
                rho_test=test,
                gain_difference=float(less.mean()),
                gain_interval=gain_interval,
                gain_test=flip,
                beyond=float(of_old[:, place].mean() - both[0, place] / len(y)),
                beyond_test=Tested(
                    p=error_p(both[:, place]),
                    least=least_permutation_p(families, draws),
                    null=NULL.format(draws=draws),
                ),
            )


def rho_differences(
    covariates: Floats,
    new: Floats,
    old: Floats,
    y: Floats,
    families: Ints,
    rng: np.random.Generator,
    draws: int,
    seed: int,
) -> list[Difference]:
    """Partial rho of `new` less that of `old` for each outcome of y (rows, outcomes), with interval and test."""
    n_y, c = y.shape[1], covariates.shape[1]
    ranked = Ranked.of(covariates, np.column_stack([new, old, y]), families)
    if ranked.df < 1:
        return [(None, NOTHING, None)] * n_y
    left = ranked.left()
    rhos = [correlations(left[:, :2], left[:, 2 + place]) for place in range(n_y)]
    null = swapped(ranked.columns[ranked.moving, :2], left[:, 2:], ranked.basis, rng, draws)
    products = ranked.family_products()
    found: list[Difference] = []
    for place, pair in enumerate(rhos):
        if not np.isfinite(pair).all():
            found.append((None, NOTHING, None))
            continue
        observed = float(pair[0] - pair[1])
        p = permutation_p(abs(observed), np.abs(null[:, place]))
        test = Tested(p=p, least=1 / (draws + 1), null=SWAP.format(draws=draws))
        if len(products) < FEW_FAMILIES:
            span = leave_one_out_range(_left_out(covariates, new, old, y[:, place], families))
        else:
            picked = [*range(c), c, c + 1, c + 2 + place]
            own = products[:, picked][:, :, picked]
            span = over_families(own.reshape(len(own), -1), lambda totals: _difference(totals, c), (), draws, seed)
        found.append((observed, span, test))
    return found


def swapped(columns: Floats, y: Floats, basis: Floats, rng: np.random.Generator, draws: int) -> Floats:
    """Differences of partial correlations, (draws, outcomes), with two columns (rows, 2) exchanged at random by row.

    `y` (rows, outcomes) are residuals on `basis`. With the mean m of the columns and half their difference d, they are
    m + sd and m - sd for signs s, so that all a draw needs are products of its signs with a few fixed columns.
    """
    middle, half = residuals(columns.mean(axis=1), basis), (columns[:, 0] - columns[:, 1]) / 2
    n, n_y = y.shape
    targets = half[:, None] * np.column_stack([y, middle, basis])
    along, norms = middle @ y, np.linalg.norm(y, axis=0)
    null = np.empty((draws, n_y))
    block = max(1, _CELLS // n)
    for start in range(0, draws, block):
        stop = min(start + block, draws)
        signs = rng.integers(0, 2, size=(stop - start, n), dtype=np.int8) * 2.0 - 1.0
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
