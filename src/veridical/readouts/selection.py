"""Choosing the penalty on grouped folds and answering other rows, for many label vectors at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

import numpy as np
from sklearn.model_selection import GroupKFold
from threadpoolctl import threadpool_limits

from veridical.errors import UserError
from veridical.readouts.logistic import Reduced, decide, reduce
from veridical.stats.units import Floats, Ints

PENALTIES = tuple(10.0**power for power in range(-4, 3))
"""Inverse strengths C of the L2 penalty that are tried, 10^-4 to 10^2."""

FOLDS = 5
_CHUNK = 128
"""Label vectors that take their steps together: enough for matrix products, few enough for the processor's cache."""


@dataclass(frozen=True, eq=False)
class Chosen:
    """What was selected and answered for each of some label vectors.

    `answers` (vectors, m) are codes for the rows that were not fitted, `penalty` (vectors,) positions in the list of
    penalties, `validation` (vectors, penalties) the mean over folds of the balanced accuracy.
    """

    answers: Ints
    penalty: Ints
    validation: Floats


@dataclass(frozen=True, eq=False)
class PreparedFeatures:
    """Features of a readout, ready for any labels: by fold, and of all rows with the rows to answer."""

    folds: tuple[tuple[Ints, Ints, Reduced], ...]
    whole: Reduced
    groups: Ints

    @classmethod
    def of(cls, features: Floats, groups: Sequence[object], others: Floats, n_folds: int = FOLDS) -> Self:
        """Factor `features` (n, d) by fold of whole groups, and once in all with the rows to answer (m, d).

        Raises UserError where a feature is not finite or there are fewer groups than folds.
        """
        for what, rows in (("fitted", features), ("answered", others)):
            if not np.isfinite(rows).all():
                bad = int(np.flatnonzero(~np.isfinite(rows).all(1))[0])
                raise UserError(
                    f"row {bad} (from 0) of the {what} features holds a value that is not finite: "
                    "look for an overflow in the model's half precision, and run with --dtype float32"
                )
        codes = group_codes(groups, n_folds)
        folds = tuple(
            (train, test, reduce(features[train], features[test]))
            for train, test in GroupKFold(n_folds).split(features, groups=codes)
        )
        return cls(folds, reduce(features, others), codes)

    def check_labels(self, labels: Ints, names: Sequence[str]) -> None:
        """Raise UserError where a class (a code of `labels`, (n,), into `names`) is not in every fold's fitted part."""
        for place, (train, _, _) in enumerate(self.folds, start=1):
            lacking = sorted(set(range(len(names))) - set(labels[train].tolist()))
            if lacking:
                lost = names[lacking[0]]
                raise UserError(
                    f"class {lost!r} is missing from the rows fitted in fold {place} of {len(self.folds)}: "
                    "it occurs in too few groups; give fewer folds or more groups that hold it"
                )

    def choose(
        self,
        labels: Ints,
        n_classes: int,
        penalties: Sequence[float] = PENALTIES,
        done: Callable[[int], None] = lambda _: None,
    ) -> Chosen:
        """Select the penalty and answer, for each row of `labels` (vectors, n), codes below `n_classes`.

        The penalty of the best mean balanced accuracy over the folds is taken, the strongest of those that tie (as
        scikit-learn's `GridSearchCV` does with penalties in this order). Every class has to occur in every fold's
        fitted part. `done` is called with the number of vectors completed.
        """
        chunks = [np.arange(start, min(start + _CHUNK, len(labels))) for start in range(0, len(labels), _CHUNK)]

        def work(vectors: Ints) -> Chosen:
            chosen = self._choose(labels[vectors], n_classes, penalties)
            done(len(vectors))
            return chosen

        if len(chunks) == 1:
            return work(chunks[0])
        # One thread a chunk and one for its products: chunks share nothing, products of this size gain little by two.
        with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as pool:
            parts = list(pool.map(work, chunks))
        return Chosen(
            np.concatenate([part.answers for part in parts]),
            np.concatenate([part.penalty for part in parts]),
            np.concatenate([part.validation for part in parts]),
        )

    def _choose(self, labels: Ints, n_classes: int, penalties: Sequence[float]) -> Chosen:
        order = np.argsort(penalties, kind="stable")
        ascending = [penalties[place] for place in order]
        validation = np.zeros((len(labels), len(penalties)))
        for train, test, features in self.folds:
            for place, answers in zip(order, decide(features, labels[:, train], n_classes, ascending), strict=True):
                validation[:, place] += balanced_accuracy(answers, labels[:, test], n_classes)
        validation /= len(self.folds)
        # Means that are equal but for rounding tie.
        penalty = np.argmax(np.round(validation, 12), axis=1)
        wanted = [np.flatnonzero(penalty == place) for place in order]
        parts = decide(self.whole, labels, n_classes, ascending, wanted)
        return Chosen(np.max(parts, axis=0), penalty, validation)


def group_codes(groups: Sequence[object], n_folds: int) -> Ints:
    """Groups as numbers from 0, in the order of their names. Raises UserError where there are fewer than folds."""
    names = np.asarray(list(groups))
    _, codes = np.unique(names.astype(str) if names.dtype == object else names, return_inverse=True)
    if (n_groups := int(codes.max(initial=-1)) + 1) < n_folds:
        raise UserError(f"{n_groups} groups cannot be kept whole in {n_folds} folds: give more groups or fewer folds")
    return codes.astype(np.int64)


def balanced_accuracy(answers: Ints, labels: Ints, n_classes: int) -> Floats:
    """Mean recall over the classes that occur: codes (..., m) for both, which broadcast, to (...)."""
    recalls = []
    for code in range(n_classes):
        right = ((answers == code) & (labels == code)).sum(-1)
        with np.errstate(invalid="ignore"):
            recalls.append(right / (labels == code).sum(-1))
    return np.asarray(np.nanmean(np.broadcast_arrays(*recalls), axis=0))
