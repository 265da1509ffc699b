"""Levels of chance and references of independence, worked out by hand."""

from __future__ import annotations

import random
from statistics import mean

import pytest

from veridical.judge import judge
from veridical.judge.chance import chance_levels
from veridical.judge.measure import Measure
from veridical.judge.verdict import verdicts

from .judging import frame, get, in_sets, item, paradox

YES_NO = ("True", "False")


def level(asked, measure: str, **where: object) -> Measure:
    (found,) = [m for m in chance_levels(asked) if m.measure == measure and dict(m.slice) == where]
    return found


def coins(n: int):
    """`n` pairs of yes/no questions with opposite answers."""
    return in_sets(
        {f"s{i}": [item(f"x{i}", ("True",), YES_NO), item(f"y{i}", ("False",), YES_NO)] for i in range(n)},
        roles=("x", "y"),
    )


def test_a_coin_gets_half_of_the_items_and_a_quarter_of_the_pairs() -> None:
    asked = coins(20)
    assert level(asked, "accuracy").value == 0.5
    assert level(asked, "set_accuracy").value == 0.25
    assert (level(asked, "set_accuracy").n_sets, level(asked, "set_accuracy").n_items) == (20, 40)
    assert level(asked, "pair_consistency", pair="x&y").value == 0.25
    assert level(asked, "accuracy").low is None
    assert level(asked, "accuracy").answerer == "chance"


def test_sets_of_different_sizes_and_choices_have_each_their_own_chance() -> None:
    four = ("a", "b", "c", "d")
    asked = in_sets(
        {
            "two": [item("p", ("a",), four), item("q", ("a", "b"), four)],
            "three": [item("r"), item("s"), item("t")],
        }
    )
    assert level(asked, "accuracy").value == pytest.approx((1 / 4 + 2 / 4 + 3 * 1 / 3) / 5)
    assert level(asked, "set_accuracy").value == pytest.approx((1 / 4 * 2 / 4 + 1 / 27) / 2)


def test_a_guess_among_three_labels_has_no_gap() -> None:
    asked = paradox(4, 4)
    assert level(asked, "tbr").value == pytest.approx(1 / 3)
    assert level(asked, "aspectual_awareness_gap").value == pytest.approx(0)
    assert level(asked, "accuracy", group="C").value == pytest.approx(1 / 3)
    assert level(asked, "pair_consistency", pair="A&C").value == pytest.approx(1 / 9)


def test_answers_that_are_graded_only_have_no_chance() -> None:
    asked = coins(3).model_copy(update={"measures": "graded"})
    assert list(chance_levels(asked)) == []


@pytest.mark.parametrize("measures", ["evidence", "merge"])
def test_roles_of_other_suites_have_their_level(measures: str) -> None:
    four = ("Favors", "Challenges", "Unresolved", "Wrong Target")
    roles = {"evidence": ("addressed", "wrong_target"), "merge": ("seed", "variant")}[measures]
    asked = in_sets(
        {f"s{i}": [item(f"x{i}", ("Favors",), four), item(f"y{i}", ("Wrong Target",), four)] for i in range(3)},
        measures,
        roles,
    )
    if measures == "merge":
        assert level(asked, "seed_accuracy").value == level(asked, "variant_accuracy").value == 0.25
    else:
        assert level(asked, "balanced_accuracy").value == 0.25
        assert level(asked, "pair_recovery").value == 1 / 16
        # Favors: three labels of four say that the target is addressed; Wrong Target: one of four is right.
        assert level(asked, "address_accuracy").value == pytest.approx((3 / 4 + 1 / 4) / 2)


def test_a_simulated_guess_comes_to_the_level() -> None:
    asked, draws = coins(200), []
    for seed in range(20):
        rng = random.Random(seed)
        guesses = {one.name: rng.choice(one.labels) for one in asked.items}
        draws.append(get(judge(asked, frame(asked, guesses), draws=10), "set_accuracy").value)
    # 4,000 pairs: a standard error of .007
    assert mean(draws) == pytest.approx(0.25, abs=0.025)


def test_independence_with_one_role_is_the_power_of_accuracy() -> None:
    asked = in_sets({f"s{i}": [item(f"x{i}"), item(f"y{i}"), item(f"z{i}")] for i in range(4)})
    wrong = {"x0": "False", "y0": "False", "z0": "False"}
    answers = {one.name: wrong.get(one.name, "True") for one in asked.items}
    measures = judge(asked, frame(asked, answers))
    assert get(measures, "set_accuracy").value == 0.75
    assert get(measures, "set_accuracy_reference").value == pytest.approx(0.75**3)


def test_independence_goes_by_role() -> None:
    """Always True is right on every x and no y: it has no set right, and would have none by accident either."""
    asked = coins(10)
    measures = judge(asked, frame(asked, {one.name: "True" for one in asked.items}))
    assert get(measures, "accuracy").value == 0.5
    assert get(measures, "set_accuracy_reference").value == 0


def test_what_is_missing_widens_the_bounds_of_independence() -> None:
    asked = in_sets({f"s{i}": [item(f"x{i}", ("True",), YES_NO), item(f"y{i}", ("True",), YES_NO)] for i in range(2)})
    found = get(judge(asked, frame(asked, {"x0": "True", "y0": "True", "x1": "True"})), "set_accuracy_reference")
    assert found.value == pytest.approx(0.75**2)
    assert (found.bound_low, found.bound_high) == (pytest.approx(0.75**2), 1)


def sentence(asked, answers) -> str:
    measures = [*judge(asked, frame(asked, answers)), *chance_levels(asked)]
    (found,) = verdicts(measures)
    return found


def test_the_verdict_says_what_guessing_would_get() -> None:
    asked = coins(20)
    rng = random.Random(3)
    said = sentence(asked, {one.name: rng.choice(one.labels) for one in asked.items})
    assert "not distinguished from guessing" in said
    assert "(guessing: 50 %)" in said
    assert "guessing: 25 %" in said


def test_the_verdict_of_a_good_model_is_not_about_guessing() -> None:
    asked = coins(20)
    said = sentence(asked, {one.name: one.gold[0] for one in asked.items})
    assert said.startswith("m")
    assert "not distinguished" not in said
    assert "worse" not in said


def test_a_model_below_chance_is_said_to_be() -> None:
    asked = coins(20)
    other = {"True": "False", "False": "True"}
    assert "worse than guessing" in sentence(asked, {one.name: other[one.gold[0]] for one in asked.items})
