"""How many annotators gave a problem its gold label: the difficulty of a seed as its data set knows it."""

from __future__ import annotations

import json
from collections.abc import Mapping

COLUMNS = tuple(f"label{number}" for number in range(1, 6))
"""The labels of single annotators in SNLI and MultiNLI as published (TSV)."""
LIST = "annotator_labels"
"""The same in their JSONL files: a list."""

AT_LEAST = 3
"""Fewer labels say nothing of agreement; most training problems have one."""


def agreement(values: Mapping[str, str], gold: str) -> str:
    """`4 of 5`: how many of the annotators of a row gave the label `gold`; "" where too few labels are there.

    `values` are the row's cells by column; a list in a cell is given as JSON.
    """
    labels = [label for label in _labels(values) if label]
    if len(labels) < AT_LEAST:
        return ""
    return f"{sum(label == gold for label in labels)} of {len(labels)}"


def _labels(values: Mapping[str, str]) -> list[str]:
    if LIST not in values:
        return [values.get(column, "").strip() for column in COLUMNS]
    try:
        found = json.loads(values[LIST])
    except ValueError:
        return []
    return [str(label).strip() for label in found] if isinstance(found, list) else []
