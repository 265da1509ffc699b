"""The other measures of the imperfective suites, by hand on small suites."""

from __future__ import annotations

from math import exp, log

import pytest
from scipy import stats

from veridical.judge import contrasts, judge
from veridical.stats.proportions import newcombe_paired

from .judging import frame, get, group_answers, in_sets, item, paradox, quads


def test_cancelled_true_rate_and_overcaution_count_their_label_alone() -> None:
    asked = paradox(10, 10)
    counts = {
        "A": {"True": 4, "False": 3, "Unknown": 3},
        "D": {"True": 5, "Unknown": 2, "False": 3},
    }
    measures = judge(asked, frame(asked, group_answers(counts)))
    assert get(measures, "cancelled_true_rate").value == pytest.approx(0.4)
    assert get(measures, "overcaution").value == pytest.approx(0.2)


def test_pair_consistency_needs_both_right_in_the_same_verb() -> None:
    asked = paradox(4, 4)
    answers = {
        "A0": "False", "C0": "Unknown",  # both
        "A1": "False", "C1": "True",
        "A2": "True", "C2": "Unknown",
        "A3": "True", "C3": "True",
        "B0": "True", "D0": "True",  # both
        "B1": "True", "D1": "True",  # both
        "B2": "False", "D2": "True",
        "B3": "True", "D3": "Unknown",
    }  # fmt: skip
    measures = judge(asked, frame(asked, answers))
    telic = get(measures, "pair_consistency", pair="A&C")
    assert (telic.value, telic.n_sets, telic.n_items) == (0.25, 4, 8)
    assert get(measures, "pair_consistency", pair="B&D").value == 0.5
    assert get(measures, "set_accuracy").value == pytest.approx(3 / 8)
    assert telic.interval == "Wilson"


def test_completed_control_is_a_group_with_its_accuracy() -> None:
    asked = paradox(6, 6, completed=True)
    answers = group_answers({"completed": {"True": 4, "Unknown": 2}})
    measures = judge(asked, frame(asked, answers))
    assert get(measures, "accuracy", group="completed").value == pytest.approx(4 / 6)
    assert get(measures, "accuracy").n_items == 30


def test_class_accuracy_is_given_within_groups_of_several_classes() -> None:
    asked = paradox(8, 4)  # two verbs of each class
    answers = group_answers({"A": {"False": 5, "True": 3}})  # verbs 0..4: Creation (0, 4) both right
    measures = judge(asked, frame(asked, answers))
    assert get(measures, "accuracy", group="A", verb_class="Creation").value == 1
    assert get(measures, "accuracy", group="A", verb_class="Consumption").value == 0.5
    assert not [m for m in measures if m.slice.get("verb_class") == "Activity"]


def test_groups_that_were_not_asked_have_no_record() -> None:
    only_telic = paradox(5, 0)
    measures = judge(only_telic, frame(only_telic, group_answers({"C": {"True": 3, "Unknown": 2}})))
    assert get(measures, "tbr").value == pytest.approx(0.6)
    names = {m.measure for m in measures}
    assert not names & {"aspectual_awareness_gap", "overcaution"}
    assert {m.slice["group"] for m in measures if set(m.slice) == {"group"}} == {"A", "C"}
    only_atelic = paradox(0, 5)
    names = {m.measure for m in judge(only_atelic, frame(only_atelic, group_answers({"D": {"True": 5}})))}
    assert "overcaution" in names
    assert not names & {"tbr", "aspectual_awareness_gap", "cancelled_true_rate", "mean_p_unknown"}


def test_one_set_has_values_and_no_intervals() -> None:
    asked = paradox(1, 1)
    measures = judge(asked, frame(asked, {"A0": "False", "B0": "True", "C0": "True", "D0": "True"}))
    record = get(measures, "tbr")
    assert (record.value, record.low, record.high) == (1, None, None)
    assert "not estimable" in str(record.interval)


def test_mean_p_unknown_is_the_softmax_over_the_labels() -> None:
    asked = paradox(3, 3)
    # order of the scores is that of the suite's labels: True, False, Unknown
    scores = {
        "C0": [log(0.2), log(0.2), log(0.6)],
        "C1": [-1000.0, -1000.0 + log(2), -1000.0 + log(5)],  # far from 0: 1 : 2 : 5
        "C2": [0.0, 0.0, -1.0],
    }
    answers = {"C0": "Unknown", "C1": "Unknown", "C2": None}
    measures = judge(asked, frame(asked, answers, scores=scores, status="tied"))
    third = exp(-1) / (2 + exp(-1))
    assert get(measures, "mean_p_unknown", group="C").value == pytest.approx((0.6 + 5 / 8 + third) / 3)


def test_items_without_scores_are_bounded_by_zero_and_one() -> None:
    asked = paradox(4, 4)
    scores = {"C0": [0.0, 0.0, 0.0], "C1": [float("nan"), 0.0, 0.0], "C2": None}  # C3 has no row
    answers = {"C0": None, "C1": None, "C2": None}
    record = get(judge(asked, frame(asked, answers, scores=scores)), "mean_p_unknown", group="C")
    assert record.value == pytest.approx((1 / 3) / 4)
    assert record.bound_low == pytest.approx((1 / 3) / 4)
    assert record.bound_high == pytest.approx((1 / 3 + 3) / 4)


def test_generated_answers_have_no_probabilities() -> None:
    asked = paradox(4, 4)
    names = {m.measure for m in judge(asked, frame(asked, group_answers({"C": {"True": 4}}), mode="generate"))}
    assert not names & {"mean_p_unknown", "label_mass", "worst_of_set"}


def test_quads_have_a_paired_gap() -> None:
    """20 quadruples: D right and C True in 5, D right alone in 9, C True alone in 2, neither in 4."""
    asked = quads(20)
    answers = {}
    for i in range(20):
        answers[f"D{i}"] = "True" if i < 14 else "Unknown"
        answers[f"C{i}"] = "True" if i < 5 or 14 <= i < 16 else "Unknown"
    record = get(judge(asked, frame(asked, answers)), "aspectual_awareness_gap")
    assert record.value == pytest.approx(14 / 20 - 7 / 20)
    expected = newcombe_paired(5, 9, 2, 4)
    assert (record.low, record.high) == pytest.approx((expected.low, expected.high))
    assert (record.interval, record.n_sets, record.n_items) == ("Newcombe paired", 20, 40)


def test_quads_pair_a_class_with_the_activities_of_its_own_sets() -> None:
    asked = quads(6, ("Creation", "Motion_to_Goal"))  # even sets are Creation
    answers = {f"D{i}": "True" if i % 2 == 0 else "Unknown" for i in range(6)}
    answers |= {f"C{i}": "True" if i in (0, 1) else "Unknown" for i in range(6)}
    measures = judge(asked, frame(asked, answers))
    creation = get(measures, "aspectual_awareness_gap", verb_class="Creation")
    assert creation.value == pytest.approx(1 - 1 / 3)
    assert creation.n_items == 6
    assert creation.interval == "Newcombe paired"
    assert get(measures, "aspectual_awareness_gap", verb_class="Motion_to_Goal").value == pytest.approx(-1 / 3)
    assert get(measures, "pair_consistency", pair="C&D").value == pytest.approx(2 / 6)


def test_constant_answers_to_quads_give_intervals_with_width_or_none() -> None:
    asked = quads(30)
    measures = judge(asked, frame(asked, group_answers({g: {"True": 30} for g in "ABCD"})))
    gap = get(measures, "aspectual_awareness_gap")
    assert gap.value == 0
    assert gap.low < 0 < gap.high
    # every set has the same two items right: the bootstrap has nothing to say, and says so
    accuracy = get(measures, "accuracy")
    assert (accuracy.value, accuracy.low, accuracy.high) == (0.5, None, None)
    assert accuracy.interval == "bootstrap over sets: degenerate"
    assert all(m.low is None or m.low < m.high for m in measures)
    share = get(measures, "constant_share", label="True")
    assert share.value == 1
    assert share.interval == "Wilson over sets (bootstrap degenerate)"
    assert share.low == pytest.approx(30 / (30 + 1.959964**2), abs=1e-6)


def test_classes_are_contrasted_by_fisher_and_newcombe() -> None:
    asked = paradox(40, 4, classes=("Creation", "Motion_to_Goal"))
    answers = {f"C{i}": "True" if (i % 2 == 0 and i < 36) or i in (1, 3) else "Unknown" for i in range(40)}
    found = [m for m in contrasts(asked, frame(asked, answers)) if "verb_class" in m.slice]
    raw, adjusted = found
    assert raw.slice == {"verb_class": "Creation"}
    assert raw.against == {"verb_class": "Motion_to_Goal"}
    assert raw.value == pytest.approx(18 / 20 - 2 / 20)
    assert raw.paired is False
    assert raw.p == pytest.approx(stats.fisher_exact([[18, 2], [2, 18]]).pvalue)
    assert raw.interval == "Newcombe"
    assert adjusted.p == raw.p  # a family of one
    assert "Holm over 1" in str(adjusted.null)


def test_single_class_has_no_class_records() -> None:
    asked = paradox(6, 6, classes=("Creation",))
    measures = judge(asked, frame(asked, group_answers({"C": {"True": 6}})))
    assert not [m for m in measures if "verb_class" in m.slice]


def test_clusters_above_verbs_are_resampled() -> None:
    asked = in_sets(
        {f"v{i}": [item(f"C{i}", ("Unknown",), group="C", verb_class="Creation")] for i in range(30)},
        "imperfective",
        "C",
    )
    grouping = asked.groupings[0]
    members = tuple(m.model_copy(update={"cluster": f"s{i // 3}"}) for i, m in enumerate(grouping.members))
    nested = asked.model_copy(update={"groupings": (grouping.model_copy(update={"members": members}),)})
    answers = {f"C{i}": "True" if i < 15 else "Unknown" for i in range(30)}
    record = get(judge(nested, frame(nested, answers)), "tbr")
    assert record.interval == "bootstrap over clusters"
    assert (record.value, record.n_sets) == (0.5, 30)
    # Ten clusters, five all True and five all Unknown: of Binomial(10, 1/2) the central 95 % are 2 to 8.
    assert (record.low, record.high) == (pytest.approx(0.2), pytest.approx(0.8))
