"""Reading scores and text: views worked out by hand, and what is never an answer."""

from __future__ import annotations

import math

import pytest

from veridical.errors import UserError
from veridical.judge.answers import NORMALISATIONS, read_scores, read_text
from veridical.models.protocol import ChoiceScore
from veridical.status import Status

LABELS = ("True", "False", "Unknown")


def score(total: float, tokens: int = 1, chars: int = 4, n_bytes: int = 4, without: float | None = None) -> ChoiceScore:
    return ChoiceScore(total, tokens, chars, n_bytes, without)


# -6 over 2 tokens, 4 characters, 8 bytes; without its context -1.
ONE = score(-6.0, 2, 4, 8, -1.0)
# -4 over 1 token, 2 characters, 2 bytes; without its context -3.5.
TWO = score(-4.0, 1, 2, 2, -3.5)


@pytest.mark.parametrize(
    ("normalisation", "one", "two", "best"),
    [
        ("sum", -6.0, -4.0, "two"),
        ("token", -3.0, -4.0, "one"),
        ("char", -1.5, -2.0, "one"),
        ("byte", -0.75, -2.0, "one"),
        ("unconditional", -5.0, -0.5, "two"),
    ],
)
def test_every_normalisation_is_a_view_over_what_is_stored(
    normalisation: str, one: float, two: float, best: str
) -> None:
    reading = read_scores(("one", "two"), (ONE, TWO), normalisation)
    assert reading.scores == (one, two)
    assert (reading.status, reading.label) == (Status.OK, best)
    assert reading.margin == pytest.approx(abs(one - two))


def test_normalisations_are_those_of_a_suite() -> None:
    assert list(NORMALISATIONS) == ["sum", "token", "char", "byte", "unconditional"]


def test_label_mass_is_the_probability_of_the_choices_together_whatever_the_normalisation() -> None:
    scores = (score(math.log(0.5), 2), score(math.log(0.25)), score(math.log(0.05)))
    for normalisation in ("sum", "token"):
        assert read_scores(LABELS, scores, normalisation).label_mass == pytest.approx(0.8)


def test_margin_is_between_the_best_and_the_second() -> None:
    reading = read_scores(LABELS, (score(-3.0), score(-1.0), score(-1.5)))
    assert (reading.label, reading.margin) == ("False", pytest.approx(0.5))
    assert read_scores(("only",), (score(-2.0),)).margin is None


def test_trap_20_constant_scores_are_tied_and_not_the_first_label() -> None:
    reading = read_scores(LABELS, (score(-1.0),) * 3)
    assert (reading.status, reading.label, reading.margin) == (Status.TIED, None, 0.0)


def test_best_two_within_a_millionth_tie_and_a_tie_below_the_best_does_not() -> None:
    assert read_scores(LABELS, (score(-1.0), score(-1.0 - 5e-7), score(-9.0))).status is Status.TIED
    assert read_scores(LABELS, (score(-1.0), score(-1.0 - 2e-6), score(-9.0))).label == "True"
    assert read_scores(LABELS, (score(-9.0), score(-9.0), score(-1.0))).label == "Unknown"


@pytest.mark.parametrize("odd", [-math.inf, math.inf, math.nan])
def test_trap_22_a_score_that_is_not_finite_is_a_status_and_never_index_0(odd: float) -> None:
    for scores in ((score(odd),) * 3, (score(-1.0), score(odd), score(-2.0))):
        reading = read_scores(LABELS, scores)
        assert (reading.status, reading.label, reading.scores) == (Status.NON_FINITE, None, ())


def test_trap_1_a_choice_without_a_token_to_score_never_wins() -> None:
    reading = read_scores(LABELS, (score(0.0, tokens=0), score(-1.0), score(-2.0)))
    assert (reading.status, reading.label) == (Status.EMPTY, None)
    assert read_scores(("a", ""), (score(-1.0), ChoiceScore(0.0, 1, 0, 0))).status is Status.EMPTY


def test_a_callers_mistakes_are_errors() -> None:
    with pytest.raises(ValueError, match="2 scores for 3 labels"):
        read_scores(LABELS, (ONE, TWO))
    with pytest.raises(ValueError, match="unconditional"):
        read_scores(("a", "b"), (score(-1.0), score(-2.0)), "unconditional")
    with pytest.raises(UserError, match="did you mean 'token'"):
        read_scores(("one", "two"), (ONE, TWO), "tokens")


def test_text_is_read_by_the_parser() -> None:
    assert read_text(LABELS, "**Unknown**.").label == "Unknown"
    assert read_text(LABELS, '{"label": "False"}').detail == "json"
    assert read_text(LABELS, "True", "length").status is Status.TRUNCATED
    assert read_text(LABELS, "True or False").status is Status.AMBIGUOUS
    assert read_text(LABELS, "The answer is True.", thinking_open=True).status is Status.TRUNCATED


@pytest.mark.parametrize("text", [None, "", "\n"])
def test_trap_34_a_call_that_brought_nothing_is_empty_and_has_no_scores(text: str | None) -> None:
    reading = read_text(LABELS, text)
    assert (reading.status, reading.label, reading.scores) == (Status.EMPTY, None, ())
