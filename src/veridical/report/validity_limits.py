"""What of a large table the page of criterion validity shows: the rest is in validity.json, and the page says so.

A page is to open in a browser and to travel by mail. Each part has a budget of rows for the whole page, divided among
the outcomes, columns or variants that share it, so that the page stays under 3 MB however large the table is. All
numbers here are Veridical's choice.
"""

from __future__ import annotations

from collections.abc import Sequence

from veridical.validity.results import Correlation, Gain, Validity

PAIRS = 300
"""Rows of the table of pairs of columns."""
FULL_HEATMAP = 40
"""Up to so many columns each cell of the heat map has n and p in its tooltip; above, the correlation alone."""
TALLEST = 1600
"""Pixels of the heat map's height."""
SENTENCES = 200
DISATTENUATED = 200
_GAINS = 800
_INFLUENCE = 8_000
_RANKS = 3_000
_ALIKE = 2_000
_POINTS = 6_000
_LINES = 3_000
_LEAST = 10


def share(budget: int, parts: int) -> int:
    """Rows for one of so many parts, never fewer than can be read."""
    return max(_LEAST, budget // max(parts, 1))


def points(record: Validity) -> int:
    """Models drawn in the chart of one outcome."""
    return share(_POINTS, len(record.outcomes))


def lines(record: Validity) -> int:
    """Models drawn in one rank flow."""
    return share(_LINES, len(record.agreements))


def rank_rows(record: Validity) -> int:
    """Models listed in one ranking."""
    return min(200, share(_RANKS, len(record.rankings)))


def alike_pairs(record: Validity) -> int:
    """Pairs of models that cannot be ordered, listed for one ranking."""
    return min(200, share(_ALIKE, len(record.rankings)))


def strongest(correlations: Sequence[Correlation]) -> list[Correlation]:
    """Every pair where they are few, else those whose correlation is farthest from 0, that first."""
    if len(correlations) <= PAIRS:
        return list(correlations)
    return sorted(correlations, key=lambda pair: -abs(pair.rho or 0.0))[:PAIRS]


def shown_benchmarks(gains: Sequence[Gain], outcomes: int) -> frozenset[str]:
    """The benchmarks of one outcome that the page lists: all, or those that gain most over the widest baseline."""
    if not gains:
        return frozenset()
    baselines = len({gain.baseline for gain in gains})
    over_widest = [gain for gain in gains if gain.baseline == gains[-1].baseline]
    most = share(_GAINS, outcomes * baselines)
    return frozenset(gain.benchmark for gain in sorted(over_widest, key=lambda gain: -gain.mae_gain)[:most])


def influential(gains: Sequence[Gain], families: int, outcomes: int) -> list[Gain]:
    """The gains whose influence by family is listed: those that are greatest, in their order, within the budget."""
    most = share(_INFLUENCE, families * outcomes)
    if len(gains) <= most:
        return list(gains)
    greatest = set(sorted(range(len(gains)), key=lambda place: -gains[place].mae_gain)[:most])
    return [gain for place, gain in enumerate(gains) if place in greatest]
