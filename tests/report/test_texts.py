"""How numbers and names read."""

from __future__ import annotations

import pytest

from veridical.judge.measure import Measure
from veridical.report.texts import (
    bounds,
    estimate,
    number,
    p_value,
    parameter_count,
    signed,
    slice_label,
    status_list,
)

KEY = {"suite": "s", "model": "m", "prompt": "p", "mode": "loglikelihood"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.47, ".47"),
        (0.0, ".00"),
        (1.0, "1.00"),
        (0.996, "1.00"),
        (0.994, ".99"),
        (-0.05, "−.05"),
        (-1.0, "−1.00"),
        (-0.001, ".00"),  # no negative zero
        (None, "–"),
    ],
)
def test_number_has_two_decimals_and_no_leading_zero(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.31, "+.31"), (-0.31, "−.31"), (0.001, ".00"), (None, "–")])
def test_difference_carries_its_sign(value: float | None, text: str) -> None:
    assert signed(value) == text


def test_estimate_has_its_interval_in_brackets() -> None:
    assert estimate(Measure(**KEY, measure="tbr", value=0.47, low=0.38, high=0.57)) == ".47 [.38, .57]"


def test_estimate_without_interval_is_the_value_alone() -> None:
    assert estimate(Measure(**KEY, measure="tbr", value=0.47)) == ".47"


def test_what_is_not_estimable_is_a_dash() -> None:
    assert estimate(Measure(**KEY, measure="tbr", value=None)) == "–"
    assert estimate(None) == "–"


def test_contrast_estimate_is_signed() -> None:
    contrast = Measure(**KEY, measure="tbr", value=0.2, low=-0.1, high=0.5, against={"prompt": "q"})
    assert estimate(contrast) == "+.20 [−.10, .50]"


def test_agreement_is_no_difference_and_has_no_sign() -> None:
    same = Measure(**KEY, measure="agreement", value=0.9, low=0.8, high=0.95, against={"model": "n"})
    assert estimate(same) == ".90 [.80, .95]"


def test_bounds_are_told_only_where_they_differ_from_each_other() -> None:
    same = Measure(**KEY, measure="tbr", value=0.5, bound_low=0.5, bound_high=0.5)
    wide = Measure(**KEY, measure="tbr", value=0.5, bound_low=0.5, bound_high=0.6)
    assert bounds(same) == ""
    assert bounds(wide) == "⟨.50, .60⟩"


@pytest.mark.parametrize(("p", "text"), [(0.0004, "< .001"), (0.0312, ".031"), (0.9996, "1"), (1.0, "1"), (None, "")])
def test_p_has_three_decimals(p: float | None, text: str) -> None:
    assert p_value(p) == text


@pytest.mark.parametrize(
    ("count", "text"), [(134_515_008, "135M"), (1_540_000_000, "1.54B"), (70_000_000_000, "70B"), (12, "12")]
)
def test_parameter_count_reads_as_on_a_model_card(count: int, text: str) -> None:
    assert parameter_count(count) == text


def test_statuses_list_what_is_not_ok_most_frequent_first() -> None:
    assert status_list({"ok": 9, "too_long": 1, "unparsed": 3, "tied": 0}) == "unparsed 3, too long 1"


def test_slice_reads_as_words() -> None:
    assert slice_label({"group": "C", "verb_class": "Change_of_State"}) == "group C, verb class Change of State"
