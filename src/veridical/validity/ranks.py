"""Rankings of models: how a reworked benchmark ranks them compared with the original, and how sure each rank is."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations, pairwise

import numpy as np
from scipy import stats

from veridical.stats.rank_correlation import average_ranks, rank_correlation
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.inference import Tested
from veridical.validity.intervals import LEVEL, adjusted, span
from veridical.validity.results import Correlation, RankAgreement, RankedModel, Ranking, RankMove
from veridical.validity.seeds import generator
from veridical.validity.table import ScoreTable

MOVES = 10
RANK_DRAWS = 1_000
"""Draws of a ranking; its intervals are of whole ranks, for which these are plenty. A choice of Veridical."""
_SPARSE = 10
LISTED = 60
"""Up to so many models, every pair that cannot be distinguished is named."""
T_NULL = "rho is 0 (Student's t on n − 2 degrees of freedom)"


def correlations(table: ScoreTable) -> list[Correlation]:
    """Spearman and Kendall of every two columns, each pair over the models that have both; p adjusted over all."""
    found = []
    for first, second in combinations(table.names, 2):
        pair = rank_correlation(table.column(first), table.column(second), LEVEL)
        test = None if pair.p is None else Tested(p=pair.p, null=T_NULL)
        found.append(
            Correlation(
                first=first,
                second=second,
                n=pair.n,
                rho=pair.rho,
                tau=pair.tau,
                interval=span(pair.interval),
                test=test,
            )
        )
    tests = adjusted([one.test for one in found])
    return [one.model_copy(update={"test": test}) for one, test in zip(found, tests, strict=True)]


def agreements(table: ScoreTable) -> list[RankAgreement]:
    """Each reworked version against its original, with the models that move most."""
    found = []
    for reworked, original in table.roles.variants.items():
        new, old = table.column(reworked), table.column(original)
        both: Bools = np.isfinite(new) & np.isfinite(old)
        pair = rank_correlation(new, old, LEVEL)
        ranks = np.column_stack([average_ranks(-old[both]), average_ranks(-new[both])])
        largest = np.argsort(-np.abs(ranks[:, 1] - ranks[:, 0]), kind="stable")[:MOVES]
        names = [model for model, there in zip(table.models, both, strict=True) if there]
        moves = tuple(
            RankMove(model=names[place], original=float(ranks[place, 0]), reworked=float(ranks[place, 1]))
            for place in largest
            if ranks[place, 0] != ranks[place, 1]
        )
        found.append(
            RankAgreement(
                reworked=reworked,
                original=original,
                n=pair.n,
                rho=pair.rho,
                tau=pair.tau,
                interval=span(pair.interval),
                moves=moves,
            )
        )
    return found


def rankings(table: ScoreTable, answers: Mapping[str, Floats], seed: int) -> list[Ranking]:
    """A ranking of each column. `answers` are scores of sets by column, (models, sets), where sets are at hand."""
    found = []
    for name in table.names:
        rng = generator(seed, "ranking", name)
        values = table.column(name)
        there = np.isfinite(values)
        models = [model for model, known in zip(table.models, there, strict=True) if known]
        scores = values[there]
        n_items = table.roles.items.get(name)
        sets = answers.get(name)
        if sets is not None and np.isfinite(sets[there]).all() and sets.shape[1] > 1:
            drawn = _drawn_sets(sets[there], rng)
            ranks = average_ranks(-drawn.T).T
            method = f"bootstrap over {sets.shape[1]:,} sets, the same for every model"
            apart = _apart_by_draws(drawn)
        elif n_items is not None and (scale := table.scale(name)) is not None:
            shares = np.clip(scores / scale.top, 0, 1)
            ranks = count_ranks(rng.binomial(n_items, shares, size=(RANK_DRAWS, len(shares))), n_items)
            method = f"binomial bootstrap, {n_items:,} items a model; {scale.words}"
            apart = _apart_by_newcombe(shares, n_items)
        else:
            why = "the number of items is not known" if n_items is None else "neither fractions of 1 nor percentages"
            found.append(_ranking(name, f"no interval: {why}", models, scores, None, None))
            continue
        low, high = np.quantile(ranks, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        found.append(_ranking(name, method, models, scores, np.stack([low, high]), apart))
    return found


def count_ranks(counts: Ints, most: int) -> Floats:
    """Ranks within each row of (draws, models), 1 for the highest count; ties share their mean. Counts are 0 … `most`.

    Counting sort: a rank is the number of higher counts, and half of one more than those that tie. Where there are far
    more values than models, sorting is quicker, and takes less memory.
    """
    draws, n = counts.shape
    if most > _SPARSE * n:
        return average_ranks(-counts.T.astype(np.float64)).T
    cells = counts + (np.arange(draws) * (most + 1))[:, None]
    with_count = np.bincount(cells.ravel(), minlength=draws * (most + 1)).reshape(draws, most + 1)
    higher = n - np.cumsum(with_count, axis=1)
    ranks: Floats = (higher + (with_count + 1) / 2).ravel()[cells]
    return ranks


def _drawn_sets(sets: Floats, rng: np.random.Generator) -> Floats:
    """Mean scores over resampled sets, (draws, models)."""
    n = sets.shape[1]
    weights = rng.multinomial(n, np.full(n, 1 / n), size=RANK_DRAWS) / n
    means: Floats = weights @ sets.T
    return means


def _apart_by_draws(drawn: Floats) -> Bools:
    """Whether the interval of the difference of two models leaves out 0, (models, models)."""
    n = drawn.shape[1]
    apart = np.zeros((n, n), dtype=bool)
    for model in range(n):
        differences = drawn - drawn[:, [model]]
        low, high = np.quantile(differences, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
        apart[model] = (low > 0) | (high < 0)
    return apart


def _apart_by_newcombe(shares: Floats, n_items: int) -> Bools:
    """Whether Newcombe's interval of the difference of two proportions leaves out 0, (models, models).

    As `veridical.stats.proportions.newcombe`, for all pairs at once. Answers to the same items are correlated, so that
    it errs towards not telling apart.
    """
    p = np.round(shares * n_items) / n_items
    low, high = _wilson(p, n_items)
    difference = p[:, None] - p[None, :]
    below = np.sqrt((p - low)[:, None] ** 2 + (high - p)[None, :] ** 2)
    apart: Bools = (difference - below > 0) | (difference - below > 0).T
    return apart


def _wilson(p: Floats, n: int) -> tuple[Floats, Floats]:
    """Wilson's limits for many proportions of n at once, in closed form (`veridical.stats.proportions.wilson`)."""
    z = float(stats.norm.ppf((1 + LEVEL) / 2))
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return centre - half, centre + half


def _ranking(
    name: str, method: str, models: list[str], scores: Floats, limits: Floats | None, apart: Bools | None
) -> Ranking:
    ranks = average_ranks(-scores) if len(scores) else scores
    order = np.argsort(ranks, kind="stable")
    n = len(models)
    listed = tuple(
        RankedModel(
            model=models[place],
            score=float(scores[place]),
            rank=float(ranks[place]),
            low=None if limits is None else float(limits[0, place]),
            high=None if limits is None else float(limits[1, place]),
        )
        for place in order
    )
    inseparable = neighbours = None
    alike: tuple[tuple[str, str], ...] = ()
    if apart is not None:
        follows = list(pairwise(order) if n > LISTED else combinations(order, 2))
        alike = tuple((models[a], models[b]) for a, b in follows if not apart[a, b])
        inseparable = int((~apart)[np.triu_indices(n, 1)].sum())
        neighbours = int(sum(not apart[a, b] for a, b in pairwise(order)))
    return Ranking(
        column=name,
        method=method,
        models=listed,
        pairs=n * (n - 1) // 2,
        inseparable=inseparable,
        neighbours=neighbours,
        alike=alike,
    )
