"""Accuracy over every repeat of a question: epochs, trials, samples drawn anew.

All other measures are of the first repeat. Repeats of an item are not independent items: each item counts once, with
the share of its repeats that are right, and its set is the unit that is resampled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import polars as pl

from veridical.judge.answering import MISSING, STATUSES, Answering, Bounded, answerings, by_key
from veridical.judge.estimate import JudgeSettings, estimate
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity, over_items
from veridical.judge.table import SuiteTable

OVER_REPEATS = "accuracy_over_repeats"


def over_repeats(table: SuiteTable, frame: pl.DataFrame, settings: JudgeSettings) -> Iterator[Measure]:
    """The record of every answering in which some item was asked more than once; statuses count all its responses."""
    if not (frame["repeat"] > 0).any():
        return
    for rows in by_key(frame.filter(suite=table.suite.name, order=0)):
        repeats = [
            answering
            for part in rows.partition_by("repeat", maintain_order=True)
            for answering in answerings(table, part.with_columns(repeat=pl.lit(0, pl.Int64())))
        ]
        if len(repeats) > 1 and (record := _record(table, repeats, settings)) is not None:
            yield record


def _record(table: SuiteTable, repeats: list[Answering], settings: JudgeSettings) -> Measure | None:
    asked = np.array([answering.status[0] != STATUSES.index(MISSING) for answering in repeats])
    right = [answering.right() for answering in repeats]
    count = np.maximum(asked.sum(axis=0), 1)
    value, low, high = (
        (np.array([getattr(one, end) for one in right]) * asked).sum(axis=0) / count for end in ("value", "low", "high")
    )
    sample = over_items(repeats[0], Bounded(value, low, high), table.gradable & asked.any(axis=0), binary=False)
    if sample is None:
        return None
    record = estimate(Quantity(repeats[0], OVER_REPEATS, sample), settings)
    statuses: Counter[str] = Counter()
    for answering, there in zip(repeats, asked, strict=True):
        statuses.update(answering.statuses(sample.items[there[sample.items]]))
    return record.model_copy(update={"statuses": dict(statuses)})
