"""The null of a benchmark's gain: its residual permuted within families, and everything done again."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from veridical.stats.units import Floats, Ints
from veridical.validity.ridge_draws import Drawn, HeldOutRidge, blocks_of


def permuted_errors(
    baseline: Floats, x: Floats, y: Floats, families: Ints, rng: np.random.Generator, draws: int, ranked: int = 0
) -> Drawn:
    """Held-out errors of `draws` permutations, after those of the benchmark as observed: (draws + 1, outcomes).

    `baseline` (rows, q), `x` (rows,), `y` (rows, outcomes); `families` are codes 0 … F-1. A family with one row stays
    fixed. Rank correlations are of the first `ranked` of these.
    """
    ridge = HeldOutRidge(baseline, y, families)
    fitted = fitted_within_families(baseline, x[:, None], families)[:, 0]
    blocks = permuted(x - fitted, families, rng, draws, ridge.block_size())
    return ridge.errors((fitted[:, None] + block for block in blocks), ranked)


def fitted_within_families(baseline: Floats, x: Floats, families: Ints) -> Floats:
    """What the baseline and a mean for each family predict of columns x (rows, columns).

    A family's mean is among it, since permuting within families leaves it where it is: without it, a slope between
    families would be taken for one within them, and what is left would still go with the baseline there.
    """
    indicators = (families[:, None] == np.arange(int(families.max()) + 1)).astype(np.float64)
    centred = baseline - baseline.mean(axis=0)
    scale = np.abs(centred).max(axis=0)
    design = np.column_stack([indicators, centred / np.where(scale > 0, scale, 1.0)])
    fitted: Floats = design @ np.linalg.lstsq(design, x, rcond=None)[0]
    # A family of one, a constant column and what nothing is left of are fitted exactly but for rounding, which grows
    # with the scores themselves and not with their spread.
    rounding = 1e-9 * np.abs(x - x.mean(axis=0)).max(axis=0) + 1e-12 * np.abs(x).max(axis=0)
    close = np.abs(x - fitted) <= rounding
    return np.where(close, x, fitted)


def left_within_families(baseline: Floats, x: Floats, families: Ints) -> Floats:
    """What baseline and family means leave of x (rows,): exactly 0 where they say it all."""
    left: Floats = x - fitted_within_families(baseline, x[:, None], families)[:, 0]
    return left


def permuted(left: Floats, families: Ints, rng: np.random.Generator, draws: int, size: int) -> Iterator[Floats]:
    """Blocks (rows, up to `size`) of residuals (rows,) permuted within families; the first draw is as observed.

    Each family has a generator of its own, so that the size of blocks changes nothing.
    """
    members = [np.flatnonzero(families == family) for family in range(int(families.max()) + 1)]
    generators = rng.spawn(len(members))
    for start, stop in blocks_of(draws + 1, size):
        block = np.repeat(left[:, None], stop - start, axis=1)
        first = 1 if start == 0 else 0
        for rows, own in zip(members, generators, strict=True):
            if len(rows) > 1:
                block[rows, first:] = own.permuted(block[rows, first:].T, axis=1).T
        yield block
