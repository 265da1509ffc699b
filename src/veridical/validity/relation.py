"""The sign of a benchmark's relation with an outcome, given a baseline: a gain alone does not say it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical.stats.units import Floats
from veridical.validity.summaries import Relation

NEXT_TO_NOTHING = 1e-9
"""Standardised slopes below this have no sign."""


@dataclass(frozen=True, slots=True)
class Slope:
    """A sign over fits, and the mean slope in the outcome's standard deviations by the benchmark's."""

    relation: Relation
    standardised: float


def slope_of(slopes: Floats, x: Floats, y: Floats) -> Slope:
    """The relation that slopes (fits,) of x (rows,) for y (rows,) show: one sign where every fit has it."""
    spread = float(y.std())
    if spread == 0:
        return Slope("none", 0.0)
    standardised = slopes * float(x.std()) / spread
    signs = set(np.sign(np.where(np.abs(standardised) > NEXT_TO_NOTHING, standardised, 0.0)).tolist()) - {0.0}
    mean = float(standardised.mean())
    if not signs:
        return Slope("none", mean)
    if len(signs) == 2:
        return Slope("mixed", mean)
    return Slope("positive" if signs == {1.0} else "negative", mean)
