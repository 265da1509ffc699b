"""Accuracy over every repeat of a question (epochs, trials, samples drawn anew), and how often the answer changes.

All other measures are of the first repeat. Repeats of an item are not independent items: each item counts once, with
the share of its repeats that are right, and its set is the unit that is resampled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import polars as pl

from veridical.judge.answering import MISSING, STATUSES, Answering, Bounded, answerings, by_key
from veridical.judge.estimate import JudgeSettings, estimate
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity, Sample, over_items
from veridical.judge.table import SuiteTable

OVER_REPEATS = "accuracy_over_repeats"
CHANGED = "changed_over_repeats"


def over_repeats(table: SuiteTable, frame: pl.DataFrame, settings: JudgeSettings) -> Iterator[Measure]:
    """The records of every answering in which some item was asked more than once; statuses count all its responses."""
    if not (frame["repeat"] > 0).any():
        return
    for rows in by_key(frame.filter(suite=table.suite.name, order=0)):
        repeats = [
            answering
            for part in rows.partition_by("repeat", maintain_order=True)
            for answering in answerings(table, part.with_columns(repeat=pl.lit(0, pl.Int64())))
        ]
        if len(repeats) > 1:
            asked = np.array([answering.status[0] != STATUSES.index(MISSING) for answering in repeats])
            yield from (
                one for one in (_accuracy(table, repeats, asked, settings), _changed(repeats, asked, settings)) if one
            )


def _accuracy(
    table: SuiteTable, repeats: list[Answering], asked: npt.NDArray[np.bool_], settings: JudgeSettings
) -> Measure | None:
    """Mean over items of the share of their repeats that are right."""
    right = [answering.right() for answering in repeats]
    count = np.maximum(asked.sum(axis=0), 1)
    value, low, high = (
        (np.array([getattr(one, end) for one in right]) * asked).sum(axis=0) / count for end in ("value", "low", "high")
    )
    sample = over_items(repeats[0], Bounded(value, low, high), table.gradable & asked.any(axis=0), binary=False)
    return _record(OVER_REPEATS, sample, repeats, asked, settings)


def _changed(repeats: list[Answering], asked: npt.NDArray[np.bool_], settings: JudgeSettings) -> Measure | None:
    """Share of the items asked more than once whose answers differ; one without an answer could have been any."""
    answered = np.array([answering.answered for answering in repeats]) & asked
    labels = np.array([answering.label[0] for answering in repeats])
    highest = np.where(answered, labels, -1).max(axis=0)
    lowest = np.where(answered, labels, np.iinfo(labels.dtype).max).min(axis=0)
    changed = (answered.sum(axis=0) > 1) & (highest != lowest)
    open_ends = (asked & ~answered).any(axis=0) & (repeats[0].table.n_choices > 1)
    value = changed.astype(np.float64)
    sample = over_items(
        repeats[0], Bounded(value, value, (changed | open_ends).astype(np.float64)), asked.sum(axis=0) > 1
    )
    return _record(CHANGED, sample, repeats, asked, settings)


def _record(
    measure: str,
    sample: Sample | None,
    repeats: list[Answering],
    asked: npt.NDArray[np.bool_],
    settings: JudgeSettings,
) -> Measure | None:
    if sample is None:
        return None
    record = estimate(Quantity(repeats[0], measure, sample), settings)
    statuses: Counter[str] = Counter()
    for answering, there in zip(repeats, asked, strict=True):
        statuses.update(answering.statuses(sample.items[there[sample.items]]))
    return record.model_copy(update={"statuses": dict(statuses)})
