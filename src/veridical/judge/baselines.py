"""Answerers that look at nothing: one label always, or the most frequent gold label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import polars as pl

from veridical.errors import unknown
from veridical.items import Status, Suite
from veridical.judge.frame import SCHEMA

ALWAYS = "always:"
MAJORITY = "majority"


def is_baseline(answerer: str) -> bool:
    return answerer == MAJORITY or answerer.startswith(ALWAYS)


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
    prompt or mode, so their key names none unless told to. An item that does not offer the label goes without
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
    rows = [
        (answerer, item.id, label)
        for answerer, label in answers.items()
        for item in suite.items
        if label in item.labels
    ]
    frame = pl.DataFrame(rows, schema=["answerer", "item", "label"], orient="row")
    key = {"suite": suite.name, "model": model, "prompt": prompt, "mode": mode, "input": input}
    constants = {**key, "order": 0, "repeat": 0, "status": Status.OK.value, "text": None, "detail": None}
    columns = {name: pl.lit(value) for name, value in constants.items()}
    empty = {name: pl.lit(None) for name in ("labels", "scores", "label_mass", "margin")}
    return frame.with_columns(**columns, **empty).select(pl.col(name).cast(dtype) for name, dtype in SCHEMA.items())


def suite_labels(suite: Suite) -> tuple[str, ...]:
    """The suite's label space: its own, then whatever else its items offer, in the order of appearance."""
    offered = (choice.label for item in suite.items for choice in item.choices)
    return tuple(dict.fromkeys((*suite.labels, *offered)))


def majority_label(suite: Suite) -> str | None:
    """The most frequent gold label; ties go to the one that the suite names first. None without any gold."""
    counts = Counter(label for item in suite.items for label in item.gold)
    ranked = [label for label in suite_labels(suite) if counts[label]]
    return max(ranked, key=lambda label: counts[label], default=None)
