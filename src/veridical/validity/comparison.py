"""Does a reworked benchmark (or a measure of sets) predict better than the original (or accuracy) it is paired with?

Both are looked at on the same models, so that their difference is paired.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from veridical.stats.permutation import permutation_p
from veridical.stats.ridge import held_out_fits, leave_groups_out
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.exchange import ColumnPair, exchanged_differences, least_exchange_p, swaps_of
from veridical.validity.inference import Tested
from veridical.validity.intervals import adjusted, over_families
from veridical.validity.leave_family_out import (
    NULL,
    dense,
    error_p,
    fullest_baseline,
    gain_over_families,
    least_permutation_p,
    predictable,
    unit_of,
)
from veridical.validity.partial import covariates_of
from veridical.validity.permuted_gain import left_within_families, permuted_errors
from veridical.validity.relation import slope_of
from veridical.validity.results import VersionComparison
from veridical.validity.rho_exchange import rho_differences
from veridical.validity.seeds import generator
from veridical.validity.summaries import PooledComparison
from veridical.validity.table import ScoreTable

SWAP = "original and reworked exchanged at random within each model, {draws:,} draws"


@dataclass(frozen=True, eq=False)
class Differences:
    """What the pooled test needs of one outcome: differences of each draw, (draws + 1,), or None where not testable.

    `gains` are in shares of the baseline's error; `less` (rows,) is each model's own, over `families` of the table.
    """

    outcome: str
    gains: Floats | None
    rhos: Floats | None
    less: Floats
    families: Ints
    rows: Bools


def comparisons(table: ScoreTable, draws: int, seed: int) -> tuple[list[VersionComparison], list[PooledComparison]]:
    """Each reworked version against its original for every outcome, and over all of them; p adjusted over all of each.

    A pair and outcome for which fewer than 8 models or 3 families have all that is needed are not there.
    """
    from threadpoolctl import threadpool_limits

    def of_variant(pair: tuple[str, str]) -> tuple[list[VersionComparison], PooledComparison | None]:
        found = list(_of_variant(table, *pair, draws, seed))
        return [one for one, _ in found], pooled(table, pair, [of for _, of in found], draws, seed)

    with threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(of_variant, table.roles.variants.items()))
    each = [one for found, _ in parts for one in found]
    together = [one for _, one in parts if one is not None]
    for name in ("rho_test", "gain_test", "gain_flip", "beyond_test"):
        tests = adjusted([getattr(one, name) for one in each])
        each = [one.model_copy(update={name: test}) for one, test in zip(each, tests, strict=True)]
    for name in ("rho_test", "gain_test"):
        tests = adjusted([getattr(one, name) for one in together])
        together = [one.model_copy(update={name: test}) for one, test in zip(together, tests, strict=True)]
    return each, together


def _of_variant(
    table: ScoreTable, reworked: str, original: str, draws: int, seed: int
) -> Iterator[tuple[VersionComparison, Differences]]:
    baseline = fullest_baseline(table)
    new, old = table.column(reworked), table.column(original)
    # The same models are exchanged for every outcome, so that outcomes can be pooled.
    swaps = swaps_of(generator(seed, "exchange", reworked, original), draws, len(table.models))
    groups: dict[bytes, tuple[Bools, list[str]]] = {}
    for outcome in table.roles.outcomes:
        rows = table.complete(baseline, new, old, table.column(outcome))
        if predictable(rows, table.family_codes):
            groups.setdefault(rows.tobytes(), (rows, []))[1].append(outcome)
    for rows, outcomes in groups.values():
        families = dense(table.family_codes[rows])
        z, pair = baseline[rows], np.column_stack([new[rows], old[rows]])
        y = np.column_stack([table.column(outcome)[rows] for outcome in outcomes])
        rhos = rho_differences(covariates_of(table)[rows], pair[:, 0], pair[:, 1], y, families, swaps[:, rows], seed)
        alone, of_new, of_old = (
            np.abs(y - leave_groups_out(features, y, families)[0])
            for features in (z, *(np.column_stack([z, one]) for one in pair.T))
        )
        testable = ColumnPair.of(pair, z).exchangeable
        null = exchanged_differences(z, pair, y, families, swaps[:, rows]) if testable else None
        beyond = permuted_errors(
            np.column_stack([z, old[rows]]),
            new[rows],
            y,
            families,
            generator(seed, "beyond", reworked, original),
            draws,
        )
        slopes = held_out_fits(np.column_stack([z, old[rows], new[rows]]), y, families).slopes[:, -1]
        least_beyond = least_permutation_p(
            families, draws, left_within_families(np.column_stack([z, old[rows]]), new[rows], families)
        )
        for place, (outcome, rho) in enumerate(zip(outcomes, rhos, strict=True)):
            less = of_old[:, place] - of_new[:, place]
            gain_interval, flip, _ = gain_over_families(less, families, draws, seed, unit_of(y[:, place]))
            error = float(alone[:, place].mean())
            share = 1 / error if error > 1e-9 * unit_of(y[:, place]) else 0.0
            gained = None if null is None else null[:, place]
            one = VersionComparison(
                reworked=reworked,
                original=original,
                outcome=outcome,
                n=len(y),
                rho_difference=rho.value,
                rho_interval=rho.interval,
                rho_test=tested(rho.null, len(y), draws),
                rho_reworked=rho.rhos[0],
                rho_original=rho.rhos[1],
                gain_difference=float(less.mean()),
                gain_interval=gain_interval,
                gain_test=tested(gained, len(y), draws),
                gain_flip=flip,
                beyond=float(of_old[:, place].mean() - beyond.absolute[0, place] / len(y)),
                beyond_test=Tested(
                    p=error_p(beyond.absolute[:, place]), least=least_beyond, null=NULL.format(draws=draws)
                ),
                beyond_relation=slope_of(slopes[:, place], new[rows], y[:, place]).relation,
            )
            shares = gained * share if gained is not None and share else None
            yield one, Differences(outcome, shares, rho.null, less * share, table.family_codes[rows], rows)


def tested(null: Floats | None, models: int, draws: int) -> Tested | None:
    """The two-sided p of the first of these differences (draws + 1,) among those exchanged within `models`."""
    if null is None:
        return None
    size = np.abs(null) / (float(np.abs(null).max()) or 1.0)
    p = permutation_p(float(size[0]), size[1:])
    return Tested(p=p, least=least_exchange_p(models, draws), null=SWAP.format(draws=draws))


def pooled(
    table: ScoreTable, pair: tuple[str, str], found: Sequence[Differences], draws: int, seed: int
) -> PooledComparison | None:
    """The mean difference over outcomes, tested by the exchange that they share; None where there is no outcome."""
    if not found:
        return None
    models = int(np.any([one.rows for one in found], axis=0).sum())
    gains, rhos = (
        None if not of else np.mean(of, axis=0)
        for of in (
            [one.gains for one in found if one.gains is not None],
            [one.rhos for one in found if one.rhos is not None],
        )
    )
    n_families, n = len(table.family_names), len(found)
    totals = np.column_stack(
        [np.bincount(one.families, weights=one.less, minlength=n_families) for one in found]
        + [np.bincount(one.families, minlength=n_families) for one in found]
    )
    totals = totals[totals[:, n:].sum(axis=1) > 0]

    def mean(summed: Floats) -> Floats:
        with np.errstate(invalid="ignore", divide="ignore"):
            result: Floats = (summed[:, :n] / summed[:, n:]).mean(axis=1)
        return result

    return PooledComparison(
        reworked=pair[0],
        original=pair[1],
        outcomes=tuple(one.outcome for one in found),
        models=models,
        gain_difference=None if gains is None else float(gains[0]),
        gain_interval=over_families(totals, mean, mean(totals.sum(axis=0) - totals), draws, seed),
        gain_test=tested(gains, models, draws),
        rho_difference=None if rhos is None else float(rhos[0]),
        rho_test=tested(rhos, models, draws),
    )
