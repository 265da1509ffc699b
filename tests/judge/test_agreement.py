"""Two models say the same: counted by item, whatever is right, with bounds over what was not answered."""

from __future__ import annotations

import polars as pl
import pytest
from scipy import stats

from veridical.judge import contrasts
from veridical.judge.measure import Measure

from .judging import Answer, frame, get, in_sets, item, paradox, suite


def agreed(asked, one: dict[str, Answer], other: dict[str, Answer]) -> Measure:
    both = pl.concat([frame(asked, one, model="one"), frame(asked, other, model="other")])
    return get([m for m in contrasts(asked, both) if m.against == {"model": "other"}], "agreement")


def test_agreement_is_the_share_of_items_with_one_label() -> None:
    """40 items, a set each: 30 the same (10 of them wrong on both sides), 10 not."""
    asked = paradox(40, 0, groups="C")
    one = {f"C{i}": "Unknown" if i < 20 else "True" for i in range(40)}
    other = {f"C{i}": "Unknown" if i < 20 else "True" if i < 30 else "False" for i in range(40)}
    record = agreed(asked, one, other)
    assert record.value == pytest.approx(30 / 40)
    expected = stats.binomtest(30, 40).proportion_ci(method="wilson")
    assert (record.low, record.high) == pytest.approx((expected.low, expected.high))
    assert (record.model, record.interval, record.paired, record.p) == ("one", "Wilson", True, None)
    assert (record.n_items, record.n_sets, record.statuses) == (40, 40, {"ok": 80})


def test_what_is_not_answered_counts_as_disagreement_and_widens_the_bounds() -> None:
    """10 items: 6 the same, 1 different, 2 answered by one side alone, 1 by neither."""
    asked = paradox(10, 0, groups="C")
    one: dict[str, Answer] = {f"C{i}": "True" for i in range(10)} | {"C8": None, "C9": None}
    other: dict[str, Answer] = {f"C{i}": "True" for i in range(10)} | {"C6": "False", "C7": None, "C9": None}
    record = agreed(asked, one, other)
    assert record.value == pytest.approx(0.6)
    assert (record.bound_low, record.bound_high) == pytest.approx((0.6, 0.9))
    assert record.statuses == {"ok": 16, "unparsed": 4}


def test_an_item_with_one_choice_can_only_be_agreed_on() -> None:
    asked = suite([item("a"), item("b", labels=("True",))])
    record = agreed(asked, {"a": "True", "b": None}, {"a": "True", "b": "True"})
    assert (record.value, record.bound_low, record.bound_high) == (0.5, 1.0, 1.0)


def test_agreement_over_several_items_a_set_is_resampled_by_set() -> None:
    """Sets agree as a whole or not at all, so that the interval is that of 30 draws, not of 60."""
    asked = in_sets({f"s{i}": [item(f"{i}a"), item(f"{i}b")] for i in range(30)})
    one = dict.fromkeys((f"{i}{part}" for i in range(30) for part in "ab"), "True")
    other = {name: "False" if int(name[:-1]) < 10 else "True" for name in one}
    record = agreed(asked, one, other)
    assert record.value == pytest.approx(2 / 3)
    assert record.interval == "bootstrap over sets"
    spread = (2 / 3 * 1 / 3 / 30) ** 0.5
    assert record.high - record.low == pytest.approx(2 * 1.96 * spread, rel=0.1)


def test_only_models_are_said_to_agree() -> None:
    asked = paradox(4, 4)
    answers = {one.name: "True" for one in asked.items}
    prompts = pl.concat([frame(asked, answers, prompt=name) for name in ("zero-shot", "dap")])
    assert "agreement" not in {m.measure for m in contrasts(asked, prompts)}
