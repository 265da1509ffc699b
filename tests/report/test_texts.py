"""How numbers and names read."""

from __future__ import annotations

import pytest

from veridical.judge.estimate import MCNEMAR
from veridical.judge.measure import Measure
from veridical.report.texts import bounds, disagreement, estimate, parameter_count, slice_label, status_list
from veridical.stats.proportions import mcnemar_exact, newcombe_paired
from veridical.wording import number, p_value, signed

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


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (1.0, 0.9962, 1.0, "1.000 [.996, 1.000]"),
        (0.9981, 0.9958, 0.9992, ".998 [.996, .999]"),
        (0.99996, 0.99991, 1.0, "1.0000 [.9999, 1.0000]"),
        (0.0, 0.0, 0.0031, ".000 [.000, .003]"),
        (1.0, 0.98, 1.0, "1.00 [.98, 1.00]"),
        (0.4702, 0.4699, 0.4714, ".470 [.470, .471]"),
    ],
)
def test_an_interval_that_would_round_to_its_value_shows_another_digit(
    value: float, low: float, high: float, text: str
) -> None:
    assert estimate(Measure(**KEY, measure="tbr", value=value, low=low, high=high)) == text


def test_an_interval_next_to_zero_does_not_read_as_if_it_began_there() -> None:
    contrast = Measure(**KEY, measure="tbr", value=0.08, low=0.003, high=0.16, against={"prompt": "q"})
    assert estimate(contrast) == "+.080 [.003, .160]"


def test_where_test_and_interval_part_the_reason_is_given() -> None:
    """5 of 40 sets differ, all one way: Newcombe's interval lies above 0, McNemar's exact p is 2 / 2^5."""
    interval, p = newcombe_paired(20, 5, 0, 15), mcnemar_exact(5, 0)
    assert interval.low is not None
    assert (interval.low > 0, p) == (True, 2 / 2**5)
    given = {"low": interval.low, "high": interval.high, "level": 0.95, "interval": interval.method, "p": p}
    contrast = Measure(
        **KEY, measure="tbr", value=0.125, **given, null=MCNEMAR, test="mcnemar_exact", against={"prompt": "q"}
    )
    assert "excludes 0 and p is .062: McNemar's test is exact" in disagreement(contrast)
    assert disagreement(contrast.model_copy(update={"p": 0.04})) == ""
    assert disagreement(contrast.model_copy(update={"adjusted": "holm"})) == ""


def test_estimate_without_interval_is_the_value_alone() -> None:
    assert estimate(Measure(**KEY, measure="tbr", value=0.47)) == ".47"


def test_what_is_not_estimable_is_a_dash() -> None:
    assert estimate(Measure(**KEY, measure="tbr", value=None)) == "–"
    assert estimate(None) == "–"


def test_contrast_estimate_is_signed() -> None:
    contrast = Measure(**KEY, measure="tbr", value=0.2, low=-0.1, high=0.5, against={"prompt": "q"})
    assert estimate(contrast) == "+.20 [−.10, .50]"


def test_agreement_is_not_a_difference_and_has_no_sign() -> None:
    same = Measure(**KEY, measure="agreement", value=0.9, low=0.8, high=0.95, against={"model": "n"})
    assert estimate(same) == ".90 [.80, .95]"


def test_bounds_are_reported_only_where_they_differ_from_each_other() -> None:
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
