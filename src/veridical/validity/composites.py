"""Benchmarks that are made of the outcome, or it of them: a mean, a weighted sum or a difference of columns among
which it stands.

The average of a leaderboard predicts each of its parts, because it holds it; so does an error rate predict the accuracy
that it is 100 less. Such columns are found by their numbers, whatever they are called, and whatever other columns of
the table are made of the outcome too: copies first, then mixes with one other column, means of neighbouring columns,
means of any columns over the scores that a model has, and sums of any columns that are not sums themselves.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from veridical.stats.units import Floats
from veridical.validity.exact_sums import (
    Sum,
    error_of,
    mean_of_neighbours,
    same_but_for_unit,
    sum_of,
    with_one_other,
)
from veridical.validity.gap_means import mean_over_gaps

LEAST = 0.02
"""Share of the sum's spread from which a part counts. This and the numbers below are Veridical's choice."""
_TWIN = 0.99
"""Columns that correlate by more are one in two units."""
_FAR = 3.0
"""Without the outcome, the errors of the best sum must be this many times as large."""
_RANKED = 20
"""Models from which one order of all says that a column is made of another: fewer may agree by chance."""


@dataclass(frozen=True)
class Composite:
    """A column that is made of others, the outcome among them. `parts` are named, largest weight first."""

    column: str
    outcome: str
    parts: tuple[str, ...]
    kind: str
    """`mean`, `sum`, `same`, `unit` (the outcome in another unit), `reversed` (a constant less the outcome), `rest` (a
    constant less the parts), `difference` (of parts, less the outcome) or `order` (the models in its order)."""

    @property
    def message(self) -> str:
        """What the column is, in words."""
        named = ", ".join(self.parts[:8]) + (f" and {len(self.parts) - 8} more" if len(self.parts) > 8 else "")
        others = [part for part in self.parts if part != self.outcome]
        return {
            "unit": f"{self.column} is {self.outcome} in another unit",
            "same": f"{self.column} holds the same scores as {self.outcome}",
            "reversed": f"{self.column} is {self.outcome} turned round (a number less {self.outcome})",
            "difference": f"{self.column} is {' and '.join(others[:2])} less {self.outcome}, so it holds it",
            "rest": f"{self.column} is what {named} leave of a constant, so it holds {self.outcome}",
            "order": f"{self.column} puts all models in the order of {self.outcome}",
            "mean": f"{self.column} is the mean of {named}, so it holds {self.outcome}",
            "sum": f"{self.column} is a weighted sum of {named}, so it holds {self.outcome}",
        }[self.kind]


def composites(
    columns: Mapping[str, Floats], halves: Mapping[str, float], predictors: Sequence[str], outcomes: Sequence[str]
) -> list[Composite]:
    """The predictors that are made of an outcome.

    Arguments:
        columns: every column of numbers by name, in the table's order, shape (models,), NaN where a cell is missing.
        halves: half a unit of the last digit that is written, by column.
        predictors: the columns that may be made of others.
        outcomes: the columns that none of them may be made of.
    """
    return _composites(_Search(dict(columns), dict(halves)), predictors, outcomes)


def composites_both_ways(
    columns: Mapping[str, Floats], halves: Mapping[str, float], predictors: Sequence[str], outcomes: Sequence[str]
) -> tuple[list[Composite], list[Composite]]:
    """The predictors that are made of an outcome, and the outcomes that are made of one of the other predictors.

    The arguments are those of `composites`. In the second list a composite's `column` is the outcome and its `outcome`
    the predictor. Copies and orders are in the first list alone, since they go both ways.
    """
    search = _Search(dict(columns), dict(halves))
    made = _composites(search, predictors, outcomes)
    known = {(one.column, one.outcome) for one in made}
    few = len(columns) <= _MANY
    pairs = [
        (outcome, name)
        for outcome in outcomes
        for name in (predictors if few else search.parts_of(outcome, predictors))
        if (name, outcome) not in known
    ]
    found = [one for pair in pairs if pair[0] != pair[1] and (one := search.made_of(*pair)) is not None]
    return made, [one for one in found if one.kind in ("mean", "sum", "rest", "difference")]


def _composites(search: _Search, predictors: Sequence[str], outcomes: Sequence[str]) -> list[Composite]:
    pairs = [(name, outcome) for outcome in outcomes for name in predictors if name != outcome]
    found = [one for pair in pairs if (one := search.made_of(*pair)) is not None]
    places = {name: place for place, name in enumerate(predictors)}
    return sorted(found, key=lambda one: places[one.column])


_MANY = 40
"""In tables of more columns only those are tried as an outcome's parts that one search for a sum names."""


class _Search:
    """Finds what a column is made of; what holds for all columns is found once."""

    def __init__(self, columns: dict[str, Floats], halves: dict[str, float]) -> None:
        self.columns, self.halves = columns, halves
        self._sums: dict[tuple[str, str], bool] = {}
        self._copies: dict[str, dict[str, float]] = {}
        self._taken_off: dict[str, frozenset[str]] = {}
        self._mean_columns: frozenset[str] | None = None
        self._means: dict[tuple[str, frozenset[str]], tuple[str, ...]] = {}
        self._solved: dict[tuple[str, tuple[str, ...], tuple[str, ...], int], Sum | None] = {}

    def copies(self, outcome: str) -> dict[str, float]:
        """The columns that are the outcome in another unit, with the factor."""
        if outcome not in self._copies:
            factors = {
                name: same_but_for_unit(column, self.columns[outcome], self.halves[name], self.halves[outcome])
                for name, column in self.columns.items()
                if name != outcome
            }
            self._copies[outcome] = {name: factor for name, factor in factors.items() if factor}
        return self._copies[outcome]

    def parts_of(self, whole: str, predictors: Sequence[str]) -> list[str]:
        """The predictors that a sum of any of the other columns is made of, where that is the whole."""
        copies = self.copies(whole)
        found = self._sum_of(whole, [one for one in self.columns if one != whole and one not in copies])
        parts = self._mean(whole, frozenset(copies)) if found is None else self._parts(found)
        return [name for name in predictors if name in parts]

    def made_of(self, name: str, outcome: str) -> Composite | None:
        """What a column is made of, the outcome among it; None where it is not."""
        factor = self.copies(outcome).get(name)
        if factor is not None:
            same = np.array_equal(self.columns[name], self.columns[outcome], equal_nan=True)
            return Composite(name, outcome, (outcome,), "same" if same else "unit" if factor > 0 else "reversed")
        if (one := self._with_one_other(name, outcome)) is not None:
            return one
        for order in _orders([one for one in self.columns if one != name], outcome):
            if parts := mean_of_neighbours(name, outcome, order, self.columns, self.halves):
                return Composite(name, outcome, parts, "mean")
        parts = self._mean(name, frozenset(self.copies(outcome)))
        if outcome in parts:
            return Composite(name, outcome, parts, "mean")
        return self._of_several(name, outcome) or self._in_order(name, outcome)

    def _mean(self, name: str, left_out: frozenset[str]) -> tuple[str, ...]:
        """The columns of which a column is the mean over the scores that a model has, whichever other means there
        are."""
        if (name, left_out) not in self._means:
            others = [one for one in self.columns if one != name and one not in left_out]
            found = mean_over_gaps(name, others, self.columns, self.halves)
            if not found and (means := self._plain_means()):
                kept = [one for one in others if one not in means]
                found = mean_over_gaps(name, kept, self.columns, self.halves) if len(kept) < len(others) else ()
            self._means[name, left_out] = found
        return self._means[name, left_out]

    def _plain_means(self) -> frozenset[str]:
        """The columns that are the mean of any others, other means among them."""
        if self._mean_columns is None:
            found = (
                name
                for name in self.columns
                if mean_over_gaps(name, [one for one in self.columns if one != name], self.columns, self.halves)
            )
            self._mean_columns = frozenset(found)
        return self._mean_columns

    def _with_one_other(self, name: str, outcome: str) -> Composite | None:
        others = [one for one in self.columns if one not in (name, outcome) and one not in self.copies(outcome)]
        for other, weight, of_outcome in with_one_other(name, outcome, others, self.columns, self.halves):
            if weight > 0 and of_outcome > 0:
                # A score that a column of differences was taken from is not a sum of that and the outcome.
                if self._is_difference(other, name, outcome, weight, of_outcome):
                    continue
                equal = max(weight, of_outcome) <= 1.2 * min(weight, of_outcome)
                parts = (other, outcome) if weight >= of_outcome else (outcome, other)
                return Composite(name, outcome, parts, "mean" if equal and weight + of_outcome < 1.05 else "sum")
            if weight < 0 and of_outcome < 0 and self._falls(name, outcome):
                return Composite(name, outcome, (outcome, other), "rest")
            if weight > 0 and self._is_difference(name, other, outcome, 1 / weight, -of_outcome / weight):
                return Composite(name, outcome, (other, outcome), "difference")
        return None

    def _is_difference(self, difference: str, whole: str, outcome: str, weight: float, of_outcome: float) -> bool:
        """Whether of two columns, the one being the other and the outcome together, the first is what was derived.

        `whole` is `weight` times the difference and `of_outcome` times the outcome. Parts of a sum go together, as
        scores do; what was taken off falls where the outcome rises, or goes below 0 where scores do not.
        """
        if abs(of_outcome - 1) > 0.02:
            return False
        low, outcomes = self.columns[difference], self.columns[outcome]
        there = np.isfinite(low) & np.isfinite(outcomes)
        below = low[there].min() < 0 <= min(outcomes[there].min(), np.nanmin(self.columns[whole]))
        return bool(below or weight * _correlation(low[there], outcomes[there]) <= 0)

    def _falls(self, name: str, outcome: str) -> bool:
        """Whether a column falls where the outcome rises: of columns that come to a constant, such are what is left."""
        there = np.isfinite(self.columns[name]) & np.isfinite(self.columns[outcome])
        return _correlation(self.columns[name][there], self.columns[outcome][there]) <= 0

    def _of_several(self, name: str, outcome: str) -> Composite | None:
        """A sum of columns that are not sums themselves, the outcome with a weight above or below 0."""
        copies = self.copies(outcome)
        others = [one for one in self.columns if one != name and one not in copies]
        for turned, sign in (((), 1), ((outcome,), 1), ((), -1)):
            found = self._sum_of(name, others, turned, sign)
            if found is None:
                continue
            # Other columns that are made of the outcome stand in for it: what is left is not made of others.
            derived = self._differences(outcome)
            kept = [one for one in others if one == outcome or not (one in derived or self._is_sum(one, outcome))]
            if len(kept) < len(others):
                found = self._sum_of(name, kept, turned, sign)
            if found is None or outcome not in (parts := self._parts(found)) or not self._needed(name, outcome, found):
                continue
            if turned:
                return Composite(name, outcome, parts, "difference")
            if sign < 0:
                if self._falls(name, outcome):
                    return Composite(name, outcome, parts, "rest")
                continue
            weights = [abs(found.weights[found.names.index(part)]) for part in parts]
            return Composite(name, outcome, parts, "mean" if max(weights) <= 1.2 * min(weights) else "sum")
        return None

    def _sum_of(self, name: str, parts: Sequence[str], turned: tuple[str, ...] = (), sign: int = 1) -> Sum | None:
        key = (name, tuple(parts), turned, sign)
        if key not in self._solved:
            self._solved[key] = sum_of(name, parts, self.columns, self.halves, turned=turned, sign=sign)
        return self._solved[key]

    def _is_sum(self, name: str, outcome: str) -> bool:
        if (name, outcome) not in self._sums:
            left_out = {*self.copies(name), *self.copies(outcome), *self._differences(outcome), name}
            others = [one for one in self.columns if one not in left_out]
            made = self._with_one_other(name, outcome) is not None
            self._sums[name, outcome] = made or self._sum_of(name, others) is not None
        return self._sums[name, outcome]

    def _differences(self, outcome: str) -> frozenset[str]:
        """The columns that are another one, or a constant, less the outcome: no parts of a sum."""
        if outcome not in self._taken_off:
            made = {name: self._with_one_other(name, outcome) for name in self.columns if name != outcome}
            self._taken_off[outcome] = frozenset(
                name for name, one in made.items() if one is not None and one.kind in ("difference", "rest")
            )
        return self._taken_off[outcome]

    def _parts(self, found: Sum) -> tuple[str, ...]:
        """The columns that carry a share of the spread, and those of little spread with the same weight.

        A column that is another in a coarser unit takes some of its weight, and is not a part of its own.
        """
        values = [self.columns[name][found.rows] for name in found.names]
        weights = np.abs(found.weights)
        shares = weights * [float(np.std(value)) for value in values]
        shares = shares / shares.sum()
        order = [int(place) for place in np.argsort(-shares, kind="stable")]
        parts = [place for place in order if shares[place] >= LEAST]
        usual = float(np.median(weights[parts]))
        for place in order[len(parts) :]:
            same_weight = 0.5 * usual <= weights[place] <= 2 * usual
            if same_weight and not any(abs(_correlation(values[place], values[part])) > _TWIN for part in parts):
                parts.append(place)
        return tuple(found.names[place] for place in parts)

    def _needed(self, name: str, outcome: str, found: Sum) -> bool:
        """Whether no sum without the outcome comes as near."""
        target = self.columns[name][found.rows]
        sign = -1.0 if (found.weights < 0).all() else 1.0
        rest = [self.columns[one][found.rows] for one in found.names if one != outcome]
        without = error_of(sign * target, rest)
        return without is None or without > _FAR * max(found.error, self.halves[name] / 4)

    def _in_order(self, name: str, outcome: str) -> Composite | None:
        """The outcome's rank, or another function of it that never turns back."""
        one, other = self.columns[name], self.columns[outcome]
        there = np.isfinite(one) & np.isfinite(other)
        if there.sum() < _RANKED:
            return None
        ranked = one[there][np.argsort(other[there], kind="stable")]
        steps = np.diff(ranked)
        distinct = min(len(np.unique(one[there])), len(np.unique(other[there])))
        if distinct < 0.8 * there.sum() or not ((steps > 0).all() or (steps < 0).all()):
            return None
        return Composite(name, outcome, (outcome,), "order")


def _orders(names: Sequence[str], outcome: str) -> list[list[str]]:
    """The columns in which an average's parts may be neighbours: all, every second to fourth (tables that interleave
    measures), and those whose names begin or end as the outcome's does."""
    place = names.index(outcome)
    orders = [list(names), *(list(names[place % step :: step]) for step in (2, 3, 4))]
    for part in (0, -1):
        of_outcome = _WORDS.split(outcome)[part]
        orders.append([name for name in names if _WORDS.split(name)[part] == of_outcome])
    return [list(order) for order in dict.fromkeys(map(tuple, orders)) if len(order) > 1]


_WORDS = re.compile(r"[\W_]+")


def _correlation(one: Floats, other: Floats) -> float:
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(np.corrcoef(one, other)[0, 1])
