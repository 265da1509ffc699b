"""How often two models say the same, right or wrong."""

from __future__ import annotations

import numpy as np

from veridical.judge.answering import Answering, Bounded
from veridical.judge.estimate import JudgeSettings, both_statuses, estimate
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity, over_items


def agreement(one: Answering, other: Answering, settings: JudgeSettings) -> Measure:
    """The share of items on which two answerings of one suite give the same label.

    A response that is not `ok` counts as disagreement; the bounds range over every label that it could have had.
    The interval is Wilson's where every set has one item, and a bootstrap over sets elsewhere.
    """
    everything = np.ones(one.table.n_items, dtype=bool)
    sample = over_items(one, _same_label(one, other), everything)
    if sample is None:
        raise ValueError("no items to agree on")
    quantity = Quantity(one, "agreement", sample)
    differing = {name: value for name, value in other.key.items() if value != one.key[name]}
    statuses = both_statuses(quantity.statuses(), other.statuses(quantity.items))
    update = {"against": differing, "paired": True, "statuses": statuses}
    return estimate(quantity, settings).model_copy(update=update)


def _same_label(one: Answering, other: Answering) -> Bounded:
    known = one.answered & other.answered
    same = known & (one.label[0] == other.label[0])
    must = ~known & (one.table.n_choices == 1)
    could = ~known & (one.table.n_choices > 0)
    return Bounded(same.astype(np.float64), (same | must).astype(np.float64), (same | could).astype(np.float64))
