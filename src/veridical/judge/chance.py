"""The level of chance: what a uniform guess among each item's choices is expected to get.

Guesses are independent between items, so a set with every item right has the product of its items' chances: two
yes/no questions are both right a quarter of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import polars as pl

from veridical.items import Suite
from veridical.judge.answering import STATUSES, Answering, Bounded
from veridical.judge.baselines import CHANCE
from veridical.judge.frame import KEY, SCHEMA
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity
from veridical.judge.registry import measure_set
from veridical.judge.table import SuiteTable, table_of
from veridical.stats.units import Floats

UNIFORM = "no interval: expected of a uniform guess"


@dataclass(frozen=True, eq=False)
class UniformGuess(Answering):
    """An answering whose values are the probabilities that a uniform guess is right, or says a label."""

    def right(self) -> Bounded:
        """Probability that a uniform guess is a gold label, (items,); the bounds equal the value."""
        table = self.table
        return _exact(table.n_gold / np.maximum(table.n_choices, 1))

    def says(self, label: str) -> Bounded:
        """Probability that a uniform guess is `label`, (items,); 0 where the item does not offer it."""
        table = self.table
        return _exact(table.offers(label) / np.maximum(table.n_choices, 1))


def _exact(values: Floats) -> Bounded:
    return Bounded(values, values, values)


def uniform_guess(table: SuiteTable) -> UniformGuess:
    """The uniform guess over a suite: every item answered, no label given."""
    key = {"suite": table.suite.name, "model": "baseline", "answerer": CHANCE, "input": "full"}
    status = np.full((1, table.n_items), STATUSES.index("ok"), dtype=np.int64)
    label = np.full((1, table.n_items), -1, dtype=np.int64)
    nothing = pl.DataFrame(schema={**SCHEMA, "position": pl.Int64()})
    return UniformGuess(table, {name: key.get(name, "") for name in KEY}, label, status, nothing)


def chance_levels(suite: Suite) -> Iterator[Measure]:
    """The expected value, for a uniform guess, of everything in the suite's measure set that has a level of chance."""
    measures = measure_set(suite.measures)
    for quantity in measures.guessed(uniform_guess(table_of(suite))):
        yield level_of(quantity)
    yield from measures.levels(suite)


def level_of(quantity: Quantity) -> Measure:
    """The record of a quantity's expected value under a uniform guess."""
    return Measure(
        **quantity.answering.key,
        measure=quantity.measure,
        slice=dict(quantity.slice),
        value=quantity.value,
        interval=UNIFORM,
        n_sets=quantity.n_sets,
        n_items=len(quantity.items),
    )
