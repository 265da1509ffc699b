"""Readouts of one set of questions: each set of items answered by a readout that was fitted without it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.model_selection import GroupKFold

from veridical.errors import UserError
from veridical.readouts.rows import Rows
from veridical.readouts.selection import FOLDS, PreparedFeatures
from veridical.stats.units import Floats, Ints

_MOST_REDRAWS = 50

Features = Callable[[Ints, Ints], PreparedFeatures]
"""From the rows to fit and the rows to answer to features ready for both."""


def cross_fitted(
    rows: Rows, prepare: Features, labels: Ints | None = None, done: Callable[[int], None] = lambda _: None
) -> Ints:
    """Answers, codes into `rows.names`: folds of whole groups, the penalty chosen inside the fitted part.

    Shape (n,) for the gold labels. With `labels` (vectors, n), the whole is done for each of these vectors of labels in
    the place of the gold ones: (vectors, n). `done` is called with the number of vectors that a fold has completed.

    Raises UserError where there are fewer groups than folds, or a class is missing from what a fold fits.
    """
    vectors = rows.labels[None] if labels is None else labels
    answers = np.full(vectors.shape, -1, dtype=np.int64)
    check_folds(rows)
    for train, test in GroupKFold(FOLDS).split(rows.labels, groups=rows.group_codes):
        prepared = prepare(train, test)
        prepared.check_labels(rows.labels[train], rows.names)
        answers[:, test] = prepared.choose(vectors[:, train], len(rows.names), done=done).answers
    return answers[0] if labels is None else answers


def permuted_labels(rows: Rows, draws: int, seed: int) -> Ints:
    """`draws` vectors of labels (draws, n) under which nothing can be read out, for a cross-fitted null.

    Sets keep together what they hold: groups of one size exchange their labels as a whole, and then each group's labels
    are permuted among its rows. Within groups alone would not do where telicity, say, varies between them: a readout
    that knows it would be in its own null. A vector that leaves some fold without a class is drawn again.

    Raises UserError where no permutation differs from the labels, or too few fill every fold.
    """
    rng = np.random.default_rng(seed)
    codes = rows.group_codes
    members = [np.flatnonzero(codes == group) for group in range(int(codes.max()) + 1)]
    by_size: dict[int, list[Ints]] = {}
    for places in members:
        by_size.setdefault(len(places), []).append(places)
    blocks = [np.stack(group) for group in by_size.values()]
    folds = _fitted_parts(codes)
    found: list[Ints] = []
    changed = False
    for _ in range(_MOST_REDRAWS * max(draws, 1)):
        if len(found) == draws:
            break
        vector = np.empty_like(rows.labels)
        for places in blocks:
            dealt = rng.permuted(rows.labels[places][rng.permutation(len(places))], axis=1)
            vector[places] = dealt
        if all(len(np.unique(vector[part])) == len(rows.names) for part in folds):
            found.append(vector)
            changed = changed or not np.array_equal(vector, rows.labels)
    if len(found) < draws or not changed:
        raise UserError(
            "permuting labels within and between sets changes nothing, or leaves folds without some label: "
            "a null needs more sets that hold several labels"
        )
    return np.stack(found)


def _fitted_parts(codes: Ints) -> list[Ints]:
    """The rows that each fold, and each fold inside it, is fitted to."""
    parts = []
    for train, _ in GroupKFold(FOLDS).split(codes, groups=codes):
        inner = (train[rows] for rows, _ in GroupKFold(FOLDS).split(train, groups=codes[train]))
        parts += [train, *inner]
    return parts


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
                    f"label {rows.names[lacking[0]]!r} occurs in too few sets: some fold is fitted without it; "
                    "give more sets that hold it, or leave its items out"
                )


def from_states(rows: Rows, states: Floats) -> Features:
    """Features that are there before any label is: hidden states (n, width), or option scores."""

    def prepare(train: Ints, test: Ints) -> PreparedFeatures:
        return PreparedFeatures.of(states[train], [rows.groups[row] for row in train], states[test])

    return prepare
