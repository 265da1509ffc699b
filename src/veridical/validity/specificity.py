"""Does a benchmark predict outcomes of its own axis better than those of others?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import permutations
from math import factorial, prod
from typing import Literal

import numpy as np

from veridical.stats.permutation import permutation_p
from veridical.stats.units import Floats, Ints
from veridical.validity.results import Gain, Partial, Specificity, Tested
from veridical.validity.roles import Roles

Statistic = Literal["partial rho", "relative MAE gain"]
EXACT = 8
"""Up to so many outcomes every order of their axes is looked at; above, draws take their place."""
NULL = "axes of the outcomes permuted, {how}"
_BLOCK = 4_000


def specificity(
    roles: Roles, partials: Sequence[Partial], gains: Sequence[Gain], draws: int, seed: int
) -> list[Specificity]:
    """Within-axis less across-axis means of partial rho, and of the MAE gain as a share of the baseline's error.

    The gain is the one over the fullest baseline. Benchmarks and outcomes without an axis take no part.
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
    benchmarks = [one for one in roles.predictors if roles.axes.get(one)]
    outcomes = [one for one, axis in roles.outcomes.items() if axis]
    names = sorted({*(roles.axes[one] for one in benchmarks), *(roles.outcomes[one] for one in outcomes)})
    own = np.array([names.index(roles.axes[one]) for one in benchmarks], dtype=np.int64)
    axes = np.array([names.index(roles.outcomes[one]) for one in outcomes], dtype=np.int64)
    table = np.array([[values.get((b, o), np.nan) for o in outcomes] for b in benchmarks]).reshape(len(own), len(axes))
    if not len(own) or len(set(axes.tolist())) < 2:
        return None
    within = own[:, None] == axes[None, :]
    there = np.isfinite(table)
    if not (within & there).any() or not (~within & there).any():
        return None
    observed = float(differences(table, own, axes[None])[0])
    arrangements = factorial(len(axes)) // prod(factorial(count) for count in Counter(axes.tolist()).values())
    if len(axes) <= EXACT:
        null = differences(table, own, np.array(list(permutations(axes.tolist())), dtype=np.int64))
        null = null[np.isfinite(null)]
        p = float((null >= observed - 1e-9).mean())
        how, least = f"every one of {arrangements:,} arrangements", 1 / arrangements
    else:
        null = differences(table, own, rng.permuted(np.broadcast_to(axes, (draws, len(axes))), axis=1))
        p = permutation_p(observed, null[np.isfinite(null)])
        how, least = f"{draws:,} draws", 1 / min(draws + 1, arrangements)
    mean_within, mean_across = float(table[within & there].mean()), float(table[~within & there].mean())
    return Specificity(
        statistic=name,
        within=mean_within,
        across=mean_across,
        difference=observed,
        within_pairs=int((within & there).sum()),
        across_pairs=int((~within & there).sum()),
        test=Tested(p=p, least=least, null=NULL.format(how=how)),
    )


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
