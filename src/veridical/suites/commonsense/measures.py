"""What benchmarks are judged by: what any suite is, accuracy under every normalisation, and the level of chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import comb, fsum

import numpy as np

from veridical.items import Factor, Suite
from veridical.judge import generic
from veridical.judge.answering import Answering
from veridical.judge.baselines import CHANCE
from veridical.judge.chance import UNIFORM
from veridical.judge.constant import constant_share
from veridical.judge.measure import Measure
from veridical.judge.normalised import NORMALISATIONS, under
from veridical.judge.quantity import Quantity
from veridical.judge.ranking import forced_choice, opposite_pairs, two_best_accuracy, with_two_right
from veridical.judge.registry import MeasureSet
from veridical.judge.table import SuiteTable

MOST_VALUES = 100
"""Accuracy is given by each factor that has at most so many values. Chosen by Veridical (BLiMP has 67 paradigms)."""


def factors(table: SuiteTable) -> tuple[str, ...]:
    """The factors by which accuracy is given: those with several values, and not a value an item."""
    names = dict.fromkeys(name for item in table.items for name in item.factors)
    return tuple(name for name in names if 1 < len(table.values(name)) <= MOST_VALUES)


def by_normalisation(answering: Answering) -> Iterator[Quantity]:
    """Accuracy as it would be under each normalisation, slice `{"normalisation": "byte"}`, from the same scores."""
    for name in NORMALISATIONS:
        read = under(answering, name)
        if read is not None:
            yield from _sliced(generic.accuracy(read), {"normalisation": name})


def by_system(answering: Answering) -> Iterator[Quantity]:
    """Accuracy, of items and of sets, by another system of gold labels, slice `{"system": "pragmatic"}`."""
    table = answering.table
    for system in dict.fromkeys(name for item in table.items for name in item.golds):
        read = replace(answering, table=table.with_gold(system))
        yield from _sliced(generic.accuracy(read), {"system": system})
        yield from _sliced(generic.set_accuracy(read), {"system": system})


def _sliced(quantities: Iterator[Quantity], where: Mapping[str, Factor]) -> Iterator[Quantity]:
    return (replace(quantity, slice={**quantity.slice, **where}) for quantity in quantities)


def names_its_answers(table: SuiteTable) -> bool:
    """Whether every item has the same texts to choose from (letters, yes and no).

    Only then is the probability of the choices together that of answering at all: nobody expects the model to write
    one of two solutions to a goal.
    """
    texts = {tuple(sorted(choice.continuation for choice in item.choices)) for item in table.items}
    return len(texts) == 1 and table.n_items > 1


def how_it_answers(answering: Answering) -> Iterator[Quantity]:
    """Label mass, where all items have the same choices, and the share of the most frequent answer."""
    if names_its_answers(answering.table):
        yield from generic.label_mass(answering)
    share = constant_share(answering)
    if share is not None:
        yield share


def quantities(answering: Answering, by: Sequence[str] = ()) -> Iterator[Quantity]:
    """All quantities of a benchmark, each also by the factors in `by` and by those with few values."""
    every = tuple(dict.fromkeys((*by, *factors(answering.table))))
    yield from generic.over_items_and_sets(answering, every)
    yield from how_it_answers(answering)
    yield from by_normalisation(answering)
    yield from by_system(answering)
    yield from two_best_accuracy(answering)
    yield from forced_choice(answering)


def guessed(answering: Answering) -> Iterator[Quantity]:
    """What has the level of chance of a uniform guess, by every system of gold labels."""
    yield from generic.over_items_and_sets(answering)
    yield from by_system(answering)


def levels(suite: Suite) -> Iterator[Measure]:
    """The levels of chance of what ranks choices, by a random ranking."""
    table = SuiteTable(suite)
    if (two_right := np.flatnonzero(with_two_right(table))).size:
        value = fsum(1 / comb(int(n), 2) for n in table.n_choices[two_right]) / two_right.size
        yield _level(suite, "two_best_accuracy", value, len(np.unique(table.set_of_item[two_right])), two_right.size)
    pairs, members = opposite_pairs(table)
    if pairs.size:
        yield _level(suite, "forced_choice", 0.5, pairs.size, len(np.unique(members)))


def _level(suite: Suite, measure: str, value: float, n_sets: int, n_items: int) -> Measure:
    return Measure(
        suite=suite.name,
        model="baseline",
        answerer=CHANCE,
        prompt="",
        mode="",
        measure=measure,
        value=value,
        interval=UNIFORM,
        n_sets=n_sets,
        n_items=n_items,
    )


MEASURE_SET = MeasureSet(
    quantities,
    generic.compared,
    records=generic.set_accuracy_reference,
    guessed=guessed,
    levels=levels,
    presentation="veridical.suites.commonsense.presentation:PRESENTATION",
)
