"""Held-out predictions of one outcome, with a benchmark and without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.relation import Slope
from veridical.validity.summaries import Baseline


@dataclass(frozen=True, eq=False)
class Predicted:
    """Held-out predictions of one outcome, all (rows,): with a benchmark, without it, and by the mean of the others.

    `slope` is the benchmark's in the fits without each family."""

    benchmark: str
    outcome: str
    baseline: Baseline
    rows: Bools
    families: Ints
    observed: Floats
    mean: Floats
    without: Floats
    with_benchmark: Floats
    slope: Slope

    @property
    def gains(self) -> Floats:
        """How much smaller each model's absolute error is with the benchmark, (rows,)."""
        return np.abs(self.observed - self.without) - np.abs(self.observed - self.with_benchmark)
