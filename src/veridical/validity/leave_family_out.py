"""What a benchmark adds to model size, and to size and controls, for predicting an outcome in a family not seen.

Every family is held out in turn, with the penalty of a ridge regression chosen inside the others; the held-out
predictions are pooled, and errors, R² and rank correlation are taken over all of them at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import factorial, prod

import numpy as np

from veridical.stats.permutation import permutation_p
from veridical.stats.rank_correlation import rank_correlation
from veridical.stats.ridge import held_out_fits, leave_groups_out, mean_of_others
from veridical.stats.sign_flip import exact_sign_flip_p, least_sign_flip_p
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.inference import Span, Tested
from veridical.validity.intervals import adjusted, over_families
from veridical.validity.metric_gains import rho_over_families, squared_over_families
from veridical.validity.partial import Block, blocks
from veridical.validity.permuted_gain import left_within_families, permuted_errors
from veridical.validity.predicted import Predicted
from veridical.validity.relation import slope_of
from veridical.validity.results import Accuracy, Gain
from veridical.validity.ridge_draws import Drawn
from veridical.validity.seeds import generator
from veridical.validity.summaries import Baseline
from veridical.validity.table import LEAST_FAMILIES, LEAST_MODELS, ScoreTable

NULL = "the benchmark's residual given baseline and family permuted within families, {draws:,} draws"
RANKED_CELLS = 2_000_000
"""Predictions are ranked for as many draws as make so many cells, 99 at the least: sorting costs more than the rest."""
FLIP = "signs of the families' gains flipped"


def baselines_of(table: ScoreTable) -> dict[Baseline, Floats]:
    """The features of each baseline, (models, 1 or more)."""
    size = table.log_size[:, None]
    found: dict[Baseline, Floats] = {"size": size}
    if table.roles.controls:
        found["size + controls"] = np.column_stack([size, table.controls])
    return found


def fullest_baseline(table: ScoreTable) -> Floats:
    """Size and all controls, (models, 1 or more).

    Every gain rests on models that have these, whatever its own baseline, so that gains over one baseline can be
    compared with those over another, and a benchmark's with a set's.
    """
    return list(baselines_of(table).values())[-1]


def dense(families: Ints) -> Ints:
    """Codes 0 … F-1 of the families that occur, in their order."""
    codes: Ints = np.unique(families, return_inverse=True)[1].astype(np.int64)
    return codes


def accuracy(observed: Floats, predicted: Floats, mean: Floats) -> Accuracy:
    """Errors over all held-out predictions at once: per family, R² would be undefined for a family of one."""
    wrong = observed - predicted
    about_mean = float(((observed - mean) ** 2).sum())
    return Accuracy(
        mae=float(np.abs(wrong).mean()),
        rmse=float(np.sqrt((wrong**2).mean())),
        r2=1 - float((wrong**2).sum()) / about_mean if about_mean > 0 else None,
        rho=rank_correlation(observed, predicted).rho,
    )


def gain_over_families(
    gains: Floats, families: Ints, draws: int, seed: int, unit: float = 1.0
) -> tuple[Span, Tested, Floats]:
    """The interval of a mean gain (rows,), its sign flip over families, and the mean without each family (F,).

    `unit` is the spread of the outcome: what is negligible relative to it counts as no difference.
    """
    sums = np.bincount(families, weights=gains / unit).astype(np.float64)
    counts = np.bincount(families)
    without = (sums.sum() - sums) / (counts.sum() - counts)
    interval = over_families(
        np.column_stack([sums, counts]), lambda totals: totals[:, 0] / totals[:, 1], without, draws, seed
    ).scaled(unit)
    rng = np.random.default_rng([seed, 8])
    flip = Tested(p=exact_sign_flip_p(sums, rng, draws), least=least_sign_flip_p(len(sums), draws), null=FLIP)
    return interval, flip, without * unit


def unit_of(observed: Floats) -> float:
    """The spread of an outcome (rows,); 1 where it is constant."""
    return float(np.ptp(observed)) or 1.0


def error_p(errors: Floats) -> float:
    """The permutation p of the first of these errors (draws + 1,): the share of all that are not greater."""
    scaled = errors / (errors.max() or 1.0)
    return permutation_p(-float(scaled[0]), -scaled[1:])


def ranked_draws(rows: int, draws: int) -> int:
    """How many draws' predictions are ranked, the observed one with them."""
    return min(draws, max(99, RANKED_CELLS // rows)) + 1


def least_permutation_p(families: Ints, draws: int, left: Floats | None = None) -> float:
    """The smallest p that permuting within families can give: 1 / (draws + 1), or 1 over the number of orders.

    Families in which nothing is `left` (rows,) to permute have one order.
    """
    if left is not None:
        moving = np.array([np.ptp(left[families == family]) > 0 for family in range(int(families.max()) + 1)])
        families = families[moving[families]]
        if not len(families):
            return 1.0
    sizes = np.bincount(families)
    orders = prod(factorial(int(size)) for size in sizes[(sizes > 1) & (sizes < 20)]) if sizes.max() < 20 else draws + 1
    return 1 / min(orders, draws + 1)


def predictable(rows: Bools, families: Ints) -> bool:
    """Whether enough models and families are left to predict anything."""
    return bool(rows.sum() >= LEAST_MODELS and len(np.unique(families[rows])) >= LEAST_FAMILIES)


@dataclass(frozen=True, eq=False)
class _BenchmarkTask:
    """One benchmark over one baseline, for every outcome that rests on the same models."""

    benchmark: str
    baseline: Baseline
    features: Floats
    block: Block
    alone: Floats


def gains(table: ScoreTable, draws: int, seed: int) -> tuple[list[Gain], list[Predicted]]:
    """Every benchmark with every outcome over every baseline; p adjusted over the pairs of each baseline.

    A pair for which fewer than 8 models or 3 families have all that is needed is not there. Tasks run on the cores at
    hand; each has a seed of its own, so that their number changes nothing.
    """
    from threadpoolctl import threadpool_limits

    pairs = [(benchmark, outcome) for benchmark in table.roles.predictors for outcome in table.roles.outcomes]
    baselines = baselines_of(table)
    tasks = list(_tasks(table, pairs, baselines))
    with threadpool_limits(1), ThreadPoolExecutor(os.cpu_count()) as pool:
        done = pool.map(lambda task: list(_gains(table, task, draws, seed)), tasks)
        found = {(gain.benchmark, gain.outcome, gain.baseline): (gain, of) for part in done for gain, of in part}
    ordered = [found[b, o, baseline] for baseline in baselines for b, o in pairs if (b, o, baseline) in found]
    return _adjusted([gain for gain, _ in ordered]), [predicted for _, predicted in ordered]


def _tasks(
    table: ScoreTable, pairs: list[tuple[str, str]], baselines: Mapping[Baseline, Floats]
) -> Iterator[_BenchmarkTask]:
    for block in blocks(table, pairs, fullest_baseline(table)):
        if not predictable(block.rows, table.family_codes):
            continue
        families = dense(table.family_codes[block.rows])
        y = np.column_stack([table.column(name)[block.rows] for name in block.outcomes])
        for baseline, features in baselines.items():
            alone = leave_groups_out(features[block.rows], y, families)[0]
            for benchmark in block.benchmarks:
                yield _BenchmarkTask(benchmark, baseline, features, block, alone)


def _gains(table: ScoreTable, task: _BenchmarkTask, draws: int, seed: int) -> Iterator[tuple[Gain, Predicted]]:
    rows = task.block.rows
    families = dense(table.family_codes[rows])
    z, x = task.features[rows], table.column(task.benchmark)[rows]
    y = np.column_stack([table.column(name)[rows] for name in task.block.outcomes])
    rng = generator(seed, "gain", task.baseline, task.benchmark, rows.tobytes())
    drawn = permuted_errors(z, x, y, families, rng, draws, ranked_draws(len(x), draws))
    least = least_permutation_p(families, draws, left_within_families(z, x, families))
    together = held_out_fits(np.column_stack([z, x]), y, families)
    for place, outcome in enumerate(task.block.outcomes):
        predicted = Predicted(
            benchmark=task.benchmark,
            outcome=outcome,
            baseline=task.baseline,
            rows=rows,
            families=families,
            observed=y[:, place],
            mean=mean_of_others(y[:, place], families),
            without=task.alone[:, place],
            with_benchmark=together.predicted[:, place],
            slope=slope_of(together.slopes[:, -1, place], x, y[:, place]),
        )
        yield _gain(table, predicted, drawn.of(place), least, draws, seed), predicted


def _gain(table: ScoreTable, of: Predicted, drawn: Drawn, least: float, draws: int, seed: int) -> Gain:
    without = accuracy(of.observed, of.without, of.mean)
    with_benchmark = accuracy(of.observed, of.with_benchmark, of.mean)
    interval, flip, influence = gain_over_families(of.gains, of.families, draws, seed, unit_of(of.observed))
    sizes = np.bincount(of.families)
    rho_gain = None if without.rho is None or with_benchmark.rho is None else with_benchmark.rho - without.rho
    ranked = len(drawn.rho) - 1
    squared = error_p(drawn.squared)
    named = _names(table, of)
    return Gain(
        benchmark=of.benchmark,
        outcome=of.outcome,
        baseline=of.baseline,
        n=len(of.observed),
        families=len(sizes),
        fixed=int((sizes == 1).sum()),
        mean=accuracy(of.observed, of.mean, of.mean),
        without=without,
        with_benchmark=with_benchmark,
        relation=of.slope.relation,
        slope=of.slope.standardised,
        mae_gain=without.mae - with_benchmark.mae,
        rmse_gain=without.rmse - with_benchmark.rmse,
        r2_gain=None if without.r2 is None or with_benchmark.r2 is None else with_benchmark.r2 - without.r2,
        rho_gain=rho_gain,
        interval=interval,
        test=Tested(
            p=error_p(drawn.absolute),
            least=least,
            null=NULL.format(draws=draws),
        ),
        p_squared=squared,
        r2_test=None if without.r2 is None else Tested(p=squared, least=least, null=NULL.format(draws=draws)),
        r2_interval=squared_over_families(of, draws, seed),
        rho_test=None
        if rho_gain is None
        else Tested(
            p=permutation_p(float(drawn.rho[0]), drawn.rho[1:]),
            least=max(least, 1 / (ranked + 1)),
            null=NULL.format(draws=ranked),
        ),
        rho_interval=rho_over_families(of, draws, seed),
        flip=flip,
        influence={name: float(value) for name, value in zip(named, influence, strict=True)},
    )


def _names(table: ScoreTable, of: Predicted) -> Iterator[str]:
    """The families of the rows, in the order of their dense codes."""
    return (table.family_names[code] for code in np.unique(table.family_codes[of.rows]))


def _adjusted(found: list[Gain]) -> list[Gain]:
    """With every test adjusted over the pairs of each baseline."""
    groups: dict[Baseline, list[int]] = {}
    for place, gain in enumerate(found):
        groups.setdefault(gain.baseline, []).append(place)
    changed = list(found)
    for places in groups.values():
        for name in ("test", "flip", "r2_test", "rho_test"):
            for place, test in zip(places, adjusted([getattr(found[place], name) for place in places]), strict=True):
                changed[place] = changed[place].model_copy(update={name: test})
    return changed
