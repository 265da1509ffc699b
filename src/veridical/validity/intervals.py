"""Intervals over families, and the range over leaving each out where families are few."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from veridical.stats.bootstrap import percentile_interval
from veridical.stats.interval import Interval
from veridical.stats.multiple import benjamini_hochberg, holm
from veridical.stats.units import Floats
from veridical.validity.inference import Span, Tested

FEW_FAMILIES = 8
"""With fewer families than this none is resampled: the range over leaving each out takes its place."""
LEVEL = 0.95
RANGE = "range over leaving each family out (no confidence interval)"


def span(interval: Interval) -> Span:
    """The interval in the form in which results store it."""
    return Span(low=interval.low, high=interval.high, level=interval.level, method=interval.method)


@lru_cache(maxsize=64)
def family_weights(families: int, draws: int, seed: int) -> Floats:
    """How often each family is drawn, (draws, families): whole families with replacement, as many as there are.

    The same for every statistic over as many families, so that their draws need be made once.
    """
    weights: Floats = (
        np.random.default_rng([seed, 7, families])
        .multinomial(families, np.full(families, 1 / families), size=draws)
        .astype(np.float64)
    )
    return weights


def over_families(
    totals: Floats, statistic: Callable[[Floats], Floats], left_out: Sequence[float] | Floats, draws: int, seed: int
) -> Span:
    """The interval of a statistic of totals over families (families, columns), as it suits their number.

    `left_out` is the statistic without each family, for the range.
    """
    if len(totals) < FEW_FAMILIES:
        return leave_one_out_range(left_out)
    drawn = statistic(family_weights(len(totals), draws, seed) @ totals)
    return span(percentile_interval(drawn[np.isfinite(drawn)], LEVEL, "bootstrap over families"))


def leave_one_out_range(left_out: Sequence[float] | Floats) -> Span:
    """Least and greatest of the finite values, one for each family left out; no ends where all are equal."""
    values = np.asarray(left_out, dtype=np.float64)
    values = values[np.isfinite(values)]
    if not len(values) or values.min() == values.max():
        return Span(method=f"{RANGE}: not estimable")
    return Span(low=float(values.min()), high=float(values.max()), method=RANGE)


def adjusted(tests: Sequence[Tested | None]) -> list[Tested | None]:
    """The tests of one family with p adjusted over all of them; where nothing was tested, nothing."""
    there = [test for test in tests if test is not None]
    p = [test.p for test in there]
    changed = iter(
        test.model_copy(update={"holm": by_holm, "bh": by_bh, "tests": len(p)})
        for test, by_holm, by_bh in zip(there, holm(p), benjamini_hochberg(p), strict=True)
    )
    return [None if test is None else next(changed) for test in tests]
