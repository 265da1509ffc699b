"""Answerers that look at nothing: one label always, or the most frequent gold label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np
import polars as pl

from veridical.errors import unknown
from veridical.items import Suite
from veridical.judge.answering import MISSING, STATUSES, Answering
from veridical.judge.frame import KEY, SCHEMA
from veridical.judge.table import NOT_LOGGED, SuiteTable
from veridical.status import Status

_LABELS = pl.List(pl.String())

ALWAYS = "always:"
MAJORITY = "majority"
CHANCE = "chance"


def is_baseline(answerer: str) -> bool:
    """Whether an answerer is the majority, chance or constant baseline and not a model."""
    return answerer in (MAJORITY, CHANCE) or answerer.startswith(ALWAYS)


def baseline_frame(
    suite: Suite,
    labels: Sequence[str] | None = None,
    *,
    model: str = "baseline",
    prompt: str = "",
    mode: str = "",
    input: str = "full",
) -> pl.DataFrame:
    """Responses of the answerers `always:LABEL` and `majority`, to be judged like any others.

    `labels` are those to answer always (default: all of the suite's, in its order). They depend on no model,
    prompt or mode, so their key names none unless these are given. An item that does not offer the label goes without
    a response. Raises UserError for a label that no item has.
    """
    known = suite_labels(suite)
    for label in labels or ():
        if label not in known:
            raise unknown("label", label, known)
    answers = {f"{ALWAYS}{label}": label for label in (known if labels is None else labels)}
    majority = majority_label(suite)
    if majority is not None:
        answers[MAJORITY] = majority
    ids, offered, _ = suite.columns
    asked = pl.DataFrame({"item": ids, "offered": offered}, schema_overrides={"offered": _LABELS})
    frame = pl.concat(
        [
            pl.DataFrame(schema={"answerer": pl.String(), "item": pl.String(), "label": pl.String()}),
            *(
                asked.filter(pl.col("offered").list.contains(label)).select(
                    pl.lit(answerer).alias("answerer"), "item", pl.lit(label).alias("label")
                )
                for answerer, label in answers.items()
            ),
        ]
    )
    key = {"suite": suite.name, "model": model, "prompt": prompt, "mode": mode, "input": input}
    constants = {**key, "order": 0, "repeat": 0, "status": Status.OK.value, "text": None, "detail": None}
    columns = {name: pl.lit(value) for name, value in constants.items()}
    empty = {name: pl.lit(None) for name in SCHEMA if name not in columns and name not in frame.columns}
    return frame.with_columns(**columns, **empty).select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def baseline_answerings(table: SuiteTable) -> Iterator[Answering]:
    """The answerings that a `baseline_frame` of the table's suite holds, without the frame."""
    suite = table.suite
    answers = {f"{ALWAYS}{label}": label for label in suite_labels(suite)}
    majority = majority_label(suite)
    if majority is not None:
        answers[MAJORITY] = majority
    key = {"suite": suite.name, "model": "baseline", "input": "full", "prompt": "", "mode": ""}
    nothing = pl.DataFrame(schema={**SCHEMA, "position": pl.Int64()})
    ok, missing = STATUSES.index(Status.OK), STATUSES.index(MISSING)
    for answerer, label in answers.items():
        offered = table.offers(label)
        if offered.any():
            code = np.where(offered, table.code[label], -1)
            status = np.where(offered, ok, missing)
            own = {name: answerer if name == "answerer" else key[name] for name in KEY}
            yield Answering(table, own, code[None, :], status[None, :], nothing)


def suite_labels(suite: Suite) -> tuple[str, ...]:
    """The suite's label space: its own, then whatever else its items offer, in the order of appearance."""
    found = dict.fromkeys((*suite.labels, *chain.from_iterable(suite.columns.labels)))
    return tuple(label for label in found if not label.startswith(NOT_LOGGED))


def majority_label(suite: Suite) -> str | None:
    """The most frequent gold label; ties go to the one that the suite names first. None without any gold."""
    counts = Counter(chain.from_iterable(suite.columns.gold))
    ranked = [label for label in suite_labels(suite) if counts[label]]
    return max(ranked, key=lambda label: counts[label], default=None)
