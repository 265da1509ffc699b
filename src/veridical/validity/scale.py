"""The scale of a column of scores: fractions of 1, or percentages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from veridical.stats.units import Floats


@dataclass(frozen=True)
class Scale:
    """The highest score that there can be, 1 or 100. `known` says that the table or its user names the scale."""

    top: float
    known: bool

    @property
    def words(self) -> str:
        """What the scores are taken for: `percentages`, `fractions of 1 (assumed: none is above 1)`."""
        name = "percentages" if self.top > 1 else "fractions of 1"
        why = "some are" if self.top > 1 else "none is"
        return name if self.known else f"{name} (assumed: {why} above 1)"


def scale_of(name: str, scores: Floats, percent: Collection[str]) -> Scale | None:
    """The scale of a column's scores, NaN among them; None where they are on neither, or where there are none.

    Columns under `percent` hold percentages. Any other holds fractions where no score is above 1, else percentages.
    """
    there = scores[np.isfinite(scores)]
    if not len(there) or there.min() < 0 or there.max() > 100:
        return None
    if name in percent:
        return Scale(100.0, known=True)
    return Scale(1.0 if there.max() <= 1 else 100.0, known=False)
