"""Does a benchmark predict outcomes of its own axis better than those of others?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import factorial, prod
from typing import Literal

import numpy as np

from veridical.stats.permutation import permutation_p
from veridical.stats.units import Floats, Ints
from veridical.validity.inference import Tested
from veridical.validity.results import Gain, Partial
from veridical.validity.roles import Roles
from veridical.validity.summaries import Specificity

Statistic = Literal["partial rho", "relative MAE gain"]
EXACT = 8
"""Up to so many outcomes every order of their axes is looked at; above, draws take their place."""
NULL = "axes of the outcomes permuted, {without} taken out, {how}"
_TIES = 1e-9
_BLOCK = 4_000


@dataclass(frozen=True, eq=False)
class AxisTable:
    """Values of benchmarks and outcomes that have an axis, (benchmarks, outcomes), NaN where a pair is missing; `own`
    and `axes` are the places of their axes among `names`."""

    names: tuple[str, ...]
    values: Floats
    own: Ints
    axes: Ints

    @classmethod
    def of(cls, roles: Roles, values: Mapping[tuple[str, str], float]) -> AxisTable:
        """The table of `values` by (benchmark, outcome), over those that have an axis."""
        benchmarks = [one for one in roles.predictors if roles.axes.get(one)]
        outcomes = [one for one, axis in roles.outcomes.items() if axis]
        names = sorted({*(roles.axes[one] for one in benchmarks), *(roles.outcomes[one] for one in outcomes)})
        own = np.array([names.index(roles.axes[one]) for one in benchmarks], dtype=np.int64)
        axes = np.array([names.index(roles.outcomes[one]) for one in outcomes], dtype=np.int64)
        cells = [[values.get((b, o), np.nan) for o in outcomes] for b in benchmarks]
        return cls(tuple(names), np.array(cells).reshape(len(own), len(axes)), own, axes)


def specificity(
    roles: Roles, partials: Sequence[Partial], gains: Sequence[Gain], draws: int, seed: int
) -> list[Specificity]:
    """Within-axis less across-axis means of partial rho, and of the MAE gain as a share of the baseline's error.

    Both are taken after the means of each benchmark and each outcome are taken out (`double_centred`), so that an axis
    whose outcomes are predicted well by everything is not an effect of axes. The gain is the one over the fullest
    baseline. Benchmarks and outcomes without an axis take no part.
    """
    last = gains[-1].baseline if gains else "size"
    values: dict[Statistic, Mapping[tuple[str, str], float]] = {
        "partial rho": {(one.benchmark, one.outcome): one.rho for one in partials if one.rho is not None},
        "relative MAE gain": {
            (one.benchmark, one.outcome): one.mae_gain / one.without.mae
            for one in gains
            if one.baseline == last and one.without.mae > 0
        },
    }
    rng = np.random.default_rng([seed, 5])
    found = (_specificity(name, roles, of_pair, rng, draws) for name, of_pair in values.items())
    return [one for one in found if one is not None]


def _specificity(
    name: Statistic, roles: Roles, values: Mapping[tuple[str, str], float], rng: np.random.Generator, draws: int
) -> Specificity | None:
    by_axis = AxisTable.of(roles, values)
    table, own, axes = by_axis.values, by_axis.own, by_axis.axes
    if not len(own) or len(set(axes.tolist())) < 2:
        return None
    within = own[:, None] == axes[None, :]
    there = np.isfinite(table)
    if not (within & there).any() or not (~within & there).any():
        return None
    centred = double_centred(table)
    # With nothing left there is no interaction to look for: benchmarks of one axis alone, or a table of one row.
    if (
        not np.abs(np.nan_to_num(centred)).max() > 1e-9 * np.abs(np.nan_to_num(table)).max()
        or len(set(own.tolist())) < 2
    ):
        return None
    test = _tested(centred, own, axes, rng, draws, "benchmark and outcome means")
    beyond = without_common_factor(table, centred)
    strict = _tested(beyond, own, axes, rng, draws, "benchmark and outcome means, and their product,")
    return Specificity(
        statistic=name,
        within=float(centred[within & there].mean()),
        across=float(centred[~within & there].mean()),
        difference=float(differences(centred, own, axes[None])[0]),
        raw_within=float(table[within & there].mean()),
        raw_across=float(table[~within & there].mean()),
        within_pairs=int((within & there).sum()),
        across_pairs=int((~within & there).sum()),
        test=test,
        common_factor_test=strict,
    )


def _tested(table: Floats, own: Ints, axes: Ints, rng: np.random.Generator, draws: int, without: str) -> Tested:
    """One-sided p of within less across over arrangements of the outcomes' axes."""
    return by_arrangements(lambda arranged: differences(table, own, arranged), axes, rng, draws, without)


def by_arrangements(
    statistic: Callable[[Ints], Floats], axes: Ints, rng: np.random.Generator, draws: int, without: str
) -> Tested:
    """One-sided p of a statistic of the outcomes' axes (arrangements, outcomes) over arrangements of them."""
    observed = float(statistic(axes[None])[0])
    arrangements = factorial(len(axes)) // prod(factorial(count) for count in Counter(axes.tolist()).values())
    if len(axes) <= EXACT:
        null = statistic(np.array(sorted(set(permutations(axes.tolist()))), dtype=np.int64))
        null = null[np.isfinite(null)]
        p, least = (float((null >= value - _TIES).mean()) for value in (observed, null.max()))
        how = f"every one of {arrangements:,} arrangements"
    else:
        null = statistic(rng.permuted(np.broadcast_to(axes, (draws, len(axes))), axis=1))
        p, least = permutation_p(observed, null[np.isfinite(null)]), 1 / min(draws + 1, arrangements)
        how = f"{draws:,} draws"
    return Tested(p=p, least=least, null=NULL.format(without=without, how=how))


def double_centred(table: Floats) -> Floats:
    """What is left of (benchmarks, outcomes) after a mean for each row and column, by least squares over its cells.

    A benchmark that predicts everything well and an outcome that everything predicts well are not evidence on axes.
    Missing cells (NaN) stay missing.
    """
    rows, columns = np.nonzero(np.isfinite(table))
    design = np.zeros((len(rows), sum(table.shape)))
    design[np.arange(len(rows)), rows] = 1
    design[np.arange(len(rows)), table.shape[0] + columns] = 1
    values = table[rows, columns]
    centred = np.full(table.shape, np.nan)
    centred[rows, columns] = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return centred


def without_common_factor(table: Floats, centred: Floats) -> Floats:
    """What is left of a double-centred table after the product of benchmark and outcome effects, by least squares.

    Where all columns share one factor, a pair's correlation is the product of two loadings. That is not a sum of a
    benchmark's and an outcome's effect: if both are higher on one axis, pairs within it stand out without any part of
    their own. The product is Tukey's one degree of freedom for non-additivity (1949, Biometrics 5:232-242).
    """
    fitted = table - centred
    mean = np.nanmean(fitted)
    benchmark, outcome = np.nanmean(fitted, axis=1) - mean, np.nanmean(fitted, axis=0) - mean
    both = np.where(np.isfinite(table), np.outer(benchmark, outcome), 0.0)
    square = float((both**2).sum())
    if square <= _TIES * np.nanmax(np.abs(table)) ** 4:
        return centred
    return centred - float((np.nan_to_num(centred) * both).sum()) / square * both


def differences(table: Floats, own: Ints, axes: Ints) -> Floats:
    """Mean within axes less mean across, for each row of `axes` (arrangements, outcomes); NaN where one has no pair.

    `table` is (benchmarks, outcomes), NaN where a pair is missing; `own` (benchmarks,) are the benchmarks' axes.
    """
    there, filled = np.isfinite(table).astype(np.float64), np.nan_to_num(table)
    found = np.empty(len(axes))
    for start in range(0, len(axes), _BLOCK):
        within = (own[None, :, None] == axes[start : start + _BLOCK, None, :]).astype(np.float64)
        n, total = np.einsum("abo,bo->a", within, there), np.einsum("abo,bo->a", within, filled)
        with np.errstate(invalid="ignore", divide="ignore"):
            found[start : start + _BLOCK] = total / n - (filled.sum() - total) / (there.sum() - n)
    return found
