"""A suite as arrays over its items: what judging reads, built once."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import cached_property
from itertools import chain

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from veridical.items import Factor, Item, Places, Suite
from veridical.stats.units import Bools, Ints, Units, distinct

Objects = npt.NDArray[np.object_]


NOT_LOGGED = "choice that is not in the log"
"""How labels begin of an item that was asked and of whose choices nothing is known but their number. An answer to it
could have been any label of the suite; who always gives one is not judged on it."""


class SuiteTable:
    """Positions, labels, gold, factors and sets of a suite's items, in the suite's order.

    Arrays over items have shape (items,). Labels are codes into `labels`, the suite's own first. Sets come
    from the suite's first grouping; an item in none is a set of its own. Sets that share an item or a cluster
    are resampled together.
    """

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.items: Sequence[Item] = suite.items
        columns = suite.columns
        self.n_items = len(columns.ids)
        self.index = {item: position for position, item in enumerate(columns.ids)}
        self.labels_of = columns.labels
        self.labels = tuple(dict.fromkeys((*suite.labels, *chain.from_iterable(columns.labels))))
        self.code = {label: code for code, label in enumerate(self.labels)}
        self._choices = self._pairs(columns.labels)
        self._gold = self._pairs(columns.gold)
        self.n_choices = self._counts(self._choices)
        self.n_gold = self._counts(self._gold)
        self._place(suite.places)

    def with_gold(self, system: str) -> SuiteTable:
        """The table with another system's gold labels (`Item.golds`) in place of the items' own."""
        other = copy(self)
        other._gold = other._pairs([item.golds.get(system, ()) for item in self.items])
        other.n_gold = other._counts(other._gold)
        other.__dict__.pop("gradable", None)
        return other

    def _pairs(self, labels: Sequence[Sequence[str]]) -> Ints:
        """(item, label) pairs as single numbers, sorted and unique."""
        n = len(self.labels)
        return distinct(
            np.array([i * n + self.code[name] for i, names in enumerate(labels) for name in names], np.int64)
        )

    def _counts(self, pairs: Ints) -> Ints:
        return np.bincount(pairs // len(self.labels), minlength=self.n_items).astype(np.int64)

    def _place(self, places: Places) -> None:
        sets = {name: code for code, name in enumerate(dict.fromkeys(places.sets))}
        clusters = {name: code for code, name in enumerate(dict.fromkeys(filter(None, places.clusters)))}
        member_set = np.array([sets[name] for name in places.sets], dtype=np.int64)
        member_item = np.array([self.index[item] for item in places.items], dtype=np.int64)
        member_cluster = np.array([clusters.get(name, -1) for name in places.clusters], dtype=np.int64)
        self.member_item: Ints = member_item
        self.member_set: Ints = member_set
        self.member_role: Objects = np.array(places.roles, dtype=object)

        set_of_item = np.full(self.n_items, -1, dtype=np.int64)
        set_of_item[member_item[::-1]] = member_set[::-1]  # the first set that names an item wins
        alone = np.flatnonzero(set_of_item < 0)
        set_of_item[alone] = len(sets) + np.arange(len(alone))
        self.set_of_item: Ints = set_of_item
        n_sets = len(sets) + len(alone)
        clustered = member_cluster >= 0
        self.cluster_of_set: Ints = _components(
            n_sets,
            np.concatenate([member_set, member_set[clustered]]),
            np.concatenate([set_of_item[member_item], n_sets + member_cluster[clustered]]),
            n_sets + len(clusters),
        )

    @cached_property
    def _factors(self) -> dict[str, Objects]:
        return {}

    def factor(self, name: str) -> Objects:
        """The factor's value for every item, None where an item lacks it."""
        if name not in self._factors:
            values = np.empty(self.n_items, dtype=object)
            values[:] = [item.factors.get(name) for item in self.items]
            self._factors[name] = values
        return self._factors[name]

    def values(self, name: str, where: Bools | None = None) -> list[Factor]:
        """The values that a factor takes (among the items of `where`), in the order of first appearance."""
        column = self.factor(name) if where is None else self.factor(name)[where]
        return [value for value in dict.fromkeys(column.tolist()) if value is not None]

    def where(self, **factors: Factor) -> Bools:
        """Whether an item has all these factor values."""
        mask = np.ones(self.n_items, dtype=bool)
        for name, value in factors.items():
            mask &= (self.factor(name) == value).astype(bool)
        return mask

    def could_be(self, item: int) -> tuple[int, ...]:
        """The codes of the labels that an answer to an item can have, in the order of its choices."""
        return self._known if self.unknown[item] else tuple(self.code[label] for label in self.labels_of[item])

    @cached_property
    def _known(self) -> tuple[int, ...]:
        return tuple(code for label, code in self.code.items() if not label.startswith(NOT_LOGGED))

    def offers(self, label: str) -> Bools:
        """Whether `label` is one of an item's choices; of choices that are not known it may be one."""
        return self._has(self._choices, np.full(self.n_items, self.code.get(label, -1))) | self.unknown

    def is_choice(self, codes: Ints) -> Bools:
        """Whether each item's code in `codes` (items,) is one of its choices; -1 is none."""
        return self._has(self._choices, codes)

    def is_gold(self, codes: Ints) -> Bools:
        """Whether each item's code in `codes` (items,) is a gold label of it; -1 is none."""
        return self._has(self._gold, codes)

    def pairs_are_gold(self, items: Ints, codes: Ints) -> Bools:
        """Whether label `codes[i]` is gold for item `items[i]`, arrays of any one length."""
        found: Bools = np.isin(items * len(self.labels) + codes, self._gold)
        return found

    def _has(self, pairs: Ints, codes: Ints) -> Bools:
        found: Bools = np.isin(np.arange(self.n_items) * len(self.labels) + codes, pairs)
        return found & (codes >= 0)

    @cached_property
    def unknown(self) -> Bools:
        """Whether an item's choices are not known (`NOT_LOGGED`)."""
        return np.array([bool(own) and own[0].startswith(NOT_LOGGED) for own in self.labels_of], dtype=np.bool_)

    @cached_property
    def gradable(self) -> Bools:
        """Whether an item has a gold label: accuracy does not apply to one that has none."""
        return self.n_gold > 0

    def units(self, items: Ints) -> Units:
        """The sets and clusters of rows that are items, given by position."""
        sets = self.set_of_item[items]
        return Units(sets, self.cluster_of_set[sets])

    def set_units(self, sets: Ints) -> Units:
        """The units of rows that are sets, given by code."""
        return Units(sets, self.cluster_of_set[sets])


_latest: tuple[Suite, SuiteTable] | None = None


def table_of(suite: Suite) -> SuiteTable:
    """The suite's table. The latest is kept: a suite is judged, its baselines are, and models are compared on it."""
    global _latest
    if _latest is None or _latest[0] is not suite:
        _latest = (suite, SuiteTable(suite))
    return _latest[1]


def _components(n_sets: int, left: Ints, right: Ints, size: int) -> Ints:
    """For each set, the code of the connected component it is in, under edges between nodes."""
    graph = coo_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    return np.asarray(labels[:n_sets], dtype=np.int64)
