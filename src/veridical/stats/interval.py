"""An interval, and the ways in which there may be none."""

from __future__ import annotations

from dataclasses import dataclass

NOT_ESTIMABLE = "not estimable: fewer than two independent units"


@dataclass(frozen=True, slots=True)
class Interval:
    """`[low, high]` at `level` by `method`; both ends are None where there is no interval.

    Then `method` says why: fewer than two independent units, or a resampling whose interval has no width. An
    interval [x, x] would claim a certainty that a finite sample cannot give, so it is never made.
    """

    low: float | None
    high: float | None
    level: float
    method: str

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            raise ValueError(f"an interval needs both ends or neither: {self.low}, {self.high}")
        if self.low is not None and self.high is not None and not self.low < self.high:
            raise ValueError(f"an interval needs a width: [{self.low}, {self.high}]")

    @property
    def estimable(self) -> bool:
        return self.low is not None


def not_estimable(level: float) -> Interval:
    return Interval(None, None, level, NOT_ESTIMABLE)


def degenerate(level: float, method: str) -> Interval:
    """For a resampling that gives the same value at both ends."""
    return Interval(None, None, level, f"{method}: degenerate")
