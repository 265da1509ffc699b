"""Policies over a set: how the values of a set's items become one value of the set.

Each policy maps (members, values) arrays to one value a set and rises with every member's value, so applying
it to the bounds of the items gives the bounds of the set.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from veridical.judge.answering import Answering, Bounded
from veridical.judge.quantity import Sample
from veridical.stats.units import Bools, Floats, Ints, distinct

Policy = Callable[[Ints, Floats, int], Floats]
"""(position of each member's set, each member's value, number of sets) to one value a set."""


def least(positions: Ints, values: Floats, n_sets: int) -> Floats:
    """The lowest value in the set: for right and wrong, 1 where all are right."""
    result = np.full(n_sets, np.inf)
    np.minimum.at(result, positions, values)
    return result


def product(positions: Ints, values: Floats, n_sets: int) -> Floats:
    """The product over the set's members: for right and wrong, 1 where all are right; for independent chances of being
    right, the chance that all are."""
    result = np.ones(n_sets)
    np.multiply.at(result, positions, values)
    return result


def share(positions: Ints, values: Floats, n_sets: int) -> Floats:
    """The mean over the set's members: for right and wrong, the share that is right."""
    sums = np.bincount(positions, weights=values, minlength=n_sets)
    result: Floats = sums / np.bincount(positions, minlength=n_sets)
    return result


def over_sets(
    answering: Answering,
    values: Bounded,
    policy: Policy,
    members: Bools | None = None,
    *,
    binary: bool = True,
) -> Sample | None:
    """The suite's sets as rows, each with the policy's value over its members, None where there are none.

    `values` are over items; `members` (a bool for each member of the grouping) narrows the sets to a part.
    """
    table = answering.table
    picked = np.arange(len(table.member_item)) if members is None else np.flatnonzero(members)
    if len(picked) == 0:
        return None
    items = table.member_item[picked]
    sets, positions = np.unique(table.member_set[picked], return_inverse=True)

    def apply(column: Floats) -> Floats:
        return policy(positions, column[items], len(sets))

    per_set = Bounded(apply(values.value), apply(values.low), apply(values.high))
    return Sample(per_set, table.set_units(sets), distinct(items), binary)


def with_roles(answering: Answering, roles: Collection[str], applies: Bools) -> Bools:
    """Which members stand in one of `roles`, in sets that have all of them among the items of `applies`."""
    table = answering.table
    usable = applies[table.member_item]
    complete = np.ones(int(table.member_set.max(initial=-1)) + 1, dtype=bool)
    for role in roles:
        present = np.zeros_like(complete)
        present[table.member_set[usable & (table.member_role == role)]] = True
        complete &= present
    wanted = np.isin(table.member_role.astype(str), sorted(roles))
    return usable & wanted & complete[table.member_set]
