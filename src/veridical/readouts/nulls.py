"""Permutation nulls: labels permuted within groups, the whole selection done again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.errors import UserError
from veridical.stats.units import Ints


def permuted_within(labels: Ints, groups: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """`draws` random permutations (draws, n) of `labels` (n,) among the rows of each group.

    Raises UserError where every group's labels are all alike: every permutation is then the labels themselves, and any
    result would have p = 1 (scikit-learn#21543).
    """
    members = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    if all(len(np.unique(labels[rows])) == 1 for rows in members):
        raise UserError(
            "labels are constant within every group, so permuting them there changes nothing: "
            "a null needs groups that hold several labels"
        )
    permuted = np.tile(labels, (draws, 1))
    for rows in members:
        permuted[:, rows] = rng.permuted(permuted[:, rows], axis=1)
    return permuted


def pairs_recovered(answers: Ints, labels: Ints, pairs: Sequence[Ints]) -> Ints:
    """How many sets have every row right: codes (..., m) against (m,) or (..., m), each set's rows; shape (...)."""
    right = answers == labels
    found = np.zeros(right.shape[:-1], dtype=np.int64)  # a sum over no pair would have no shape
    for rows in pairs:
        found += right[..., rows].all(-1)
    return found
