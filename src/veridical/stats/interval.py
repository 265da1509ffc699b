"""An interval, and the ways in which there may be none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NOT_ESTIMABLE = "not estimable: fewer than two independent units"
TOO_FEW = "too few sets for an interval"
FEWEST_CLUSTERS = 10
"""Sets (or clusters above them) below which nothing is bootstrapped. Our choice: 95 % intervals of a mean over sets of
four items cover as little as .77 with 4 to 8 sets, .88 to .93 with 10 and .91 to .94 with 20
(`benchmarks/few_sets.py`): fewer than ten would give a narrow interval that is often wrong."""


Reason = Literal["fewer_than_two_units", "too_few_units", "degenerate"]
"""Why there is no interval."""


@dataclass(frozen=True, slots=True)
class Interval:
    """`[low, high]` at `level` by `method`; both ends are None where there is no interval.

    Then `reason` says why, and `method` names the cause: too few independent units, or a resampling whose interval
    has no width. An interval [x, x] would claim a certainty that a finite sample cannot give, so it is never made.
    """

    low: float | None
    high: float | None
    level: float
    method: str
    reason: Reason | None = None

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError(f"an interval needs both ends or neither: {self.low}, {self.high}")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"an interval needs a width: [{self.low}, {self.high}]")

    @property
    def estimable(self) -> bool:
        """Whether there is an interval: `low` and `high` are both set or both None."""
        return self.low is not None


def not_estimable(level: float) -> Interval:
    """For fewer than two independent units."""
    return Interval(None, None, level, NOT_ESTIMABLE, "fewer_than_two_units")


def too_few(n: int, level: float) -> Interval:
    """For a resampling of `n` units, fewer than `FEWEST_CLUSTERS`."""
    return Interval(None, None, level, f"{TOO_FEW}: {n}, and {FEWEST_CLUSTERS} are needed", "too_few_units")


def degenerate(level: float, method: str) -> Interval:
    """For a resampling that gives the same value at both ends."""
    return Interval(None, None, level, f"{method}: degenerate", "degenerate")
