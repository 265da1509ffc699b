"""Questions as the arrays that a readout is fitted to."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from veridical.errors import UserError
from veridical.items import FULL, Suite, shown_fields
from veridical.judge.table import SuiteTable
from veridical.readouts.selection import group_codes
from veridical.stats.units import Ints


@dataclass(frozen=True, eq=False)
class Rows:
    """The items of a suite that have one gold label: what a readout is to answer, and what is kept together.

    `labels` (n,) are codes into `names`. `groups` (n,) names the set of each item in the suite's first
    grouping, one name for sets that share an item or a cluster: groups are never split between fitting and validation.
    """

    suite: Suite
    items: tuple[str, ...]
    names: tuple[str, ...]
    labels: Ints
    groups: tuple[str, ...]

    @classmethod
    def of(cls, suite: Suite) -> Self:
        """Raises UserError where no item has one gold label, or all have the same."""
        owner = _groups(suite)
        graded = [item for item in suite.items if len(item.gold) == 1]
        names = tuple(suite.labels) or tuple(dict.fromkeys(label for item in graded for label in item.labels))
        found = {item.gold[0] for item in graded}
        if len(found) < 2:
            reason = f"all are {found.pop()!r}" if found else "no item has exactly one gold label"
            raise UserError(f"suite {suite.name!r} cannot be read out: {reason}; a readout needs two labels or more")
        names = tuple(name for name in names if name in found)
        return cls(
            suite,
            tuple(item.id for item in graded),
            names,
            np.array([names.index(item.gold[0]) for item in graded], dtype=np.int64),
            tuple(owner[item.id] for item in graded),
        )

    def part(self, items: Container[str]) -> Self:
        """The rows of these items alone."""
        kept = [row for row, item in enumerate(self.items) if item in items]
        names = tuple(name for code, name in enumerate(self.names) if code in set(self.labels[kept].tolist()))
        codes = np.array([names.index(self.names[label]) for label in self.labels[kept]], dtype=np.int64)
        picked = tuple(self.items[row] for row in kept), tuple(self.groups[row] for row in kept)
        return replace(self, items=picked[0], names=names, labels=codes, groups=picked[1])

    def __len__(self) -> int:
        return len(self.items)

    def named(self, names: Sequence[str]) -> Ints:
        """The labels as codes into another list of names, -1 for one that is not in it."""
        code = {name: place for place, name in enumerate(names)}
        return np.array([code.get(self.names[label], -1) for label in self.labels], dtype=np.int64)

    def factor(self, name: str) -> tuple[str, ...]:
        """A factor's value for every row, empty where an item lacks it."""
        return tuple(str(self.suite.by_id[item].factors.get(name, "")) for item in self.items)

    def texts(self, input: str = FULL) -> list[str]:
        """The text of the fields that an input shows of every row, joined by spaces."""
        return [" ".join(shown_fields(self.suite, self.suite.by_id[item], input).values()) for item in self.items]

    @cached_property
    def group_codes(self) -> Ints:
        """The group of each row as a number from 0, (n,)."""
        return group_codes(self.groups, 1)

    @cached_property
    def sets(self) -> tuple[Ints, ...]:
        """The rows of every set of the first grouping with more than one item."""
        place: Mapping[str, int] = {item: row for row, item in enumerate(self.items)}
        found = self.suite.grouping().sets().values()
        sets = ([place[member.item] for member in members if member.item in place] for members in found)
        return tuple(np.array(rows) for rows in sets if len(rows) > 1)


def _groups(suite: Suite) -> dict[str, str]:
    """Item to the first set of those that hang together with its own; itself where it stands in none."""
    table = SuiteTable(suite)
    clusters = table.cluster_of_set[table.set_of_item].tolist()
    first: dict[int, str] = {}
    for member in suite.grouping().members:
        first.setdefault(clusters[table.index[member.item]], member.set)
    return {item.id: first.get(cluster, item.id) for item, cluster in zip(suite.items, clusters, strict=True)}
