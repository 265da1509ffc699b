"""What several benchmarks add together, as one set of predictors, and each of them given the others."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from veridical.stats.ridge import held_out_fits, leave_groups_out, mean_of_others
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.inference import Tested
from veridical.validity.intervals import adjusted
from veridical.validity.leave_family_out import (
    NULL,
    accuracy,
    baselines_of,
    dense,
    error_p,
    fullest_baseline,
    gain_over_families,
    least_permutation_p,
    predictable,
    unit_of,
)
from veridical.validity.permuted_gain import fitted_within_families, left_within_families, permuted, permuted_errors
from veridical.validity.relation import slope_of
from veridical.validity.seeds import generator
from veridical.validity.summaries import Baseline, Contribution, JointGain
from veridical.validity.table import ScoreTable

JOINT_NULL = "what baseline and family leave of the benchmarks permuted together within families, {draws:,} draws"
_CELLS = 3_000_000
"""Draws are fitted in blocks of about so many cells."""


def joint_gains(table: ScoreTable, draws: int, seed: int) -> list[JointGain]:
    """Every set with every outcome over every baseline; p adjusted over the sets and outcomes of each baseline.

    A set and outcome for which fewer than 8 models or 3 families have all that is needed are not there.
    """
    from threadpoolctl import threadpool_limits

    tasks = [(name, baseline) for baseline in baselines_of(table) for name in table.roles.jointly]
    with threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = list(pool.map(lambda task: list(_of_set(table, task[0], task[1], draws, seed)), tasks))
    found = [one for part in parts for one in part]
    by_baseline = [[p for p, one in enumerate(found) if one.baseline == name] for name in baselines_of(table)]
    for places in by_baseline:
        for field in ("test", "flip"):
            tests = adjusted([getattr(found[place], field) for place in places])
            for place, test in zip(places, tests, strict=True):
                found[place] = found[place].model_copy(update={field: test})
        _adjust_contributions(found, places)
    return found


def _adjust_contributions(found: list[JointGain], places: Sequence[int]) -> None:
    tests = iter(adjusted([part.test for place in places for part in found[place].contributions]))
    for place in places:
        parts = tuple(part.model_copy(update={"test": next(tests)}) for part in found[place].contributions)
        found[place] = found[place].model_copy(update={"contributions": parts})


@dataclass(frozen=True, eq=False)
class _Rows:
    """One set over the models that have it all: baseline z, benchmarks x, outcomes y, family codes."""

    rows: Bools
    outcomes: tuple[str, ...]
    z: Floats
    x: Floats
    y: Floats
    families: Ints


def _rows(table: ScoreTable, features: Floats, members: Sequence[str]) -> Iterator[_Rows]:
    x = np.column_stack([table.column(name) for name in members])
    groups: dict[bytes, tuple[Bools, list[str]]] = {}
    for outcome in table.roles.outcomes:
        rows = table.complete(fullest_baseline(table), x, table.column(outcome))
        if predictable(rows, table.family_codes):
            groups.setdefault(rows.tobytes(), (rows, []))[1].append(outcome)
    for rows, outcomes in groups.values():
        y = np.column_stack([table.column(outcome)[rows] for outcome in outcomes])
        yield _Rows(rows, tuple(outcomes), features[rows], x[rows], y, dense(table.family_codes[rows]))


def _of_set(table: ScoreTable, name: str, baseline: Baseline, draws: int, seed: int) -> Iterator[JointGain]:
    members = table.roles.jointly[name]
    for of in _rows(table, baselines_of(table)[baseline], members):
        purpose = ("jointly", baseline, *members, of.rows.tobytes())
        together = held_out_fits(np.column_stack([of.z, of.x]), of.y, of.families)
        alone = leave_groups_out(of.z, of.y, of.families)[0]
        errors = permuted_set_errors(of.z, of.x, of.y, of.families, generator(seed, *purpose), draws)
        left = of.x - fitted_within_families(of.z, of.x, of.families)
        least = min(least_permutation_p(of.families, draws, column) for column in left.T)
        own = [_given_others(of, place, generator(seed, *purpose, one), draws) for place, one in enumerate(members)]
        for place, outcome in enumerate(of.outcomes):
            observed = of.y[:, place]
            mean = mean_of_others(observed, of.families)
            without = accuracy(observed, alone[:, place], mean)
            with_set = accuracy(observed, together.predicted[:, place], mean)
            less = np.abs(observed - alone[:, place]) - np.abs(observed - together.predicted[:, place])
            interval, flip, _ = gain_over_families(less, of.families, draws, seed, unit_of(observed))
            slopes = [
                slope_of(line[:, place], of.x[:, at], observed) for at, line in enumerate(_slopes(of, together.slopes))
            ]
            yield JointGain(
                name=name,
                benchmarks=members,
                outcome=outcome,
                baseline=baseline,
                n=len(observed),
                families=len(np.unique(of.families)),
                mae_without=without.mae,
                mae_gain=without.mae - with_set.mae,
                r2_gain=None if without.r2 is None or with_set.r2 is None else with_set.r2 - without.r2,
                rho_gain=None if without.rho is None or with_set.rho is None else with_set.rho - without.rho,
                interval=interval,
                test=Tested(p=error_p(errors[:, place]), least=least, null=JOINT_NULL.format(draws=draws)),
                flip=flip,
                contributions=tuple(
                    Contribution(
                        benchmark=one,
                        mae_gain=float(gained[place]),
                        relation=slope.relation,
                        slope=slope.standardised,
                        test=tests[place],
                    )
                    for one, (gained, tests), slope in zip(members, own, slopes, strict=True)
                ),
            )


def _slopes(of: _Rows, slopes: Floats) -> Iterator[Floats]:
    """The slopes (fits, outcomes) of each benchmark of the set."""
    for place in range(of.x.shape[1]):
        yield slopes[:, of.z.shape[1] + place]


def _given_others(of: _Rows, place: int, rng: np.random.Generator, draws: int) -> tuple[Floats, list[Tested]]:
    """The MAE gain of one benchmark over baseline and the others, (outcomes,), with its tests."""
    others = np.column_stack([of.z, np.delete(of.x, place, axis=1)])
    x = of.x[:, place]
    errors = permuted_errors(others, x, of.y, of.families, rng, draws).absolute
    without = np.abs(of.y - leave_groups_out(others, of.y, of.families)[0]).mean(axis=0)
    least = least_permutation_p(of.families, draws, left_within_families(others, x, of.families))
    tests = [Tested(p=error_p(column), least=least, null=NULL.format(draws=draws)) for column in errors.T]
    gained: Floats = without - errors[0] / len(of.y)
    return gained, tests


def permuted_set_errors(
    baseline: Floats, x: Floats, y: Floats, families: Ints, rng: np.random.Generator, draws: int
) -> Floats:
    """Held-out absolute errors summed over rows, (draws + 1, outcomes); the first as observed.

    What baseline and family leave of all benchmarks x (rows, k) is permuted within families by rows, so that they keep
    what they have in common; the penalty is chosen anew for every draw.
    """
    fitted = fitted_within_families(baseline, x, families)
    left = x - fitted
    n_families, features = int(families.max()) + 1, baseline.shape[1] + x.shape[1]
    cells = n_families * min(n_families, 8) * (features + 1 + y.shape[1]) ** 2 * 2 + len(y) * features * y.shape[1]
    found = []
    for orders in permuted(np.arange(len(y), dtype=np.float64), families, rng, draws, max(1, _CELLS // cells)):
        moved = fitted + left[orders.T.astype(np.int64)]
        same = np.broadcast_to(baseline, (len(moved), *baseline.shape))
        predicted = held_out_fits(np.concatenate([same, moved], axis=2), y, families).predicted
        found.append(np.abs(y - predicted).sum(axis=1))
    return np.concatenate(found)
