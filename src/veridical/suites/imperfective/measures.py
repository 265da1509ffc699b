"""The measures of the imperfective paradox, over items with the factors `group` and `verb_class`.

Groups: A interrupted accomplishment (gold False), B interrupted activity (True), C ambiguous accomplishment
(Unknown), D ambiguous activity (True), completed accomplishment (True). A group that was not asked has no
record. TBR and the aspectual awareness gap are those of arXiv 2601.09373; the others are defined by Veridical.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from veridical.judge.answering import Answering, Bounded
from veridical.judge.generic import (
    accuracy,
    how_it_answers,
    pair_consistency,
    set_accuracy,
    set_accuracy_reference,
    worst_of_set,
)
from veridical.judge.quantity import Quantity, Sample, over_items
from veridical.judge.registry import MeasureSet, SliceContrast
from veridical.suites.imperfective.verdict import RULES

GROUP, VERB_CLASS = "group", "verb_class"


def _of_group(answering: Answering, values: Bounded, group: str, **factors: str) -> Sample | None:
    return over_items(answering, values, answering.table.where(group=group, **factors))


def _classes(answering: Answering, group: str) -> list[str]:
    """The verb classes of a group, where there are several."""
    table = answering.table
    found = [str(value) for value in table.values(VERB_CLASS, table.where(group=group))]
    return found if len(found) > 1 else []


def group_accuracy(answering: Answering, groups: Sequence[str] | None = None) -> Iterator[Quantity]:
    """Accuracy in each group, slice `{"group": "C"}`."""
    right = answering.right()
    for group in answering.table.values(GROUP):
        sample = _of_group(answering, right, str(group))
        if sample is not None and (groups is None or group in groups):
            yield Quantity(answering, "accuracy", sample, slice={GROUP: group})


def class_accuracy(answering: Answering) -> Iterator[Quantity]:
    """Accuracy by verb class within each group that has several, slice `{"group": "A", "verb_class": ...}`."""
    right = answering.right()
    for group in map(str, answering.table.values(GROUP)):
        for verb_class in _classes(answering, group):
            sample = _of_group(answering, right, group, verb_class=verb_class)
            if sample is not None:
                yield Quantity(answering, "accuracy", sample, slice={GROUP: group, VERB_CLASS: verb_class})


def tbr(answering: Answering) -> Iterator[Quantity]:
    """Teleological bias rate: share of group C answered True."""
    sample = _of_group(answering, answering.says("True"), "C")
    if sample is not None:
        yield Quantity(answering, "tbr", sample)


def class_tbr(answering: Answering) -> Iterator[Quantity]:
    """TBR in each verb class of group C."""
    true = answering.says("True")
    for verb_class in _classes(answering, "C"):
        sample = _of_group(answering, true, "C", verb_class=verb_class)
        if sample is not None:
            yield Quantity(answering, "tbr", sample, slice={VERB_CLASS: verb_class})


def gap(answering: Answering) -> Iterator[Quantity]:
    """Aspectual awareness gap: accuracy in D less TBR.

    Two independent samples of verbs where telicity varies between sets; one sample of pairs where it varies
    within them.
    """
    activities = _of_group(answering, answering.right(), "D")
    for quantity in tbr(answering):
        if activities is not None:
            yield _less_tbr(activities, quantity)


def class_gap(answering: Answering, *, within_sets: bool) -> Iterator[Quantity]:
    """Accuracy in D less the TBR of each verb class of group C.

    D is the same for every class where telicity varies between sets, and otherwise that of the sets in which
    the class occurs.
    """
    table, right = answering.table, answering.right()
    for quantity in class_tbr(answering):
        where = table.where(group="D")
        if within_sets:
            where &= np.isin(table.set_of_item, quantity.plus.units.sets)
        activities = over_items(answering, right, where)
        if activities is not None:
            yield _less_tbr(activities, quantity)


def _less_tbr(activities: Sample, tbr: Quantity) -> Quantity:
    return replace(tbr, measure="aspectual_awareness_gap", plus=activities, minus=tbr.plus)


def cancelled_true_rate(answering: Answering) -> Iterator[Quantity]:
    """Share of group A answered True, although the premise rules completion out."""
    sample = _of_group(answering, answering.says("True"), "A")
    if sample is not None:
        yield Quantity(answering, "cancelled_true_rate", sample)


def overcaution(answering: Answering) -> Iterator[Quantity]:
    """Share of group D answered Unknown, although the hypothesis holds."""
    sample = _of_group(answering, answering.says("Unknown"), "D")
    if sample is not None:
        yield Quantity(answering, "overcaution", sample)


def mean_p_unknown(answering: Answering) -> Iterator[Quantity]:
    """Mean probability of Unknown among the labels over group C, where labels are scored.

    Softmax of the summed log-likelihoods; an item that was not scored counts as 0.
    """
    if answering.has_probabilities:
        where = answering.table.where(group="C")
        sample = over_items(answering, answering.probability("Unknown"), where, binary=False)
        if sample is not None:
            yield Quantity(answering, "mean_p_unknown", sample, slice={GROUP: "C"})


def quantities(
    answering: Answering, by: Sequence[str] = (), *, pairs: Sequence[tuple[str, str]], within_sets: bool
) -> Iterator[Quantity]:
    """Everything measured of one answering; accuracy also by the factors `by`."""
    yield from accuracy(answering, [factor for factor in by if factor != GROUP])
    yield from group_accuracy(answering)
    yield from class_accuracy(answering)
    yield from tbr(answering)
    yield from class_tbr(answering)
    yield from gap(answering)
    yield from class_gap(answering, within_sets=within_sets)
    yield from cancelled_true_rate(answering)
    yield from overcaution(answering)
    yield from pair_consistency(answering, pairs)
    yield from set_accuracy(answering)
    yield from worst_of_set(answering)
    yield from mean_p_unknown(answering)
    yield from how_it_answers(answering)


def guessed(answering: Answering, pairs: Sequence[tuple[str, str]]) -> Iterator[Quantity]:
    """What has a level of chance."""
    yield from accuracy(answering)
    yield from group_accuracy(answering)
    yield from tbr(answering)
    yield from gap(answering)
    yield from cancelled_true_rate(answering)
    yield from overcaution(answering)
    yield from pair_consistency(answering, pairs)
    yield from set_accuracy(answering)


def compared(answering: Answering) -> Iterator[Quantity]:
    """What is compared across prompts and models: the gain in C, the cost in D, and both summaries."""
    yield from group_accuracy(answering, ("C", "D"))
    yield from tbr(answering)
    yield from gap(answering)


def class_contrasts(answering: Answering) -> Iterator[SliceContrast]:
    """TBR of every two verb classes."""
    for one, other in combinations(class_tbr(answering), 2):
        yield SliceContrast(one, other, dict(other.slice))


PAIRS_BETWEEN = (("A", "C"), ("B", "D"))
PAIRS_WITHIN = (("A", "C"), ("B", "D"), ("C", "D"))

PRESENTATION = "veridical.suites.imperfective.presentation:PRESENTATION"

BETWEEN_SETS = MeasureSet(
    partial(quantities, pairs=PAIRS_BETWEEN, within_sets=False),
    compared,
    class_contrasts,
    set_accuracy_reference,
    partial(guessed, pairs=PAIRS_BETWEEN),
    rules=RULES,
    presentation=PRESENTATION,
)
"""A set is a verb: telicity varies between sets, context within them."""

WITHIN_SETS = MeasureSet(
    partial(quantities, pairs=PAIRS_WITHIN, within_sets=True),
    compared,
    class_contrasts,
    set_accuracy_reference,
    partial(guessed, pairs=PAIRS_WITHIN),
    rules=RULES,
    presentation=PRESENTATION,
)
"""A set is a verb with and without an endpoint: telicity and context both vary within it."""
