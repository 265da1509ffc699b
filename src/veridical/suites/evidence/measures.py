"""The measures of "same evidence, different targets", over items with the factors `category` and `kind`.

Balanced accuracy and complete-pair recovery are those of arXiv 2607.26929. Address and polarity accuracy split the
label in its two steps (does the evidence address the target; if so, what does it say); the split is defined by
Veridical.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from veridical.judge.answering import Answering, Bounded
from veridical.judge.baselines import is_baseline
from veridical.judge.estimate import JudgeSettings
from veridical.judge.generic import accuracy, balanced_accuracy, how_it_answers, recall, with_gold, worst_of_set
from veridical.judge.independence import set_reference
from veridical.judge.measure import Measure
from veridical.judge.normalised import under
from veridical.judge.policies import over_sets, product
from veridical.judge.quantity import Quantity, over_items
from veridical.judge.registry import MeasureSet, SliceContrast

WRONG_TARGET = "Wrong Target"
ROLES = ("addressed", "wrong_target")


def pair_recovery(answering: Answering, factors: Sequence[str] = ()) -> Iterator[Quantity]:
    """Share of pairs with both endpoints right; then for each value of each of `factors` of the items."""
    table = answering.table
    if not set(ROLES) <= set(table.member_role.tolist()):
        return
    right = answering.right()
    whole = over_sets(answering, right, product)
    if whole is not None:
        yield Quantity(answering, "pair_recovery", whole)
    for factor in factors:
        for value in table.values(factor):
            part = over_sets(answering, right, product, table.where(**{factor: value})[table.member_item])
            if part is not None:
                yield Quantity(answering, "pair_recovery", part, slice={factor: value})


def address_accuracy(answering: Answering) -> Iterator[Quantity]:
    """Share of items on which it is right that the evidence addresses the target, or that it does not."""
    says, gold = answering.says(WRONG_TARGET), with_gold(answering, WRONG_TARGET)
    answered = answering.answered.astype(np.float64)
    # Whoever answers anything else says that the target is addressed.
    value = np.where(gold, says.value, answered - says.value)
    could = 1.0 - answered
    sample = over_items(answering, Bounded(value, value, value + could), answering.table.gradable)
    if sample is not None:
        yield Quantity(answering, "address_accuracy", sample)


def polarity_accuracy(answering: Answering) -> Iterator[Quantity]:
    """Share right among the items whose target is addressed, by gold and by the answer.

    An item without an answer stays in the denominator, and counts as wrong.
    """
    addressed = answering.table.gradable & ~with_gold(answering, WRONG_TARGET)
    kept = addressed & (answering.says(WRONG_TARGET).value == 0)
    sample = over_items(answering, answering.right(), kept)
    if sample is not None:
        yield Quantity(answering, "polarity_accuracy", sample)


def per_token(answering: Answering) -> Iterator[Quantity]:
    """Balanced accuracy and pairs if scores were divided by the labels' tokens, slice `{"normalisation": "token"}`.

    The labels have one to three tokens, and the highest sum is not the highest mean: where the two differ, the length
    of a label has a part in the answer.
    """
    read = under(answering, "token")
    if read is not None:
        for quantity in (*balanced_accuracy(read), *pair_recovery(read)):
            yield replace(quantity, slice={"normalisation": "token"})


def quantities(answering: Answering, by: Sequence[str] = ()) -> Iterator[Quantity]:
    """Everything measured of one answering; accuracy also by the factors `by`."""
    yield from balanced_accuracy(answering)
    yield from pair_recovery(answering, ("kind", "category"))
    yield from accuracy(answering, ("category", *(factor for factor in by if factor != "category")))
    yield from recall(answering)
    yield from address_accuracy(answering)
    yield from polarity_accuracy(answering)
    yield from worst_of_set(answering)
    yield from per_token(answering)
    yield from how_it_answers(answering)


def guessed(answering: Answering) -> Iterator[Quantity]:
    """What has a level of chance: polarity accuracy, whose items depend on the answers, has none."""
    yield from balanced_accuracy(answering)
    yield from pair_recovery(answering)
    yield from accuracy(answering)
    yield from address_accuracy(answering)


def records(answering: Answering, _: JudgeSettings) -> Iterator[Measure]:
    """Pair recovery if errors were independent within pairs."""
    table = answering.table
    if set(ROLES) <= set(table.member_role.tolist()) and not is_baseline(answering.key["answerer"]):
        yield set_reference(answering, np.ones(len(table.member_item), dtype=bool), "pair_recovery_reference")


def compared(answering: Answering) -> Iterator[Quantity]:
    """What is compared across prompts, models and answerers."""
    yield from balanced_accuracy(answering)
    yield from pair_recovery(answering)


def kind_contrasts(answering: Answering) -> Iterator[SliceContrast]:
    """Pairs recovered: Favors against Challenges."""
    sliced = [quantity for quantity in pair_recovery(answering, ("kind",)) if quantity.slice]
    for one, other in combinations(sliced, 2):
        yield SliceContrast(one, other, dict(other.slice))


MEASURE_SET = MeasureSet(
    quantities,
    compared,
    kind_contrasts,
    records,
    guessed,
    presentation="veridical.suites.evidence.presentation:PRESENTATION",
)
