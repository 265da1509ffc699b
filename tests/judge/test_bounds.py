"""Bounds: the least and greatest value over every assignment of labels to what was not answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from veridical.items import Suite
from veridical.judge import contrasts, judge
from veridical.judge.measure import Measure

from .judging import LABELS, Answer, frame, get, in_sets, item, paradox, quads

Key = tuple[str, tuple[tuple[str, object], ...]]


def judged(asked: Suite, answers: Mapping[str, Answer]) -> dict[Key, Measure]:
    records = judge(asked, frame(asked, answers), draws=2)
    return {(m.measure, tuple(sorted(m.slice.items()))): m for m in records}


def brute_force(asked: Suite, answers: Mapping[str, Answer]) -> dict[Key, tuple[float, float]]:
    """Least and greatest value of every measure over all completions of the answers."""
    by_name = {one.name: one.labels for one in asked.items}
    # the label of the constant share may change with the completion: its slice is left out of the key
    holes = [name for name in by_name if answers.get(name) is None]
    seen: dict[Key, list[float]] = {}
    for filling in product(*(by_name[name] for name in holes)):
        for (name, where), record in judged(asked, {**answers, **dict(zip(holes, filling, strict=True))}).items():
            key = (name, ()) if name == "constant_share" else (name, where)
            seen.setdefault(key, []).append(record.value)
    return {key: (min(values), max(values)) for key, values in seen.items()}


def check(asked: Suite, answers: Mapping[str, Answer]) -> None:
    expected = brute_force(asked, answers)
    for (name, where), record in judged(asked, answers).items():
        key = (name, ()) if name == "constant_share" else (name, where)
        assert (record.bound_low, record.bound_high) == pytest.approx(expected[key]), key
        assert record.value <= record.bound_high + 1e-12
        if asked is not ODD and name != "constant_share":
            # what is missing counts as 0 in a value even where any answer at all would have counted
            assert record.bound_low - 1e-12 <= record.value


def partial_answers(names: Sequence[str], holes: int, labels: Sequence[str] = LABELS) -> st.SearchStrategy:
    """Answers to all names, some of at most `holes` of them unparsed (None) or absent."""
    full = st.fixed_dictionaries({name: st.sampled_from(labels) for name in names})
    lost = st.dictionaries(st.sampled_from(names), st.booleans(), max_size=holes)

    def lose(pair: tuple[dict[str, str], dict[str, bool]]) -> dict[str, Answer]:
        answers: dict[str, Answer] = {**pair[0], **dict.fromkeys(pair[1])}
        return {name: answer for name, answer in answers.items() if not pair[1].get(name, False)}

    return st.tuples(full, lost).map(lose)


BETWEEN = paradox(2, 2, completed=True, classes=("Creation", "Consumption"))
WITHIN = quads(2)


@given(partial_answers([one.name for one in BETWEEN.items], 3))
@settings(max_examples=8)
def test_bounds_are_those_of_every_assignment(answers: dict[str, Answer]) -> None:
    check(BETWEEN, answers)


@given(partial_answers([one.name for one in WITHIN.items], 3))
@settings(max_examples=8)
def test_bounds_within_sets_are_those_of_every_assignment(answers: dict[str, Answer]) -> None:
    check(WITHIN, answers)


SHARED = item("shared", ("a",), ("a", "b"))
ODD = in_sets(
    {
        # one item in two sets, two gold labels, an item with one choice, items that offer other labels
        "s1": [SHARED, item("x", ("a", "b"), ("a", "b", "c"))],
        "s2": [SHARED, item("only", ("d",), ("d",)), item("y", ("c",), ("c", "d"))],
        "s3": [item("all gold", ("a", "b"), ("a", "b")), item("no gold", (), ("a", "c"))],
    }
)


@given(st.sets(st.sampled_from([one.name for one in ODD.items]), max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=25)
def test_bounds_hold_for_items_with_their_own_choices(lost: set[str], random: object) -> None:
    choose = random.choice  # type: ignore[attr-defined]
    check(ODD, {one.name: None if one.name in lost else choose(one.labels) for one in ODD.items})


def test_missing_answer_in_c_counts_as_true_for_the_upper_bound_of_tbr() -> None:
    asked = paradox(10, 10)
    answers = {f"C{i}": "Unknown" for i in range(7)} | {"C7": "True", "C8": None}  # C9 is absent altogether
    answers |= {f"D{i}": "True" for i in range(9)} | {"D9": None}
    measures = judge(asked, frame(asked, answers))
    tbr = get(measures, "tbr")
    assert (tbr.value, tbr.bound_low, tbr.bound_high) == pytest.approx((0.1, 0.1, 0.3))
    assert tbr.statuses == {"ok": 8, "unparsed": 1, "missing": 1}
    gap = get(measures, "aspectual_awareness_gap")
    assert (gap.value, gap.bound_low, gap.bound_high) == pytest.approx((0.8, 0.9 - 0.3, 1.0 - 0.1))
    assert gap.statuses == {"ok": 17, "unparsed": 2, "missing": 1}


def test_bounds_of_a_comparison_use_the_far_ends_of_both_sides() -> None:
    asked = paradox(4, 4)
    one = frame(asked, {"C0": "True", "C1": "True", "C2": "Unknown", "C3": None}, model="one")
    other = frame(asked, {"C0": "True", "C1": None, "C2": "Unknown", "C3": "Unknown"}, model="other")
    record = get([m for m in contrasts(asked, one.vstack(other))[::2] if m.measure == "tbr"], "tbr")
    assert record.value == pytest.approx(0.5 - 0.25)
    assert (record.bound_low, record.bound_high) == pytest.approx((0.5 - 0.5, 0.75 - 0.25))
    assert record.statuses == {"ok": 6, "unparsed": 2}


def test_everything_answered_leaves_no_room() -> None:
    asked = paradox(3, 3)
    answers = {one.name: LABELS[i % 3] for i, one in enumerate(asked.items)}
    for record in judge(asked, frame(asked, answers)):
        assert record.bound_low == record.value == record.bound_high
        assert record.statuses == {"ok": record.n_items}


def test_nothing_answered_leaves_all_of_it() -> None:
    asked = paradox(3, 3)
    measures = judge(asked, frame(asked, {"A0": None}))
    assert (get(measures, "accuracy").bound_low, get(measures, "accuracy").bound_high) == (0, 1)
    gap = get(measures, "aspectual_awareness_gap")
    assert (gap.value, gap.bound_low, gap.bound_high) == (0, -1, 1)
    assert not [m for m in measures if m.measure == "constant_share"]
