"""Two columns exchanged at random within models: the null of a difference in how well they predict.

Where neither predicts better, it does not matter which of a model's two scores is called the original. Both are taken
given the baseline and in their own standard deviations, so that neither their units nor how far size explains them
makes a difference; what the baseline predicts of each column stays with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.ridge_draws import HeldOutRidge, blocks_of


@dataclass(frozen=True, eq=False)
class ColumnPair:
    """Two columns (rows, 2) as what a baseline predicts of them, and residuals in standard deviations (`scales`).

    Residuals that go against each other (one column counts errors) are exchanged with their sign turned.
    """

    fitted: Floats
    left: Floats
    scales: Floats
    turned: float

    @classmethod
    def of(cls, columns: Floats, baseline: Floats) -> ColumnPair:
        """Regress two columns (rows, 2) on a baseline (rows, k) with an intercept. A column that the baseline fits
        exactly has scale 0."""
        centred = baseline - baseline.mean(axis=0)
        scale = np.abs(centred).max(axis=0)
        design = np.column_stack([np.ones(len(columns)), centred / np.where(scale > 0, scale, 1.0)])
        fitted = design @ np.linalg.lstsq(design, columns, rcond=None)[0]
        left = columns - fitted
        spread = left.std(axis=0)
        scales = np.where(spread > 1e-9 * np.maximum(columns.std(axis=0), 1e-300), spread, 0.0)
        unit = left / np.where(scales > 0, scales, 1.0)
        return cls(fitted, unit, scales, -1.0 if float(unit[:, 0] @ unit[:, 1]) < 0 else 1.0)

    @property
    def exchangeable(self) -> bool:
        """Whether anything is left of both columns once the baseline is known."""
        return bool((self.scales > 0).all())

    def exchanged(self, place: int, swaps: Bools) -> Floats:
        """One of the columns with the other's residuals where `swaps` (draws, rows) says so, as (rows, draws)."""
        own, other = self.left[:, place], self.turned * self.left[:, 1 - place]
        exchanged: Floats = self.fitted[:, place] + self.scales[place] * np.where(swaps, other, own)
        return exchanged.T


def swaps_of(rng: np.random.Generator, draws: int, models: int) -> Bools:
    """Which models' scores each draw exchanges, (draws + 1, models); the first, as observed, none."""
    swaps = np.zeros((draws + 1, models), dtype=np.bool_)
    swaps[1:] = rng.integers(0, 2, size=(draws, models), dtype=np.int8) > 0
    return swaps


def exchanged_differences(baseline: Floats, columns: Floats, y: Floats, families: Ints, swaps: Bools) -> Floats:
    """Held-out MAE with the second column less that with the first, for each exchange: (draws, outcomes).

    `columns` (rows, 2), `y` (rows, outcomes), `swaps` (draws, rows). The penalty is chosen anew for every draw.
    """
    pair, ridge = ColumnPair.of(columns, baseline), HeldOutRidge(baseline, y, families)

    def blocks(place: int) -> Iterator[Floats]:
        for start, stop in blocks_of(len(swaps), ridge.block_size()):
            yield pair.exchanged(place, swaps[start:stop])

    of_first, of_second = (ridge.errors(blocks(place)).absolute for place in (0, 1))
    differences: Floats = (of_second - of_first) / len(y)
    return differences


def least_exchange_p(models: int, draws: int) -> float:
    """The smallest two-sided p that exchanging within models can give: a pattern and its mirror image differ alike."""
    return max(2.0 ** (1 - models), 1 / (draws + 1))
