"""An interval and a test, as every record of a validity analysis holds them."""

from __future__ import annotations

from typing import Self

from veridical.items import Frozen
from veridical.judge.measure import Finite


class Span(Frozen):
    """An interval at `level` and how it was made; both ends are null where there is none, and `method` says why.

    The range over leaving each family out is not a confidence interval and has no level.
    """

    low: Finite | None = None
    high: Finite | None = None
    level: Finite | None = None
    method: str

    def scaled(self, factor: float) -> Self:
        """The interval in another unit: both ends times `factor`, which is above 0."""
        if self.low is None or self.high is None:
            return self
        return self.model_copy(update={"low": self.low * factor, "high": self.high * factor})


class Tested(Frozen):
    """A p-value in its family of tests: `holm` and `bh` are adjusted over `tests` of them."""

    p: Finite
    holm: Finite | None = None
    bh: Finite | None = None
    tests: int = 1
    least: Finite = 0.0
    """The smallest value that this test can give with these data."""
    null: str
