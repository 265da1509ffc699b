"""Partial Spearman correlations of benchmarks and outcomes, given size, family and performance on controls.

Rank everything over the models that have it all, regress on rank(log10 size), an indicator for each family and
rank(mean control), and correlate what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from veridical.stats.partial_correlation import (
    column_space,
    correlations,
    degrees_of_freedom,
    freedman_lane,
    residuals,
    student_p,
)
from veridical.stats.permutation import permutation_p
from veridical.stats.rank_correlation import average_ranks
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.inference import Span, Tested
from veridical.validity.intervals import FEW_FAMILIES, adjusted, over_families
from veridical.validity.results import Partial
from veridical.validity.seeds import generator
from veridical.validity.table import ScoreTable

NULL = "residuals of the outcome's ranks permuted (Freedman–Lane), {draws:,} draws"


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ranks over the models that have everything: covariates (rows, c), columns by name (rows,), family codes.

    `moving` are rows that are not alone in their family: the others fit their own indicator, so that nothing is left
    of them. `basis` spans constant, covariates and indicators over the moving rows; `n_controls` counts all.
    """

    covariates: Floats
    columns: Floats
    families: Ints
    moving: Bools
    basis: Floats
    n_controls: int

    @classmethod
    def of(cls, covariates: Floats, columns: Floats, families: Ints) -> Ranked:
        """From values: `covariates` (rows, c) and `columns` (rows, columns), without a missing cell."""
        covariates, columns = average_ranks(covariates), average_ranks(columns)
        sizes = np.bincount(families, minlength=int(families.max()) + 1)
        moving: Bools = sizes[families] > 1
        indicators = (families[moving, None] == np.flatnonzero(sizes > 1)).astype(np.float64)
        basis = column_space(np.column_stack([covariates[moving], indicators])) if moving.any() else np.empty((0, 1))
        n_single = int((~moving).sum())
        # The constant is among the indicators' span: rank less one are controls, and each singleton is one more.
        return cls(covariates, columns, families, moving, basis, basis.shape[1] - 1 + n_single)

    @property
    def df(self) -> int:
        """Degrees of freedom of the partial correlation: models - 2 - controls (the families' indicators included)."""
        return degrees_of_freedom(len(self.families), self.n_controls)

    def left(self) -> Floats:
        """Residuals of the columns over the moving rows, (moving rows, columns)."""
        return residuals(self.columns[self.moving], self.basis)

    def family_products(self) -> Floats:
        """Within-family products of covariates and columns about their family's means: (families, m, m).

        Their sum over families, each as often as it was drawn, is what a partial correlation with an indicator for
        each family depends on.
        """
        values = np.column_stack([self.covariates, self.columns])[self.moving]
        codes = np.unique(self.families[self.moving], return_inverse=True)[1]
        counts = np.bincount(codes)
        means = np.stack([np.bincount(codes, weights=column) for column in values.T], axis=1) / counts[:, None]
        centred = values - means[codes]
        return np.stack([centred[codes == family].T @ centred[codes == family] for family in range(len(counts))])


def partial_of_products(products: Floats, n_covariates: int) -> Floats:
    """The partial correlation of the last two variables given the first, from (draws, m, m) products about means.

    Each covariate is swept out in turn; one that is constant takes nothing with it.
    """
    left = products.copy()
    for place in range(n_covariates):
        pivot, column = left[:, place, place], left[:, :, place]
        safe = np.where(pivot > 1e-9 * np.maximum(products[:, place, place], 1e-300), pivot, np.inf)
        left = left - column[:, :, None] * column[:, None, :] / safe[:, None, None]
    spread = left[:, -1, -1] * left[:, -2, -2]
    enough = (left[:, -1, -1] > 1e-9 * products[:, -1, -1]) & (left[:, -2, -2] > 1e-9 * products[:, -2, -2])
    with np.errstate(invalid="ignore", divide="ignore"):
        r: Floats = np.where(enough, left[:, -1, -2] / np.sqrt(np.abs(spread)), np.nan)
    return np.clip(r, -1.0, 1.0)


def partial_rho(x: Floats, y: Floats, covariates: Floats, families: Ints) -> float:
    """The partial correlation of ranks of x and y (rows,) given covariates (rows, c) and families; NaN for none."""
    ranked = Ranked.of(covariates, np.column_stack([x, y]), families)
    if ranked.df < 1:
        return float("nan")
    left = ranked.left()
    return float(correlations(left[:, :1], left[:, 1])[0])


def covariates_of(table: ScoreTable) -> Floats:
    """log10 size and, where there are controls, their mean: (models, 1 or 2)."""
    if not table.roles.controls:
        return table.log_size[:, None]
    return np.column_stack([table.log_size, table.controls.mean(axis=1)])


@dataclass(frozen=True, eq=False)
class Block:
    """Benchmarks and outcomes that rest on the same models: `rows` (models,)."""

    rows: Bools
    benchmarks: tuple[str, ...]
    outcomes: tuple[str, ...]


def blocks(table: ScoreTable, pairs: Sequence[tuple[str, str]], covariates: Floats) -> Iterator[Block]:
    """The pairs of benchmark and outcome, grouped by the models that they rest on; each pair is in one block."""
    groups: dict[bytes, dict[str, list[str]]] = {}
    masks: dict[bytes, Bools] = {}
    for benchmark, outcome in pairs:
        rows = table.complete(covariates, table.column(benchmark), table.column(outcome))
        masks[rows.tobytes()] = rows
        groups.setdefault(rows.tobytes(), {}).setdefault(benchmark, []).append(outcome)
    for key, by_benchmark in groups.items():
        # Benchmarks with the same outcomes make a rectangle, whose permutations are shared.
        rectangles: dict[tuple[str, ...], list[str]] = {}
        for benchmark, predicted in by_benchmark.items():
            rectangles.setdefault(tuple(predicted), []).append(benchmark)
        for outcomes, benchmarks in rectangles.items():
            yield Block(masks[key], tuple(benchmarks), outcomes)


def partials(table: ScoreTable, draws: int, seed: int) -> list[Partial]:
    """Every benchmark with every outcome; p adjusted over all of them."""
    covariates = covariates_of(table)
    pairs = [(benchmark, outcome) for benchmark in table.roles.predictors for outcome in table.roles.outcomes]
    found: dict[tuple[str, str], Partial] = {}
    for block in blocks(table, pairs, covariates):
        found |= _of_block(table, covariates, block, draws, seed)
    ordered = [found[pair] for pair in pairs]
    tests = adjusted([one.test for one in ordered])
    return [one.model_copy(update={"test": test}) for one, test in zip(ordered, tests, strict=True)]


def _of_block(
    table: ScoreTable, covariates: Floats, block: Block, draws: int, seed: int
) -> dict[tuple[str, str], Partial]:
    names = (*block.benchmarks, *block.outcomes)
    n, n_b = int(block.rows.sum()), len(block.benchmarks)
    values = np.column_stack([table.column(name) for name in names])[block.rows]
    if n < 3:
        return {(b, o): _nothing(b, o, n) for b in block.benchmarks for o in block.outcomes}
    families = table.family_codes[block.rows]
    ranked = Ranked.of(covariates[block.rows], values, families)
    estimable = ranked.df >= 1
    left = ranked.left() if estimable else np.empty((0, len(names)))
    # The same orders for every pair over these models, in whatever blocks they stand.
    rng = generator(seed, "partial", block.rows.tobytes())
    centred = ranked.columns - ranked.columns.mean(axis=0)
    null = freedman_lane(left[:, :n_b], left[:, n_b:], ranked.basis, rng, draws) if estimable else None
    products = ranked.family_products() if estimable else np.empty((0, 0, 0))
    few = len(products) < FEW_FAMILIES
    c = covariates.shape[1]
    found = {}
    for o, outcome in enumerate(block.outcomes):
        rhos = correlations(left[:, :n_b], left[:, n_b + o]) if estimable else np.full(n_b, np.nan)
        for b, benchmark in enumerate(block.benchmarks):
            if null is None or not np.isfinite(rhos[b]):
                found[benchmark, outcome] = _nothing(benchmark, outcome, n)
                continue
            rho = float(rhos[b])
            picked = [*range(c), c + b, c + n_b + o]
            own = products[:, picked][:, :, picked]
            found[benchmark, outcome] = Partial(
                benchmark=benchmark,
                outcome=outcome,
                n=n,
                controls=ranked.n_controls,
                df=ranked.df,
                rho=rho,
                plain=float(correlations(centred[:, [b]], centred[:, n_b + o])[0]),
                p_student=student_p(rho, ranked.df),
                interval=over_families(
                    own.reshape(len(own), -1),
                    lambda totals: partial_of_products(totals.reshape(-1, c + 2, c + 2), c),
                    _left_out(values[:, [b, n_b + o]], covariates[block.rows], families) if few else (),
                    draws,
                    seed,
                ),
                test=Tested(
                    p=permutation_p(abs(rho), np.abs(null[:, o, b])),
                    least=1 / (draws + 1),
                    null=NULL.format(draws=draws),
                ),
                singletons=int((~ranked.moving).sum()),
            )
    return found


def _left_out(values: Floats, covariates: Floats, families: Ints) -> list[float]:
    """The partial correlation of two columns without each family, ranked anew."""
    return [
        partial_rho(values[rows, 0], values[rows, 1], covariates[rows], families[rows])
        for family in np.unique(families)
        if (rows := families != family).sum() > 2
    ]


def _nothing(benchmark: str, outcome: str, n: int) -> Partial:
    return Partial(
        benchmark=benchmark,
        outcome=outcome,
        n=n,
        controls=0,
        df=0,
        rho=None,
        plain=None,
        p_student=None,
        interval=Span(method="not estimable: no degree of freedom left, or nothing varies within families"),
        test=None,
        singletons=0,
    )
