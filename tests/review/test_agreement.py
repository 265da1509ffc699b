"""Agreement on ratings made by hand, and on ratings with the counts of published studies."""

from __future__ import annotations

import pytest

from tests.review.making import GRAMMAR, LABEL, make_key, make_ratings
from veridical.review.agreement import measured
from veridical.review.questions import SENTENCE_QUESTIONS, VARIANT_QUESTIONS, Question

EVIDENCE_LABELS = ("Favors", "Challenges", "Unresolved", "Wrong Target")


def test_counts_of_the_evidence_raters_give_the_published_figures() -> None:
    """METHODS.md, 2: agreed on 95 of 98, alpha .953, both on gold 94 of 98, both endpoints in 45 of 49 pairs."""
    sets = [f"pair{pair}" for pair in range(49) for _ in range(2)]
    golds = [label for pair in range(49) for label in ("Favors" if pair < 25 else "Challenges", "Wrong Target")]
    rows = [[gold, gold] for gold in golds]
    rows[1] = ["Unresolved", "Unresolved"]
    for pair in (1, 2, 3):
        rows[2 * pair + 1][1] = "Unresolved"
    question = Question(name="label", text="Which?", values=EVIDENCE_LABELS)
    found = measured(make_ratings(make_key([question], sets, golds), {"label": rows}))
    (label,) = found.questions
    assert (label.exact.value, label.exact.n) == (pytest.approx(95 / 98), 98)
    assert label.alpha_nominal.value == pytest.approx(0.953, abs=5e-4)
    assert label.every_rater is not None
    assert (label.every_rater.value, label.every_rater.n) == (pytest.approx(94 / 98), 98)
    assert label.every_rater_sets is not None
    assert (label.every_rater_sets.value, label.every_rater_sets.n) == (pytest.approx(45 / 49), 49)
    assert label.every_rater_sets.interval == "Wilson"
    one, two = label.raters
    assert one.expected is not None
    assert two.expected_sets is not None
    assert one.expected.value == pytest.approx(97 / 98)
    assert two.expected_sets.value == pytest.approx(45 / 49)
    # The bare agreement on the wrong label is a disagreement with the gold.
    assert [d.item for d in found.disagreements] == ["item1", "item3", "item5", "item7"]
    assert label.adjacent is None
    assert label.alpha_ordinal is None
    assert label.mean is None


def test_counts_of_the_sentence_raters_give_the_published_figures() -> None:
    """METHODS.md, 1: means 4.94, 4.79 and 4.68, overall 4.80, adjacent agreement 96.3 %."""
    n = 300
    given = {}
    # A lone 3 among three raters makes two pairs that are not adjacent, a lone 4 makes none.
    for question, fours, threes in zip(SENTENCE_QUESTIONS, (54, 149, 228), (0, 20, 30), strict=True):
        rows = [["5", "5", "5"] for _ in range(n)]
        for row in rows[:fours]:
            row[0] = "4"
        for row in rows[n - threes :]:
            row[1] = "3"
        given[question.name] = rows
    key = make_key(SENTENCE_QUESTIONS, [f"verb{place}" for place in range(n)], raters=3)
    found = measured(make_ratings(key, given), draws=200)
    means = [question.mean.value for question in found.questions if question.mean is not None]
    assert means == [pytest.approx(mean, abs=5e-3) for mean in (4.94, 4.79, 4.68)]
    assert found.overall is not None
    assert found.overall.mean.value == pytest.approx(4.80, abs=5e-3)
    assert found.overall.adjacent is not None
    assert found.overall.adjacent.value == pytest.approx(0.963, abs=5e-4)
    assert found.overall.adjacent.n == 2700
    # 481 items have one rating that differs from the two others.
    assert found.overall.exact.value == pytest.approx(1 - 2 * 481 / 2700)
    assert len(found.disagreements) == 50
    assert all(question.every_rater is None for question in found.questions)


def test_a_scale_by_hand_with_gaps() -> None:
    rows = [["5", "5", "4"], ["1", "", "3"], ["2", "3", "2"], ["", "", "4"]]
    key = make_key([GRAMMAR], ["w", "x", "y", "z"], raters=3)
    found = measured(make_ratings(key, {"grammar": rows}), draws=500)
    (grammar,) = found.questions
    # Pairs: 5-5, 5-4, 5-4 / 1-3 / 2-3, 2-2, 3-2.
    assert (grammar.exact.value, grammar.exact.n) == (pytest.approx(2 / 7), 7)
    assert grammar.adjacent is not None
    assert grammar.adjacent.value == pytest.approx(6 / 7)
    assert grammar.mean is not None
    assert (grammar.mean.value, grammar.mean.n) == (pytest.approx(29 / 9), 9)
    assert grammar.missing == 3
    assert grammar.counts == {"1": 1, "2": 2, "3": 2, "4": 2, "5": 2}
    assert [(r.rated, r.missing, r.mean) for r in grammar.raters] == [
        (3, 1, pytest.approx(8 / 3)),
        (2, 2, pytest.approx(4)),
        (4, 0, pytest.approx(13 / 4)),
    ]
    assert [(p.raters, p.n, p.exact, p.adjacent) for p in grammar.pairs] == [
        ((1, 2), 2, 0.5, 1.0),
        ((1, 3), 3, pytest.approx(1 / 3), pytest.approx(2 / 3)),
        ((2, 3), 2, 0.0, 1.0),
    ]
    assert grammar.alpha_ordinal is not None
    assert grammar.alpha_ordinal.n == 3
    assert [d.ratings for d in found.disagreements] == [{1: "1", 3: "3"}]


def test_a_set_with_a_missing_rating_is_not_judged_whole() -> None:
    golds = ["a", "b"] * 3
    rows = [["a", "a"], ["b", "b"], ["a", "a"], ["", "b"], ["c", "a"], ["", "b"]]
    key = make_key([LABEL], ["x", "x", "y", "y", "z", "z"], golds)
    (label,) = measured(make_ratings(key, {"label": rows}), draws=500).questions
    one, two = label.raters
    assert one.expected is not None
    assert one.expected_sets is not None
    assert two.expected_sets is not None
    assert (one.expected.value, one.expected.n) == (0.75, 4)
    assert (one.expected_sets.value, one.expected_sets.n) == (1.0, 1)
    assert (two.expected_sets.value, two.expected_sets.n) == (1.0, 3)
    assert one.expected.interval.startswith("too few sets for an interval")


def test_items_without_gold_are_not_compared_with_one() -> None:
    key = make_key([LABEL], ["x", "x", "y"], ["a", "b", "c"])
    items = tuple(item if place else item.model_copy(update={"expected": {}}) for place, item in enumerate(key.items))
    key = key.model_copy(update={"items": items})
    (label,) = measured(make_ratings(key, {"label": [["c", "c"], ["b", "b"], ["a", "c"]]}), draws=100).questions
    one, two = label.raters
    assert one.expected is not None
    assert two.expected_sets is not None
    assert (one.expected.value, one.expected.n) == (0.5, 2)
    assert (two.expected_sets.value, two.expected_sets.n) == (1.0, 2)


def test_yes_and_no_are_a_share_with_what_is_claimed() -> None:
    rows = [["yes", "yes"], ["yes", "no"], ["no", "no"], ["yes", "yes"]]
    key = make_key(VARIANT_QUESTIONS, ["s", "s", "t", "t"], ["yes"] * 4)
    found = measured(make_ratings(key, {"fluent": rows, "label_kept": rows}), draws=100)
    fluent = found.questions[0]
    assert fluent.mean is not None
    assert (fluent.mean.value, fluent.mean.n) == (0.625, 8)
    assert fluent.adjacent is None
    assert fluent.every_rater is not None
    assert fluent.every_rater.value == 0.5
    listed = [(d.question, d.item) for d in found.disagreements]
    assert listed[:2] == [("fluent", "item1"), ("fluent", "item2")]
    # Nothing is claimed of label_kept in this key: only where the raters differ is it listed.
    assert listed[2:] == [("label_kept", "item1")]
    assert found.overall is None


def test_a_scale_of_which_only_ones_were_given_is_no_share() -> None:
    """A Wilson interval of twelve hits of twelve, [.76, 1], would lie below the scale from 1 to 5."""
    key = make_key([GRAMMAR], [f"item {n}" for n in range(12)], raters=1)
    (grammar,) = measured(make_ratings(key, {"grammar": [["1"]] * 12}), draws=100).questions
    assert grammar.mean is not None
    assert (grammar.mean.value, grammar.mean.low, grammar.mean.high) == (1.0, None, None)
    assert grammar.mean.interval == "bootstrap over sets: degenerate"


def test_one_rater_has_means_and_no_agreement() -> None:
    key = make_key([GRAMMAR], ["x", "y"], raters=1)
    (grammar,) = measured(make_ratings(key, {"grammar": [["4"], ["5"]]}), draws=100).questions
    assert grammar.mean is not None
    assert grammar.mean.value == 4.5
    assert grammar.exact.value is None
    assert grammar.alpha_nominal.value is None
    assert grammar.alpha_nominal.interval == "not defined: no item has two ratings"


def test_raters_who_always_say_the_same_have_no_alpha() -> None:
    key = make_key([GRAMMAR], ["x", "y"])
    (grammar,) = measured(make_ratings(key, {"grammar": [["5", "5"], ["5", "5"]]}), draws=100).questions
    assert grammar.exact.value == 1.0
    assert grammar.alpha_nominal.value is None
    assert grammar.alpha_nominal.interval == "not defined: the ratings do not vary"
