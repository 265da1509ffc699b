"""Readouts of one set of questions: each set of items answered by a readout that was fitted without it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.model_selection import GroupKFold

from veridical.errors import UserError
from veridical.readouts.rows import Rows
from veridical.readouts.selection import FOLDS, Prepared
from veridical.stats.units import Floats, Ints

Features = Callable[[Ints, Ints], Prepared]
"""From the rows to fit and the rows to answer to features ready for both."""


def cross_fitted(rows: Rows, prepare: Features, done: Callable[[int], None] = lambda _: None) -> Ints:
    """Answers (n,), codes into `rows.names`: folds of whole groups, the penalty chosen inside the fitted part.

    Raises UserError where there are fewer groups than folds, or a class is missing from what a fold fits.
    """
    answers = np.full(len(rows), -1, dtype=np.int64)
    check_folds(rows)
    for train, test in GroupKFold(FOLDS).split(rows.labels, groups=rows.group_codes):
        prepared = prepare(train, test)
        prepared.check_labels(rows.labels[train], rows.names)
        answers[test] = prepared.choose(rows.labels[train][None], len(rows.names)).answers[0]
        done(1)
    return answers


def check_folds(rows: Rows) -> None:
    """Raise UserError where the folds, or those inside them, have too few sets, or lack a class in what they fit."""
    codes = rows.group_codes
    n_sets = int(codes.max()) + 1
    if n_sets - -(-n_sets // FOLDS) < FOLDS:
        raise UserError(
            f"{n_sets} sets are too few for {FOLDS} folds with a choice of the penalty in {FOLDS} folds of the rest: "
            f"give {FOLDS + 2} or more"
        )
    for train, _ in GroupKFold(FOLDS).split(rows.labels, groups=codes):
        for inner, _ in GroupKFold(FOLDS).split(train, groups=codes[train]):
            lacking = sorted(set(range(len(rows.names))) - set(rows.labels[train][inner].tolist()))
            if lacking:
                raise UserError(
                    f"label {rows.names[lacking[0]]!r} stands in too few sets: some fold is fitted without it; "
                    "give more sets that hold it, or leave its items out"
                )


def from_states(rows: Rows, states: Floats) -> Features:
    """Features that are there before any label is: hidden states (n, width), or option scores."""

    def prepare(train: Ints, test: Ints) -> Prepared:
        return Prepared.of(states[train], [rows.groups[row] for row in train], states[test])

    return prepare
