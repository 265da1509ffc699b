"""Measures of "same evidence, different targets", worked out by hand."""

from __future__ import annotations

import polars as pl
import pytest

from veridical.judge import baseline_frame, contrasts, judge
from veridical.report.results import Results
from veridical.suites.evidence.recovered import per_token

from .judging import frame, get, in_sets, item

LABELS = ("Favors", "Challenges", "Unresolved", "Wrong Target")


def pairs():
    """Four pairs, two of either kind, in two categories."""
    sets = {}
    for number, (kind, category) in enumerate(
        [("Favors", "a"), ("Challenges", "a"), ("Favors", "b"), ("Challenges", "b")]
    ):
        factors = {"kind": kind, "category": category}
        sets[f"p{number}"] = [
            item(f"yes{number}", (kind,), LABELS, **factors),
            item(f"no{number}", ("Wrong Target",), LABELS, **factors),
        ]
    return in_sets(sets, "evidence", ("addressed", "wrong_target"))


SUITE = pairs()
ANSWERS = {
    "yes0": "Favors", "no0": "Wrong Target",        # recovered
    "yes1": "Favors", "no1": "Wrong Target",        # addressed, of the wrong polarity
    "yes2": "Favors", "no2": "Favors",              # the wrong target taken for the right one
    "yes3": "Wrong Target", "no3": "Wrong Target",  # not addressed
}  # fmt: skip


def test_by_hand() -> None:
    found = judge(SUITE, frame(SUITE, ANSWERS))
    # Recalls: Favors 2/2, Challenges 0/2, Wrong Target 3/4; Unresolved does not occur.
    assert get(found, "balanced_accuracy").value == pytest.approx((1 + 0 + 0.75) / 3)
    assert get(found, "accuracy").value == pytest.approx(5 / 8)
    assert get(found, "accuracy", gold="Wrong Target").value == pytest.approx(3 / 4)
    assert get(found, "pair_recovery").value == pytest.approx(1 / 4)
    assert get(found, "pair_recovery").interval == "Wilson"
    assert get(found, "pair_recovery", kind="Favors").value == pytest.approx(1 / 2)
    assert get(found, "pair_recovery", kind="Challenges").value == 0
    assert get(found, "pair_recovery", category="a").value == pytest.approx(1 / 2)
    # Addressed or not: right but for no2 and yes3.
    assert get(found, "address_accuracy").value == pytest.approx(6 / 8)
    # Of the addressed that were taken as such (yes0, yes1, yes2), two have the right polarity.
    assert get(found, "polarity_accuracy").value == pytest.approx(2 / 3)
    assert get(found, "polarity_accuracy").n_items == 3


@pytest.mark.parametrize(
    ("label", "balanced"), [("Favors", 1 / 3), ("Challenges", 1 / 3), ("Wrong Target", 1 / 3), ("Unresolved", 0.0)]
)
def test_constant_answers_score_a_third_or_nothing_and_recover_no_pair(label: str, balanced: float) -> None:
    found = [r for r in judge(SUITE, baseline_frame(SUITE, [label])) if r.answerer == f"always:{label}"]
    assert get(found, "balanced_accuracy").value == pytest.approx(balanced)
    assert get(found, "pair_recovery").value == 0


def test_bounds_range_over_every_label_of_what_is_missing() -> None:
    """Without yes1 (a Challenges) and no2 (a Wrong Target)."""
    answers = {name: label for name, label in ANSWERS.items() if name not in ("yes1", "no2")}
    found = judge(SUITE, frame(SUITE, answers))
    balanced = get(found, "balanced_accuracy")
    # Recalls at worst 1, 0, 3/4; at best 1, 1/2, 1.
    assert (balanced.bound_low, balanced.bound_high) == (pytest.approx(1.75 / 3), pytest.approx(2.5 / 3))
    recovery = get(found, "pair_recovery")
    # p0 is recovered; p1 and p2 could be.
    assert (recovery.bound_low, recovery.bound_high) == (pytest.approx(1 / 4), pytest.approx(3 / 4))
    address = get(found, "address_accuracy")
    # Right on yes0, no0, no1, yes2, no3; wrong on yes3; two open.
    assert (address.value, address.bound_low, address.bound_high) == (
        pytest.approx(5 / 8),
        pytest.approx(5 / 8),
        pytest.approx(7 / 8),
    )
    polarity = get(found, "polarity_accuracy")
    # yes0 and yes2 are right, yes1 is open, yes3 was not taken as addressed.
    assert (polarity.bound_low, polarity.bound_high) == (pytest.approx(2 / 3), pytest.approx(1.0))


def test_a_handful_of_pairs_has_no_bootstrap_interval() -> None:
    balanced = get(judge(SUITE, frame(SUITE, ANSWERS)), "balanced_accuracy")
    assert balanced.interval.startswith("too few sets for an interval")
    assert (balanced.low, balanced.high) == (None, None)


def test_kinds_are_compared() -> None:
    found = [r for r in contrasts(SUITE, frame(SUITE, ANSWERS)) if r.measure == "pair_recovery"]
    record = found[0]
    assert record.against == {"kind": "Challenges"}
    assert record.value == pytest.approx(1 / 2)


def test_scores_per_token_stand_next_to_the_sums() -> None:
    """Wrong Target has two tokens: its sum of -3 loses to -2, its mean of -1.5 wins; one of two pairs is then right."""
    asked = in_sets(
        {f"p{n}": [item(f"yes{n}", ("Favors",), LABELS), item(f"no{n}", ("Wrong Target",), LABELS)] for n in range(2)},
        "evidence",
        ("addressed", "wrong_target"),
    )
    scores = {
        "yes0": [-1.0, -9.0, -9.0, -9.0], "no0": [-2.0, -9.0, -9.0, -3.0],
        "yes1": [-2.0, -9.0, -9.0, -3.0], "no1": [-2.0, -9.0, -9.0, -3.0],
    }  # fmt: skip
    rows = frame(asked, dict.fromkeys(scores, "Favors"), scores=scores)
    tokens = pl.lit([1, 1, 1, 2], dtype=pl.List(pl.Int64()))
    found = judge(asked, rows.with_columns(tokens=tokens, chars=tokens, bytes=tokens))
    assert get(found, "balanced_accuracy").value == pytest.approx(1 / 2)
    assert get(found, "pair_recovery").value == 0
    # Per token Wrong Target is taken in all but yes0.
    assert get(found, "balanced_accuracy", normalisation="token").value == pytest.approx((1 / 2 + 1) / 2)
    assert get(found, "pair_recovery", normalisation="token").value == pytest.approx(1 / 2)
    (line,) = per_token(Results.of(found, asked.name))
    assert "by scores per token balanced .75" in line
    assert "pairs 1 of 2; by their sum .50" in line
