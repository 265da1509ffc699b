"""Measures that apply to any suite."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from veridical.judge.answering import Answering, Bounded
from veridical.judge.baselines import is_baseline
from veridical.judge.constant import constant_share
from veridical.judge.estimate import JudgeSettings
from veridical.judge.independence import set_reference
from veridical.judge.measure import Measure
from veridical.judge.policies import least, over_sets, product, with_roles
from veridical.judge.quantity import Quantity, over_items
from veridical.judge.registry import MeasureSet
from veridical.stats.units import Bools

MOST_ROLES = 4
"""Pair consistency is given for every two roles where a grouping has at most so many. The number is Veridical's."""


def accuracy(answering: Answering, by: Sequence[str] = ()) -> Iterator[Quantity]:
    """Share of items answered with a gold label: over everything, then for each value of each factor of `by`."""
    table = answering.table
    right = answering.right()
    whole = over_items(answering, right, table.gradable)
    if whole is not None:
        yield Quantity(answering, "accuracy", whole)
    for factor in by:
        for value in table.values(factor, table.gradable):
            part = over_items(answering, right, table.gradable & table.where(**{factor: value}))
            if part is not None:
                yield Quantity(answering, "accuracy", part, slice={factor: value})


def with_gold(answering: Answering, label: str) -> Bools:
    """The items of which `label` is a gold label."""
    table = answering.table
    return table.is_gold(np.full(table.n_items, table.code.get(label, -1)))


def recall(answering: Answering) -> Iterator[Quantity]:
    """Accuracy on the items of each gold label, slice `{"gold": "True"}`."""
    right = answering.right()
    for label in answering.table.labels:
        sample = over_items(answering, right, with_gold(answering, label))
        if sample is not None:
            yield Quantity(answering, "accuracy", sample, slice={"gold": label})


def balanced_accuracy(answering: Answering) -> Iterator[Quantity]:
    """Mean recall over the gold labels that occur: constant answers score one over their number."""
    samples = [quantity.plus for quantity in recall(answering)]
    if samples:
        yield Quantity(answering, "balanced_accuracy", samples[0], averaged=tuple(samples[1:]))


def set_accuracy(answering: Answering) -> Iterator[Quantity]:
    """Share of sets with every item right, where sets have more than one item."""
    members = _in_larger_sets(answering)
    sample = over_sets(answering, answering.right(), product, members)
    if sample is not None:
        yield Quantity(answering, "set_accuracy", sample)


def set_accuracy_reference(answering: Answering, _: JudgeSettings | None = None) -> Iterator[Measure]:
    """Set accuracy if errors were independent within sets (`judge.independence`)."""
    members = _in_larger_sets(answering)
    if members.any() and not is_baseline(answering.key["answerer"]):
        yield set_reference(answering, members, "set_accuracy_reference")


def worst_of_set(answering: Answering) -> Iterator[Quantity]:
    """Lowest probability of the gold label among the items of a set, averaged over sets (where choices are scored).

    What `set_accuracy` is for right and wrong, for how sure the model is: near 1 only where it is sure of the
    gold label on every item of the set. The definition is Veridical's.
    """
    members = _in_larger_sets(answering)
    if members.any() and answering.has_probabilities:
        values = answering.probability_of_gold()
        sample = over_sets(answering, values, least, members, binary=False)
        if sample is not None:
            yield Quantity(answering, "worst_of_set", sample)


def pair_consistency(answering: Answering, pairs: Sequence[tuple[str, str]]) -> Iterator[Quantity]:
    """Share of sets with both roles of a pair that are right on all items of both; slice `{"pair": "A&C"}`."""
    right = answering.right()
    for pair in pairs:
        members = with_roles(answering, pair, answering.table.gradable)
        sample = over_sets(answering, right, product, members)
        if sample is not None:
            yield Quantity(answering, "pair_consistency", sample, slice={"pair": "&".join(pair)})


def label_mass(answering: Answering) -> Iterator[Quantity]:
    """Mean probability that the model gives to the choices together; what was not scored counts as 0."""
    if answering.has_label_mass:
        everything = np.ones(answering.table.n_items, dtype=bool)
        sample = over_items(answering, answering.label_mass(), everything, binary=False)
        if sample is not None:
            yield Quantity(answering, "label_mass", sample)


def order_sensitivity(answering: Answering) -> Iterator[Quantity]:
    """Share of items whose answer is not the same in every order of the labels that was asked.

    Applies to items asked in two orders or more. An item with two different answers counts whatever else it
    lacks; one that lacks an answer might have changed (upper bound).
    """
    labels, status = answering.label, answering.status
    asked = status >= 0
    several = asked.sum(axis=0) > 1
    answered = labels >= 0
    highest = np.where(answered, labels, -1).max(axis=0)
    lowest = np.where(answered, labels, np.iinfo(np.int64).max).min(axis=0)
    changed = answered.any(axis=0) & (highest != lowest)
    lacks = (asked & ~answered).any(axis=0) & (answering.table.n_choices > 1)
    value = changed.astype(np.float64)
    sample = over_items(answering, Bounded(value, value, (changed | lacks).astype(np.float64)), several)
    if sample is not None:
        yield Quantity(answering, "order_sensitivity", sample, every_order=True)


def how_it_answers(answering: Answering) -> Iterator[Quantity]:
    """What says how far the answers are answers: label mass, one constant answer, order sensitivity."""
    yield from label_mass(answering)
    share = constant_share(answering)
    if share is not None:
        yield share
    yield from order_sensitivity(answering)


def over_items_and_sets(answering: Answering, by: Sequence[str] = ()) -> Iterator[Quantity]:
    """How much is right: of items, of sets, and of pairs of roles."""
    yield from accuracy(answering, by)
    yield from set_accuracy(answering)
    yield from worst_of_set(answering)
    yield from pair_consistency(answering, _pairs_of_roles(answering))


def quantities(answering: Answering, by: Sequence[str] = ()) -> Iterator[Quantity]:
    """The quantities of any suite: accuracy over items and sets by the factors `by`, and how the model answers."""
    yield from over_items_and_sets(answering, by)
    yield from how_it_answers(answering)


def compared(answering: Answering) -> Iterator[Quantity]:
    """The quantities whose differences between two answerings are reported."""
    yield from accuracy(answering)
    yield from set_accuracy(answering)


MEASURE_SET = MeasureSet(quantities, compared, records=set_accuracy_reference, guessed=over_items_and_sets)
GRADED = MeasureSet(over_items_and_sets, compared, records=set_accuracy_reference, graded=True)
"""For answers of which is known only whether they are right, or whose right label is the same throughout."""


def _in_larger_sets(answering: Answering) -> Bools:
    """Which members can be graded and share their set with another that can."""
    table = answering.table
    gradable = table.gradable[table.member_item]
    sizes = np.bincount(table.member_set[gradable], minlength=int(table.member_set.max(initial=-1)) + 1)
    return gradable & (sizes[table.member_set] > 1)


def _pairs_of_roles(answering: Answering) -> list[tuple[str, str]]:
    roles = [role for role in dict.fromkeys(answering.table.member_role.tolist()) if role]
    return list(combinations(roles, 2)) if len(roles) <= MOST_ROLES else []
