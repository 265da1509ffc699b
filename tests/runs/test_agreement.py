"""A sample asked of two copies of a model."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.runs.toy import ToyModel
from veridical.cli.doctor_tables import dtype_finding
from veridical.models.protocol import ChoiceScore, Outcome
from veridical.progress import Silent
from veridical.status import Status
from veridical.studies.dtypes import N_SETS, answers, compare, sample


@dataclass
class Planted(ToyModel):
    """Says the first label by `margin` nats, but the second to its first `other` requests."""

    other: int = 0
    margin: float = 1.0

    def answer(self, requests):
        for position, request in enumerate(requests):
            best = 1 if position < self.other else 0
            scores = [-3.0 + self.margin * (place == best) for place in range(len(request.sequences))]
            yield position, Outcome(Status.OK, tuple(ChoiceScore(score, 1, 4, 4) for score in scores))


def test_the_sample_is_small_and_each_item_is_asked_once():
    asked = sample()
    sets = asked.suite.grouping().sets()
    items = [ask.item for ask in asked.asks]
    assert len(items) == len(set(items))
    assert sum(any(member.item in items for member in members) for members in sets.values()) == N_SETS


def test_labels_that_a_dtype_moves_and_near_ties_are_counted():
    asked = sample()
    n = len(asked.asks)
    low = answers(Planted(other=3, margin=5e-4), asked, "bfloat16", Silent())
    full = answers(Planted(), asked, "float32", Silent())
    found = compare(asked, low, full)
    assert found.measure.value == pytest.approx(1 - 3 / n)
    assert (found.measure.model, found.measure.against) == ("bfloat16", {"model": "float32"})
    assert found.near_ties == (n, 0)


@dataclass
class Narrow(ToyModel):
    """Finds every `each`-th request too long."""

    each: int = 1

    def answer(self, requests):
        for position, _ in enumerate(requests):
            if position % self.each == 0:
                yield position, Outcome(Status.TOO_LONG)
            else:
                yield position, Outcome(Status.OK, (ChoiceScore(-1.0, 1, 4, 4), *[ChoiceScore(-2.0, 1, 4, 4)] * 2))


def test_items_that_are_too_long_are_left_aside():
    asked = sample()
    n = len(asked.asks)
    found = compare(asked, *(answers(Narrow(each=3), asked, name, Silent()) for name in ("a", "b")))
    assert found.n_too_long == (n + 2) // 3
    assert (found.measure.value, found.measure.n_items) == (1, n - found.n_too_long)


def test_nothing_is_compared_where_every_item_is_too_long():
    asked = sample()
    found = compare(asked, *(answers(Narrow(), asked, name, Silent()) for name in ("a", "b")))
    assert (found.measure, found.n_too_long) == (None, len(asked.asks))
    assert "too long" in dtype_finding("bfloat16", found).meaning


def test_a_model_agrees_with_itself():
    asked = sample()
    one, other = (answers(ToyModel(), asked, name, Silent()) for name in ("a", "b"))
    found = compare(asked, one, other)
    assert found.measure.value == 1
    assert found.measure.low is not None
    assert 0.8 < found.measure.low < 1
