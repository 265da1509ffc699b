"""What a measure is before it has an interval: a mean over rows, or a difference of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from veridical.items import Factor
from veridical.judge.answering import Answering, Bounded
from veridical.stats.bootstrap import Term
from veridical.stats.units import Bools, Ints, Units, distinct


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
        """The sample as one weighted term of a statistic."""
        return Term(self.values.value, self.units, weight)

    @property
    def proportion(self) -> bool:
        """Whether it is one 0/1 a set with nothing above the sets, for which closed forms hold."""
        return self.binary and self.units.independent

    @property
    def successes(self) -> int:
        """Number of rows whose value is 1; for binary samples."""
        return round(float(self.values.value.sum()))


@dataclass(frozen=True, eq=False)
class Quantity:
    """A named mean of `plus`, less the mean of `minus` where there is one, for one answering.

    `averaged` are samples whose means are averaged with that of `plus`, each mean with one weight (recalls of
    classes); a quantity has these or `minus`. No two samples are about the same response, so the bounds of a sum
    are the sums of bounds.
    `bounds` replaces those of the rows where a value's bounds do not follow row by row.
    """

    answering: Answering
    measure: str
    plus: Sample
    minus: Sample | None = None
    averaged: tuple[Sample, ...] = ()
    slice: Mapping[str, Factor] = field(default_factory=dict)
    bounds: tuple[float, float] | None = None
    every_order: bool = False
    """Whether the value depends on the responses in every order of the labels, not in the first alone."""

    @property
    def weighted(self) -> tuple[tuple[float, Sample], ...]:
        """The samples, each with the weight that its mean has in the value."""
        if self.minus is not None:
            return ((1.0, self.plus), (-1.0, self.minus))
        samples = (self.plus, *self.averaged)
        return tuple((1.0 / len(samples), sample) for sample in samples)

    @property
    def proportion(self) -> bool:
        """Whether the value is one proportion of independent 0/1 rows."""
        return self.minus is None and not self.averaged and self.plus.proportion

    @property
    def samples(self) -> tuple[Sample, ...]:
        """The samples whose means the quantity is made of."""
        return tuple(sample for _, sample in self.weighted)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The samples as weighted terms, in the order of `samples`."""
        return tuple(sample.term(weight) for weight, sample in self.weighted)

    @property
    def value(self) -> float:
        """The point estimate: the weighted sum of the samples' means."""
        return sum(term.weight * term.mean for term in self.terms)

    def range(self) -> tuple[float, float]:
        """The least and greatest value over every label that responses which are not ok could have had."""
        if self.bounds is not None:
            return self.bounds
        low = high = 0.0
        for weight, sample in self.weighted:
            ends = weight * float(sample.values.low.mean()), weight * float(sample.values.high.mean())
            low, high = low + min(ends), high + max(ends)
        return low, high

    @cached_property
    def items(self) -> Ints:
        """Positions in the suite of all items that enter, each once."""
        return distinct(np.concatenate([sample.items for sample in self.samples]))

    @property
    def n_sets(self) -> int:
        """Number of distinct item sets that enter."""
        return len(distinct(np.concatenate([sample.units.sets for sample in self.samples])))

    def statuses(self) -> dict[str, int]:
        """Number of responses by status, over the items that enter."""
        return self.answering.statuses(self.items, every_order=self.every_order)


def over_items(answering: Answering, values: Bounded, where: Bools, *, binary: bool = True) -> Sample | None:
    """The items of `where` (items,) as rows, None where there are none."""
    items = np.flatnonzero(where)
    if len(items) == 0:
        return None
    picked = Bounded(values.value[items], values.low[items], values.high[items])
    return Sample(picked, answering.table.units(items), items, binary)
