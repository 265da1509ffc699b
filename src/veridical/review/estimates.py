"""Ratings of one question as arrays, and what is estimated from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np

from veridical.review.key import ReviewKey
from veridical.review.krippendorff import MISSING, Level, alpha, alpha_interval
from veridical.review.questions import Question
from veridical.stats.bootstrap import Term, bootstrap_interval
from veridical.stats.interval import Interval
from veridical.stats.proportions import wilson
from veridical.stats.units import Bools, Floats, Ints, Units

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value over `n` ratings, pairs of ratings, items or sets. None: there is nothing to take it from, or, of
    alpha, the ratings do not vary; `interval` then says so, and otherwise names the interval's method."""

    value: float | None
    low: float | None
    high: float | None
    interval: str
    n: int


def units_of(key: ReviewKey) -> Units:
    """The set and the cluster of every item of a review."""
    sets = {name: code for code, name in enumerate(dict.fromkeys(item.set for item in key.items))}
    clusters = {name: code for code, name in enumerate(dict.fromkeys(item.cluster for item in key.items))}
    return Units(
        np.array([sets[item.set] for item in key.items]), np.array([clusters[item.cluster] for item in key.items])
    )


@dataclass(frozen=True, eq=False)
class QuestionRatings:
    """One question's ratings: `codes` is (items, raters)."""

    question: Question
    codes: Ints
    key: ReviewKey

    @cached_property
    def rated(self) -> Bools:
        """Which ratings were given, (items, raters)."""
        found: Bools = self.codes != MISSING
        return found

    @property
    def scaled(self) -> bool:
        """Whether answers can be adjacent and not equal, and others neither."""
        return self.question.ordered and len(self.question.values) > 2

    @cached_property
    def scores(self) -> Floats:
        """The number of each rating, (items, raters), NaN where it is missing."""
        numbers = np.array([*self.question.scores, np.nan])
        scores: Floats = numbers[self.codes]  # MISSING is -1: the last
        return scores

    @cached_property
    def expecting(self) -> Bools:
        """The items of which an answer is expected, (items,)."""
        return np.array([bool(item.expected.get(self.question.name)) for item in self.key.items])

    @cached_property
    def as_expected(self) -> Bools:
        """(items, raters)."""
        values = self.question.values
        allowed = np.array(
            [[value in item.expected.get(self.question.name, ()) for value in values] for item in self.key.items]
        )
        found: Bools = np.take_along_axis(allowed, np.maximum(self.codes, 0), axis=1) & self.rated
        return found

    @property
    def by_every_rater(self) -> tuple[Bools, Bools]:
        """Whether every rater rated an item, and whether every rater is as expected on it; each (items,)."""
        rated: Bools = np.all(self.rated, axis=1)
        as_expected: Bools = np.all(self.as_expected, axis=1)
        return rated, as_expected

    @cached_property
    def steps(self) -> tuple[Ints, Ints]:
        """Steps between the two ratings of every pair of raters, (pairs,), and the item of each."""
        steps, items = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for one, other in combinations(range(self.codes.shape[1]), 2):
            both = np.flatnonzero(self.rated[:, one] & self.rated[:, other])
            steps.append(np.abs(self.codes[both, one] - self.codes[both, other]))
            items.append(both)
        return np.concatenate(steps), np.concatenate(items)


@dataclass(frozen=True, eq=False)
class Estimator:
    """Values with their intervals. `units` has a row an item."""

    units: Units
    draws: int
    seed: int

    def _estimate(self, value: float | None, interval: Interval, n: int) -> Estimate:
        return Estimate(value, interval.low, interval.high, interval.method, n)

    def mean(self, values: Floats, items: Ints, *, binary: bool = False) -> Estimate:
        """The mean of values, one a row; `items` is the item of each. `binary` values can be nothing but 0 and 1."""
        if not len(values):
            return Estimate(None, None, None, "nothing to take it from", 0)
        units = Units(self.units.sets[items], self.units.clusters[items])
        if units.independent and binary:
            interval = wilson(int(values.sum()), len(values), CONFIDENCE)
        else:
            rng = np.random.default_rng(self.seed)
            interval = bootstrap_interval([Term(values, units)], rng, self.draws, CONFIDENCE)
        return self._estimate(float(values.mean()), interval, len(values))

    def share(self, hits: Bools, items: Ints) -> Estimate:
        """The share of hits, one a row; `items` is the item of each."""
        return self.mean(hits.astype(np.float64), items, binary=True)

    def set_share(self, hits: Bools, rated: Bools, considered: Bools) -> Estimate:
        """The share of sets with a hit on every item considered, over those rated on all of them; each is (items,)."""
        _, first, places = np.unique(self.units.sets, return_index=True, return_inverse=True)
        n, n_hits, n_rated = (
            np.bincount(places[flags], minlength=len(first))
            for flags in (considered, considered & hits, considered & rated)
        )
        whole = (n > 0) & (n_rated == n)
        return self.share((n_hits == n)[whole], first[whole])

    def alpha(self, codes: Ints, level: Level) -> Estimate:
        """Krippendorff's alpha of `codes` (items, raters) at this level, with its interval."""
        n = int(((codes != MISSING).sum(axis=1) > 1).sum())
        value = alpha(codes, level)
        if value is None:
            why = "not defined: the ratings do not vary" if n else "not defined: no item has two ratings"
            return Estimate(None, None, None, why, n)
        rng = np.random.default_rng(self.seed)
        interval = alpha_interval(codes, self.units.clusters, level, rng, self.draws, CONFIDENCE)
        return self._estimate(value, interval, n)
