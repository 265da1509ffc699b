"""Adjusted p-values for a family of tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import stats


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down adjustment: controls the chance of any false rejection, whatever the dependence.

    Holm 1979, Scandinavian Journal of Statistics 6:65-70: the i-th smallest of m (from 0) is multiplied by
    m - i, made monotone and cut at 1. In the order given.
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    stepped = p[order] * np.arange(len(p), 0, -1)
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(stepped), 1.0)
    return [float(value) for value in adjusted]


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjustment that controls the false discovery rate (Benjamini & Hochberg 1995, JRSS B 57:289-300)."""
    if not len(p_values):
        return []
    return [float(value) for value in stats.false_discovery_control(p_values, method="bh")]
