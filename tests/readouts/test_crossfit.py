"""Each set answered by a readout fitted without it."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.errors import UserError
from veridical.items import Member
from veridical.readouts.analysis import _crossed
from veridical.readouts.crossfit import cross_fitted, from_states, permuted_labels
from veridical.readouts.rows import Rows
from veridical.stats.permutation import permutation_p

from .questions import fitted, item, suite


def test_a_planted_signal_is_read_in_every_fold() -> None:
    rows = Rows.of(fitted(12))
    states = np.eye(4)[rows.labels] * 9 + np.random.default_rng(0).normal(size=(48, 4))
    np.testing.assert_array_equal(cross_fitted(rows, from_states(rows, states)), rows.labels)


def test_what_only_a_set_of_its_own_could_teach_is_not_known() -> None:
    """Every set has a direction of its own for each label: nothing learnt elsewhere helps (a leak would)."""
    rows = Rows.of(fitted(12))
    states = np.eye(48) * 9
    right = (cross_fitted(rows, from_states(rows, states)) == rows.labels).mean()
    assert right < 0.5


def test_too_few_sets_are_refused() -> None:
    rows = Rows.of(fitted(5))
    with pytest.raises(UserError, match="5 sets are too few for 5 folds"):
        cross_fitted(rows, from_states(rows, np.zeros((20, 3))))


def between(n: int = 12) -> Rows:
    """Sets of two: half hold one label twice (as activities hold True), half two others."""
    members = []
    for number in range(n):
        for place, label in enumerate(("Favors", "Favors") if number % 2 else ("Challenges", "Unresolved")):
            one = item(f"{number} {place}", label)
            members.append((Member(set=f"s{number}", item=one.id), one))
    return Rows.of(suite("between", members))


def test_permuted_labels_keep_what_stands_together_in_a_set() -> None:
    rows = between()
    pairs = {(0, 0), (1, 2), (2, 1)}
    vectors = permuted_labels(rows, 50, 0)
    assert vectors.shape == (50, 24)
    found = {tuple(vector[rows.group_codes == code].tolist()) for vector in vectors for code in range(12)}
    assert found == pairs
    first = rows.group_codes == 0
    assert len({tuple(vector[first]) for vector in vectors}) == 3  # sets exchange what they hold
    np.testing.assert_array_equal(np.sort(vectors, axis=1), np.tile(np.sort(rows.labels), (50, 1)))


def p_of(rows: Rows, states: np.ndarray, draws: int, seed: int) -> float:
    labels = np.vstack([rows.labels, permuted_labels(rows, draws, seed)])
    outcome = _crossed(rows, cross_fitted(rows, from_states(rows, states), labels), labels)
    assert outcome.null is not None
    return permutation_p(float(outcome.observed.balanced_accuracy), outcome.null.balanced_accuracy)


def test_a_planted_signal_beats_its_null_and_noise_does_not() -> None:
    """What differs between sets alone counts too: it is no part of the null."""
    rows = between()
    rng = np.random.default_rng(1)
    noise = rng.normal(size=(24, 3)) + rng.normal(size=(12, 3))[rows.group_codes]
    planted = noise + 6 * (rows.labels == 0)[:, None]
    assert p_of(rows, planted, 19, 0) == 1 / 20
    assert p_of(rows, noise, 19, 0) > 1 / 20


def test_labels_that_no_permutation_changes_have_no_null() -> None:
    members = []
    for number in range(8):
        one = item(f"{number}", "Favors")
        members.append((Member(set=f"s{number}", item=one.id), one))
    for number in range(8, 10):
        for place in range(3):
            one = item(f"{number} {place}", "Challenges")
            members.append((Member(set=f"s{number}", item=one.id), one))
    with pytest.raises(UserError, match="permuting labels"):
        permuted_labels(Rows.of(suite("fixed", members)), 3, 0)
