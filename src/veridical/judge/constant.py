"""Answering the same whatever is asked."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import maximum_flow

from veridical.judge.answering import Answering, Bounded
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity, over_items
from veridical.stats.units import Ints

CONSTANT_SHARE = 0.95
"""From this share of the answered items on, an answerer is called a constant responder. Threshold: Veridical."""


def constant_share(answering: Answering) -> Quantity | None:
    """Share of all items that get the most frequent answer; its label is in the slice.

    The interval takes the label as given. The bounds let every missing answer be any label; the value counts
    them as none, so it may lie below both. None where nothing was answered. Ties go to the label that the
    suite names first.
    """
    table = answering.table
    given = answering.label[0][answering.label[0] >= 0]
    if len(given) == 0:
        return None
    counts = np.bincount(given, minlength=len(table.labels)).astype(np.int64)
    label = table.labels[int(np.argmax(counts))]
    sample = over_items(answering, answering.says(label), np.ones(table.n_items, dtype=bool))
    if sample is None:
        return None
    fixed = Bounded(sample.values.value, sample.values.value, sample.values.value)
    plus = replace(sample, values=fixed)
    low, high = _bounds(answering, counts)
    bounds = (low / table.n_items, high / table.n_items)
    return Quantity(answering, "constant_share", plus, slice={"label": label}, bounds=bounds)


def constant_label(measure: Measure) -> str | None:
    """The label that a constant responder gives, by its `constant_share` record; None for any other."""
    answered = measure.statuses.get("ok", 0)
    if measure.value is None or not answered:
        return None
    share = measure.value * measure.n_items / answered
    return str(measure.slice["label"]) if share >= CONSTANT_SHARE - 1e-9 else None


def _bounds(answering: Answering, counts: Ints) -> tuple[int, int]:
    """Least and greatest count of the most frequent label over every assignment of the missing answers."""
    table = answering.table
    open_items = np.flatnonzero(~answering.answered)
    if len(open_items) == 0:
        return int(counts.max()), int(counts.max())
    offered = [table.could_be(i) for i in open_items.tolist()]
    kinds: dict[tuple[int, ...], int] = {}
    for choices in offered:
        kinds[choices] = kinds.get(choices, 0) + 1
    possible = counts.copy()
    for choices, n in kinds.items():
        possible[list(choices)] += n
    low, high = int(counts.max()), int(possible.max())
    least, greatest = low, high
    while least < greatest:  # the smallest ceiling under which all missing answers can be placed
        middle = (least + greatest) // 2
        if _fits(kinds, counts, middle):
            greatest = middle
        else:
            least = middle + 1
    return least, high


def _fits(kinds: dict[tuple[int, ...], int], counts: Ints, ceiling: int) -> bool:
    """Whether the missing answers can be spread so that no label's count exceeds `ceiling`: a flow problem.

    Nodes: source, a node a kind of item (by its choices), a node a label, sink.
    """
    n_kinds, n_labels = len(kinds), len(counts)
    sink = 1 + n_kinds + n_labels
    edges: list[tuple[int, int, int]] = []
    for kind, (choices, n) in enumerate(kinds.items()):
        edges.append((0, 1 + kind, n))
        edges.extend((1 + kind, 1 + n_kinds + code, n) for code in choices)
    room = np.maximum(ceiling - counts, 0)
    edges.extend((1 + n_kinds + code, sink, int(room[code])) for code in range(n_labels) if room[code])
    start, end, capacity = np.array(edges, dtype=np.int32).T
    graph = coo_array((capacity, (start, end)), shape=(sink + 1, sink + 1)).tocsr()
    return int(maximum_flow(graph, 0, sink).flow_value) == sum(kinds.values())
