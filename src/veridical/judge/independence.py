"""What a set measure would be if an item's errors did not depend on the rest of its set.

Each item is taken to be right with the accuracy of its role (over the sets that are judged), independently within the
set: with one role, accuracy p and sets of k items this is p^k. A set measure above it says that errors gather in some
sets; at it, that a set says no more than its items one by one. The reference by role is Veridical's.
"""

from __future__ import annotations

import numpy as np

from veridical.judge.answering import Answering
from veridical.judge.measure import Measure
from veridical.judge.policies import product
from veridical.stats.units import Bools, Floats, Ints, distinct

REFERENCE = "no interval: product of the accuracies of a set's roles, as if errors were independent"


def set_reference(answering: Answering, members: Bools, measure: str, slice: dict[str, str] | None = None) -> Measure:
    """The record `measure` for the sets that `members` (a bool for each member, one at least) are of."""
    table = answering.table
    picked = np.flatnonzero(members)
    items, roles = table.member_item[picked], table.member_role[picked].astype(str)
    sets, positions = np.unique(table.member_set[picked], return_inverse=True)
    _, codes = np.unique(roles, return_inverse=True)
    right = answering.right()
    value, low, high = (
        _expected(column[items], codes, positions, len(sets)) for column in (right.value, right.low, right.high)
    )
    return Measure(
        **answering.key,
        measure=measure,
        slice=slice or {},
        value=value,
        interval=REFERENCE,
        bound_low=low,
        bound_high=high,
        n_sets=len(sets),
        n_items=len(distinct(items)),
        statuses=answering.statuses(distinct(items)),
    )


def _expected(right: Floats, roles: Ints, positions: Ints, n_sets: int) -> float:
    """Mean over sets of the product of its members' accuracies by role."""
    accuracy = np.bincount(roles, weights=right) / np.bincount(roles)
    return float(product(positions, accuracy[roles], n_sets).mean())
