"""What a measure is before it has an interval: a mean over rows, or a difference of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from veridical.items import Factor
from veridical.judge.answering import Answering, Bounded
from veridical.stats.bootstrap import Term
from veridical.stats.units import Bools, Ints, Units


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows to be averaged: values with their bounds, the units they stand in, and the items behind them.

    `values` and `units` have shape (rows,). `items` are positions in the suite, of any number: a row may be
    an item or a set. `binary` says that every value is 0 or 1.
    """

    values: Bounded
    units: Units
    items: Ints
    binary: bool = True

    def __len__(self) -> int:
        return len(self.units)

    def term(self, weight: float = 1.0) -> Term:
        return Term(self.values.value, self.units, weight)

    @property
    def proportion(self) -> bool:
        """Whether it is one 0/1 a set with nothing above the sets, for which closed forms hold."""
        return self.binary and self.units.independent

    @property
    def successes(self) -> int:
        return round(float(self.values.value.sum()))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A named mean of `plus`, less the mean of `minus` where there is one, for one answering.

    The two are never about the same response, so the bounds of a difference are the differences of bounds.
    `bounds` replaces those of the rows where a value's bounds do not follow row by row.
    """

    answering: Answering
    measure: str
    plus: Sample
    minus: Sample | None = None
    slice: Mapping[str, Factor] = field(default_factory=dict)
    bounds: tuple[float, float] | None = None
    every_order: bool = False
    """Whether the value depends on the responses in every order of the labels, not in the first alone."""

    @property
    def samples(self) -> tuple[Sample, ...]:
        return (self.plus,) if self.minus is None else (self.plus, self.minus)

    @property
    def terms(self) -> tuple[Term, ...]:
        weights = (1.0, -1.0)
        return tuple(sample.term(weight) for sample, weight in zip(self.samples, weights, strict=False))

    @property
    def value(self) -> float:
        return sum(term.weight * term.mean for term in self.terms)

    def range(self) -> tuple[float, float]:
        """The least and greatest value over every label that responses which are not ok could have had."""
        if self.bounds is not None:
            return self.bounds
        low, high = float(self.plus.values.low.mean()), float(self.plus.values.high.mean())
        if self.minus is not None:
            low -= float(self.minus.values.high.mean())
            high -= float(self.minus.values.low.mean())
        return low, high

    @cached_property
    def items(self) -> Ints:
        return np.unique(np.concatenate([sample.items for sample in self.samples]))

    @property
    def n_sets(self) -> int:
        return len(np.unique(np.concatenate([sample.units.sets for sample in self.samples])))

    def statuses(self) -> dict[str, int]:
        return self.answering.statuses(self.items, every_order=self.every_order)


def over_items(answering: Answering, values: Bounded, where: Bools, *, binary: bool = True) -> Sample | None:
    """The items of `where` (items,) as rows, None where there are none."""
    items = np.flatnonzero(where)
    if len(items) == 0:
        return None
    picked = Bounded(values.value[items], values.low[items], values.high[items])
    return Sample(picked, answering.table.units(items), items, binary)
