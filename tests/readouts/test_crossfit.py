"""Each set answered by a readout fitted without it."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.errors import UserError
from veridical.readouts.crossfit import cross_fitted, from_states
from veridical.readouts.rows import Rows

from .questions import fitted


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
