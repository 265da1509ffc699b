"""Two right answers of four and whether they lead; pairs of opposite items and whether they are distinguished."""

from __future__ import annotations

import math
from collections.abc import Sequence

import polars as pl
import pytest

from tests.judge.judging import item
from veridical.items import Grouping, Item, Member, Suite
from veridical.judge.frame import SCHEMA
from veridical.judge.judgement import judge
from veridical.judge.measure import Measure
from veridical.prompts.template import Prompt

LABELS = ("A", "B", "C", "D")


def _measure(
    scores: Sequence[Sequence[float] | None],
    *,
    gold: Sequence[str] = ("A", "B"),
    labels: Sequence[str] = LABELS,
    normalisation: str = "sum",
    chars: Sequence[int] = (1, 1, 1, 1),
) -> Measure | None:
    """The measure of a model that gives each item these scores (None: it was not scored)."""
    items: list[Item] = [item(f"item {number}", gold, labels) for number in range(len(scores))]
    suite = Suite(
        name="two",
        version="1",
        measures="benchmark",
        normalisation=normalisation,
        prompts=(Prompt(name="plain", user="{{ text }}"),),
        items=tuple(items),
    )
    rows = [_row(one, row, labels, chars) for one, row in zip(items, scores, strict=True)]
    found = [m for m in judge(suite, pl.DataFrame(rows, schema=SCHEMA), draws=50) if m.measure == "two_best_accuracy"]
    return found[0] if found else None


def _value(*scores: Sequence[float] | None, **options: object) -> tuple[float | None, float | None, float | None]:
    measure = _measure(scores, **options)  # type: ignore[arg-type]
    assert measure is not None
    return measure.value, measure.bound_low, measure.bound_high


@pytest.mark.parametrize(
    ("scores", "value"),
    [
        ((-1, -2, -3, -4), 1),
        ((-2, -1, -3, -4), 1),  # either order of the two
        ((-1, -3, -2, -4), 0),  # one right, one wrong
        ((-3, -4, -1, -2), 0),  # both wrong
        ((-3, -1, -2, -4), 0),
    ],
)
def test_both_right_ones_must_lead(scores: Sequence[float], value: float) -> None:
    assert _value(scores) == (value, value, value)


def test_it_is_a_share_of_items() -> None:
    assert _value((-1, -2, -3, -4), (-1, -3, -2, -4), (-2, -1, -4, -3), (-4, -3, -2, -1))[0] == 0.5


def test_a_tie_for_the_second_place_is_open() -> None:
    assert _value((-1, -2, -2, -4)) == (0, 0, 1)


def test_a_tie_of_the_two_right_ones_is_not_a_tie() -> None:
    assert _value((-1, -1, -2, -4)) == (1, 1, 1)


def test_what_was_not_scored_is_open() -> None:
    assert _value((-1, -2, -3, -4), None) == (0.5, 0.5, 1)


def test_a_score_that_is_not_finite_leaves_its_item_open() -> None:
    assert _value((-1, -2, -3, -4), (-1, -2, -3, -math.inf)) == (0.5, 0.5, 1)


def test_scores_are_taken_under_the_suites_normalisation() -> None:
    """By sum the second right one is last of three; by character it is -8/8, above -3/2."""
    scores, chars = (-1, -8, -3, -9), (1, 8, 2, 2)

    assert _value(scores, chars=chars)[0] == 0
    assert _value(scores, chars=chars, normalisation="char")[0] == 1


@pytest.mark.parametrize(("gold", "labels"), [(("A",), LABELS), (("A", "B", "C"), LABELS), (("A", "B"), ("A", "B"))])
def test_it_applies_to_two_right_answers_among_more(gold: Sequence[str], labels: Sequence[str]) -> None:
    assert (
        _measure([[-1.0, -2.0, -3.0, -4.0][: len(labels)]], gold=gold, labels=labels, chars=(1,) * len(labels)) is None
    )


def _pairs(
    *pairs: tuple[tuple[float, float] | None, tuple[float, float] | None], gold: str = "YN", extra: bool = False
) -> tuple[float | None, float | None, float | None] | None:
    """`forced_choice` of pairs whose items get these scores of Y and N; the first one's gold is Y, the second's N."""
    items, members, rows = [], [], []
    for number, scores in enumerate(pairs):
        for place, score in enumerate(scores):
            one = item(f"{number} {place}", (gold[place],), ("Y", "N"))
            items.append(one)
            members.append(Member(set=str(number), item=one.id))
            rows.append(_row(one, score, ("Y", "N")))
    if extra:
        items.append(item("a third", ("Y",), ("Y", "N")))
        members.append(Member(set="0", item=items[-1].id))
        rows.append(_row(items[-1], (0, -1), ("Y", "N")))
    suite = Suite(
        name="two",
        version="1",
        measures="benchmark",
        prompts=(Prompt(name="plain", user="{{ text }}"),),
        items=tuple(items),
        groupings=(Grouping(name="pair", members=tuple(members)),),
    )
    measures = judge(suite, pl.DataFrame(rows, schema=SCHEMA), draws=50)
    found = [(m.value, m.bound_low, m.bound_high) for m in measures if m.measure == "forced_choice"]
    return found[0] if found else None


def test_a_model_that_says_yes_to_both_may_still_tell_them_apart() -> None:
    """Yes is likelier than no in both, by 3 nats in the one where it is right and by 2 in the other."""
    assert _pairs(((-1, -4), (-1, -3))) == (1, 1, 1)
    assert _pairs(((-1, -3), (-1, -4))) == (0, 0, 0)


def test_pairs_are_counted_each_as_one() -> None:
    assert _pairs(((-1, -4), (-1, -3)), ((-1, -3), (-1, -4)), ((-2, -9), (-9, -2)), ((-1, -5), (-1, -2))) == (
        0.75,
        0.75,
        0.75,
    )


def test_a_pair_with_equal_log_odds_is_open() -> None:
    assert _pairs(((-1, -3), (-2, -4))) == (0, 0, 1)


def test_a_pair_of_which_one_item_was_not_scored_is_open() -> None:
    assert _pairs(((-1, -4), (-1, -3)), ((-1, -4), None)) == (0.5, 0.5, 1)


def test_forced_choice_needs_opposite_gold_labels() -> None:
    assert _pairs(((-1, -4), (-1, -3)), gold="YY") is None


def test_forced_choice_needs_sets_of_two() -> None:
    assert _pairs(((-1, -4), (-1, -3)), extra=True) is None


def _row(
    one: Item, scores: Sequence[float] | None, labels: Sequence[str], chars: Sequence[int] | None = None
) -> dict[str, object]:
    """A response to the item with these scores (None: it was not scored)."""
    row = dict.fromkeys(SCHEMA.names()) | {
        "suite": "two",
        "model": "planted",
        "answerer": "model",
        "input": "full",
        "prompt": "plain",
        "mode": "loglikelihood",
        "order": 0,
        "repeat": 0,
        "item": one.id,
    }
    if scores is None:
        return row | {"status": "error"}
    return row | {
        "status": "ok",
        "label": labels[max(range(len(scores)), key=scores.__getitem__)],
        "labels": list(labels),
        "scores": [float(score) for score in scores],
        "chars": None if chars is None else list(chars),
    }
