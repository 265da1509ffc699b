"""Seeds with their variants, counted: what every measure of a suite of variants reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from veridical.items import Factor
from veridical.judge.answering import Answering, Bounded
from veridical.judge.policies import with_roles
from veridical.judge.quantity import Sample
from veridical.judge.table import Objects
from veridical.stats.units import Bools, Floats, Ints
from veridical.suites.merge.reference import needed

SEED, VARIANT = "seed", "variant"


FACTORS = ("word_class", "proposer", "label", "source", "agreement")
"""Factors of the variants by which everything is given, where they have several values."""

CROSSED = (("source", "word_class"), ("proposer", "word_class"))
"""Pairs of factors whose every combination is a slice of its own, where both have several values."""


@dataclass(frozen=True, eq=False)
class SeedAnswers:
    """The seeds that have variants in a slice, a row each, and those variants.

    Arrays over seeds have shape (seeds,): the code of the set, the seed's item, `n` the number of its variants, and
    how many of them are right. `members` (variants,) are the variants' places in the grouping: an item may be a
    variant of several seeds, or a seed of its own, and counts in each place.
    """

    answering: Answering
    sets: Ints
    seed_items: Ints
    members: Ints
    n: Ints
    right: Bounded
    item_right: Bounded
    """1 where an item is right, over all items of the suite (items,)."""
    slice: Mapping[str, Factor] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.sets)

    @cached_property
    def variant_items(self) -> Ints:
        """Positions of the variants' items in the suite, ascending, each once."""
        return np.unique(self.answering.table.member_item[self.members])

    @cached_property
    def items(self) -> Ints:
        """Positions of all items, seeds' and variants', ascending, each once."""
        return np.unique(np.concatenate([self.seed_items, self.variant_items]))

    @cached_property
    def seed_right(self) -> Bounded:
        """1 where the seed itself is right."""
        return _picked(self.item_right, self.seed_items)

    @cached_property
    def least(self) -> Ints:
        """How many variants must be right at each threshold, shape (20, seeds)."""
        return needed(self.n)

    def seeds(self) -> Sample:
        """A row a seed: whether it is right."""
        return Sample(self.seed_right, self.answering.table.set_units(self.sets), np.unique(self.seed_items))

    def variants(self) -> Sample:
        """A row a variant: whether it is right."""
        table = self.answering.table
        values = _picked(self.item_right, table.member_item[self.members])
        return Sample(values, table.set_units(table.member_set[self.members]), self.variant_items)

    def passing(self, k: int) -> Sample:
        """A row a seed: whether at least k / 20 of its variants are right, compared in integers."""
        values = Bounded(
            *(
                (column >= self.least[k - 1]).astype(np.float64)
                for column in (self.right.value, self.right.low, self.right.high)
            )
        )
        return Sample(values, self.answering.table.set_units(self.sets), self.variant_items)

    def shares(self) -> Sample:
        """A row a seed: the share of its variants that are right."""
        values = Bounded(self.right.value / self.n, self.right.low / self.n, self.right.high / self.n)
        return Sample(values, self.answering.table.set_units(self.sets), self.variant_items, binary=False)

    def curve(self, right: Floats) -> Ints:
        """How many seeds pass at each threshold with so many variants right (seeds,), shape (20,)."""
        passing: Ints = (right >= self.least).sum(axis=1).astype(np.int64)
        return passing


def _picked(values: Bounded, items: Ints) -> Bounded:
    return Bounded(values.value[items], values.low[items], values.high[items])


def all_variants(answering: Answering) -> Bools:
    """Which members are variants of a seed, where both can be graded."""
    table = answering.table
    complete = with_roles(answering, (SEED, VARIANT), table.gradable)
    found: Bools = complete & (table.member_role == VARIANT)
    return found


def all_seeds(answering: Answering) -> Bools:
    """Which members are seeds that can be graded, whether or not they have variants."""
    table = answering.table
    found: Bools = table.gradable[table.member_item] & (table.member_role == SEED)
    return found


def seeds_with(
    answering: Answering, variants: Bools, where: Mapping[str, Factor] | None = None, right: Bounded | None = None
) -> SeedAnswers | None:
    """The seeds that have any of these variants (a bool for each member), None where there are none.

    `where` names the slice; `right` is `answering.right()`, where it is at hand.
    """
    table = answering.table
    members = np.flatnonzero(variants)
    if len(members) == 0:
        return None
    sets, positions, n = np.unique(table.member_set[members], return_inverse=True, return_counts=True)
    right, items = right or answering.right(), table.member_item[members]
    counts = (
        np.bincount(positions, column[items], len(sets)).astype(np.float64)
        for column in (right.value, right.low, right.high)
    )
    seed_of_set = np.full(int(table.member_set.max()) + 1, -1, dtype=np.int64)
    seeds = np.flatnonzero(all_seeds(answering))[::-1]  # of several seeds in a set the first counts
    seed_of_set[table.member_set[seeds]] = table.member_item[seeds]
    counted = n.astype(np.int64)
    return SeedAnswers(answering, sets, seed_of_set[sets], members, counted, Bounded(*counts), right, where or {})


def every_slice(answering: Answering) -> Iterator[SeedAnswers]:
    """All seeds that have variants, then those of each value of each factor that has several."""
    variants = all_variants(answering)
    whole = seeds_with(answering, variants)
    if whole is None:
        return
    yield whole
    for factor in FACTORS:
        column, values = _values(answering, variants, factor)
        for value in values:
            part = seeds_with(answering, variants & (column == value), {factor: value}, whole.item_right)
            if part is not None:
                yield part


def crossed_slices(answering: Answering) -> Iterator[SeedAnswers]:
    """The seeds that have variants of two values at once, for each pair of factors in `CROSSED`."""
    variants = all_variants(answering)
    right = answering.right()
    for one, other in CROSSED:
        (first, firsts), (second, seconds) = (_values(answering, variants, factor) for factor in (one, other))
        for value, another in product(firsts, seconds):
            where = variants & (first == value) & (second == another)
            part = seeds_with(answering, where, {one: value, other: another}, right)
            if part is not None:
                yield part


def _values(answering: Answering, variants: Bools, factor: str) -> tuple[Objects, list[Factor]]:
    """A factor of each member of the grouping (members,), and its values among variants, none where there is one."""
    table = answering.table
    column: Objects = table.factor(factor)[table.member_item]
    values = [value for value in dict.fromkeys(column[variants].tolist()) if value is not None]
    return column, values if len(values) > 1 else []
