"""Measures that apply to any suite, worked out by hand."""

from __future__ import annotations

from math import log

import numpy as np
import polars as pl
import pytest
from scipy import stats

from veridical.errors import UserError
from veridical.items import Member
from veridical.judge import MEASURE_SETS, judge, register
from veridical.judge.answering import Answering, answerings
from veridical.judge.constant import constant_label
from veridical.judge.policies import over_sets, share
from veridical.judge.table import SuiteTable

from .judging import LABELS, frame, get, in_sets, item, paradox, suite

PAIRS = in_sets(
    {f"s{i}": [item(f"x{i}", ("True",), kind="x"), item(f"y{i}", ("False",), kind="y")] for i in range(4)},
    roles=("x", "y"),
)
ANSWERS = {
    "x0": "True", "y0": "False",
    "x1": "True", "y1": "True",
    "x2": "Unknown", "y2": "False",
    "x3": "False", "y3": "Unknown",
}  # fmt: skip


def one(asked, responses) -> Answering:
    (answering,) = answerings(SuiteTable(asked), responses)
    return answering


def test_accuracy_by_hand() -> None:
    measures = judge(PAIRS, frame(PAIRS, ANSWERS), by=["kind"])
    assert get(measures, "accuracy").value == pytest.approx(4 / 8)
    assert get(measures, "accuracy", kind="x").value == pytest.approx(2 / 4)
    assert get(measures, "accuracy", kind="x").interval == "Wilson"
    assert get(measures, "accuracy").interval == "too few sets for an interval: 4, and 10 are needed"
    assert (get(measures, "accuracy").n_sets, get(measures, "accuracy").n_items) == (4, 8)


def test_several_gold_labels_are_each_right() -> None:
    asked = suite([item("either", ("True", "Unknown")), item("neither", ("True", "Unknown"))])
    assert get(judge(asked, frame(asked, {"either": "Unknown", "neither": "False"})), "accuracy").value == 0.5


def test_items_without_gold_are_not_graded() -> None:
    asked = suite([item("graded"), item("open", ())])
    record = get(judge(asked, frame(asked, {"graded": "True", "open": "False"})), "accuracy")
    assert (record.value, record.n_items) == (1, 1)


def test_set_policies_by_hand() -> None:
    answering = one(PAIRS, frame(PAIRS, ANSWERS))
    measures = judge(PAIRS, frame(PAIRS, ANSWERS))
    assert get(measures, "set_accuracy").value == 0.25
    assert get(measures, "pair_consistency", pair="x&y").value == 0.25
    shares = over_sets(answering, answering.right(), share, binary=False)
    assert shares is not None
    assert shares.values.value.tolist() == [1, 0.5, 0.5, 0]


def test_worst_of_set_is_the_lowest_probability_of_gold() -> None:
    scores = {
        "x0": [log(0.7), log(0.2), log(0.1)], "y0": [log(0.1), log(0.6), log(0.3)],  # .7 and .6
        "x1": [log(0.9), log(0.05), log(0.05)], "y1": [log(0.8), log(0.1), log(0.1)],  # .9 and .1
    }  # fmt: skip
    asked = in_sets({name: [i for i in PAIRS.items if i.name[1:] == name[1:]] for name in ("s0", "s1")})
    answers = {name: ANSWERS[name] for name in scores}
    record = get(judge(asked, frame(asked, answers, scores=scores)), "worst_of_set")
    assert record.value == pytest.approx((0.6 + 0.1) / 2)


def test_order_sensitivity_by_hand() -> None:
    """Items a..f in three orders: a never changes, b changes, c lacks an answer and has not changed, d lacks one
    and has, e was never answered, f was asked in the first order only."""
    asked = suite([item(name) for name in "abcdef"])
    given = {
        "a": ("True", "True", "True"),
        "b": ("True", "True", "False"),
        "c": ("True", None, "True"),
        "d": ("True", None, "Unknown"),
        "e": (None, None, None),
    }
    orders = [
        frame(
            asked, {**{name: labels[k] for name, labels in given.items()}, **({"f": "True"} if k == 0 else {})}, order=k
        )
        for k in range(3)
    ]
    measures = judge(asked, pl.concat(orders))
    record = get(measures, "order_sensitivity")
    assert record.value == pytest.approx(2 / 6)
    assert (record.bound_low, record.bound_high) == pytest.approx((2 / 6, 5 / 6))
    assert record.statuses == {"ok": 3 + 3 + 2 + 2 + 1, "unparsed": 1 + 1 + 3, "missing": 2}
    # only the first order feeds the others
    assert get(measures, "accuracy").value == pytest.approx(5 / 6)
    assert get(measures, "accuracy").statuses == {"ok": 5, "unparsed": 1}


def test_one_order_has_no_order_sensitivity() -> None:
    assert not [m for m in judge(PAIRS, frame(PAIRS, ANSWERS)) if m.measure == "order_sensitivity"]


def test_item_with_fewer_labels_is_asked_in_fewer_orders() -> None:
    asked = suite([item("two", labels=("True", "False")), item("three")])
    orders = [frame(asked, {"two": "True", "three": "True"}, order=k) for k in range(2)]
    record = get(judge(asked, pl.concat([*orders, frame(asked, {"three": "False"}, order=2)])), "order_sensitivity")
    assert record.value == 0.5
    assert record.statuses == {"ok": 5}


def test_label_mass_is_averaged_over_all_items() -> None:
    asked = suite([item(name) for name in "abcd"])
    answers = {"a": "True", "b": "True", "c": None}
    mass = {"a": 0.9, "b": 0.5, "c": None}
    record = get(judge(asked, frame(asked, answers, label_mass=mass)), "label_mass")
    assert (record.value, record.bound_low, record.bound_high) == pytest.approx((0.35, 0.35, 0.85))


def test_constant_responder_is_found_by_the_share_of_its_answers() -> None:
    asked = suite([item(str(i)) for i in range(100)])
    answers = {str(i): "False" if i < 76 else "True" if i < 80 else None for i in range(100)}
    record = get(judge(asked, frame(asked, answers)), "constant_share", label="False")
    assert record.value == 0.76  # of all items
    assert constant_label(record) == "False"  # 76 of the 80 that it answers: .95
    answers["0"] = "True"
    assert constant_label(get(judge(asked, frame(asked, answers)), "constant_share", label="False")) is None


def test_constant_share_spreads_missing_answers_for_its_lower_bound() -> None:
    # 4 True, 1 False and 7 to place over three labels: no label needs more than 4; one may have 11
    asked = suite([item(str(i)) for i in range(12)])
    answers = {str(i): "True" if i < 4 else "False" if i < 5 else None for i in range(12)}
    record = get(judge(asked, frame(asked, answers)), "constant_share", label="True")
    assert (record.bound_low, record.bound_high) == pytest.approx((4 / 12, 11 / 12))


def test_accuracy_intervals_of_clustered_items_are_wider_than_those_of_as_many_alone() -> None:
    names = [[f"{s}-{i}" for i in range(10)] for s in range(20)]
    sets = {str(s): [item(name) for name in group] for s, group in enumerate(names)}
    answers = {name: "True" if s < 12 else "False" for s, group in enumerate(names) for name in group}
    grouped = in_sets(sets)
    alone = suite([one for group in sets.values() for one in group])
    wide = get(judge(grouped, frame(grouped, answers)), "accuracy")
    narrow = get(judge(alone, frame(alone, answers)), "accuracy")
    assert (wide.value, narrow.value) == (0.6, 0.6)
    # 20 sets of equal members are 20 draws: the binomial's quantiles
    expected = [stats.binom.ppf(q, 20, 0.6) / 20 for q in (0.025, 0.975)]
    assert (wide.low, wide.high) == pytest.approx(expected, abs=0.051)
    assert wide.high - wide.low > 2.5 * (narrow.high - narrow.low)


def test_sets_that_share_an_item_are_resampled_together() -> None:
    shared = item("shared")
    sets = {"s1": [shared, item("a")], "s2": [shared, item("b")], "s3": [item("c"), item("d")]}
    table = SuiteTable(in_sets(sets))
    clusters = table.cluster_of_set
    assert clusters[0] == clusters[1] != clusters[2]


def test_items_outside_every_set_stand_alone() -> None:
    inside, outside = item("in"), item("out")
    table = SuiteTable(suite([inside, outside], [Member(set="s", item=inside.id)]))
    units = table.units(np.array([0, 1]))
    assert units.n_sets == units.n_clusters == 2


def test_a_record_does_not_depend_on_what_else_is_judged() -> None:
    alone = judge(PAIRS, frame(PAIRS, ANSWERS, model="a"))
    together = judge(
        PAIRS, pl.concat([frame(PAIRS, ANSWERS, model="z"), frame(PAIRS, ANSWERS, model="a")]), by=["kind"]
    )
    assert [m for m in together if m.model == "a" and "kind" not in m.slice] == alone
    assert get(judge(PAIRS, frame(PAIRS, ANSWERS), seed=1), "accuracy").value == 0.5


def test_rows_in_any_order_give_the_same_records() -> None:
    responses = frame(PAIRS, ANSWERS)
    assert judge(PAIRS, responses.sample(fraction=1, shuffle=True, seed=3)) == judge(PAIRS, responses)


def test_answers_that_share_a_key_come_in_their_order_of_appearance() -> None:
    frames = [frame(PAIRS, ANSWERS, model=m, prompt=p) for m in ("b", "a") for p in ("dap", "cot")]
    keys = dict.fromkeys((m.model, m.prompt) for m in judge(PAIRS, pl.concat(frames)))
    assert list(keys) == [("b", "dap"), ("b", "cot"), ("a", "dap"), ("a", "cot")]


def test_only_the_first_repeat_is_read_but_for_accuracy_over_repeats() -> None:
    again = frame(PAIRS, dict.fromkeys(ANSWERS, "Unknown")).with_columns(repeat=pl.lit(1, pl.Int64))
    measures = judge(PAIRS, pl.concat([frame(PAIRS, ANSWERS), again]))
    over = ("accuracy_over_repeats", "changed_over_repeats")
    assert [m for m in measures if m.measure not in over] == judge(PAIRS, frame(PAIRS, ANSWERS))
    # 4 of 8 right, then none: each item counts once.
    assert get(measures, "accuracy_over_repeats").value == pytest.approx(2 / 8)
    # Those that were Unknown at first have not changed.
    n_same = sum(answer == "Unknown" for answer in ANSWERS.values())
    assert get(measures, "changed_over_repeats").value == pytest.approx(1 - n_same / 8)


def test_an_answer_that_did_not_come_may_have_changed() -> None:
    first = frame(PAIRS, ANSWERS)
    second = first.with_columns(repeat=pl.lit(1, pl.Int64))
    # Of 8 items one is unparsed the second time, and one was asked once alone.
    items = first["item"].to_list()
    unparsed = pl.col("item") == items[0]
    second = second.filter(pl.col("item") != items[1]).with_columns(
        status=pl.when(unparsed).then(pl.lit("unparsed")).otherwise("status"),
        label=pl.when(unparsed).then(None).otherwise("label"),
    )
    changed = get(judge(PAIRS, pl.concat([first, second])), "changed_over_repeats")
    assert (changed.value, changed.bound_low, changed.bound_high) == (0, 0, pytest.approx(1 / 7))
    assert changed.n_items == 7


def test_nothing_to_judge_gives_no_records() -> None:
    assert judge(PAIRS, frame(PAIRS, {})) == []
    assert judge(PAIRS, frame(PAIRS, ANSWERS).with_columns(suite=pl.lit("other"))) == []


def test_part_of_a_suite_is_judged_by_itself() -> None:
    part = in_sets({"s0": [i for i in PAIRS.items if i.name in ("x0", "y0")]})
    record = get(judge(part, frame(PAIRS, ANSWERS)), "accuracy")
    assert (record.value, record.n_items) == (1, 2)


def test_two_runs_under_one_name_are_refused() -> None:
    twice = pl.concat([frame(PAIRS, ANSWERS), frame(PAIRS, ANSWERS)])
    with pytest.raises(UserError, match="twice"):
        judge(PAIRS, twice)


def test_responses_to_another_version_are_refused() -> None:
    other = suite([item("something else")])
    with pytest.raises(UserError, match="another version"):
        judge(PAIRS, frame(other, {"something else": "True"}))


def test_label_that_an_item_does_not_offer_is_refused() -> None:
    asked = suite([item("two", labels=("True", "False"))])
    with pytest.raises(UserError, match="does not offer"):
        judge(asked, frame(asked, {"two": "Unknown"}))


def test_unknown_measure_set_names_the_nearest() -> None:
    asked = suite([item("a")], measures="imperfectiv")
    with pytest.raises(UserError, match="did you mean 'imperfective'"):
        judge(asked, frame(asked, {"a": "True"}))


def test_measure_sets_can_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veridical.judge.names.MEASURE_SETS", dict(MEASURE_SETS))
    register("mine", "veridical.judge.generic:MEASURE_SET")
    asked = suite([item("a")], measures="mine")
    assert get(judge(asked, frame(asked, {"a": "True"})), "accuracy").value == 1
    with pytest.raises(ValueError, match="already"):
        register("accuracy", "elsewhere:THING")


def test_every_status_is_counted_apart_from_correctness() -> None:
    statuses = ("unparsed", "ambiguous", "empty", "truncated", "tied", "non_finite", "too_long", "error")
    asked = suite([item(str(i)) for i in range(len(statuses) + 2)])
    rows = [frame(asked, {str(i): None}, status=status) for i, status in enumerate(statuses)]
    rows.append(frame(asked, {str(len(statuses)): "True"}))
    record = get(judge(asked, pl.concat(rows)), "accuracy")
    assert record.statuses == {**dict.fromkeys(statuses, 1), "ok": 1, "missing": 1}
    assert (record.value, record.bound_low, record.bound_high) == pytest.approx((0.1, 0.1, 1.0))


def test_records_are_finite_json() -> None:
    asked = paradox(2, 2)
    for record in judge(asked, frame(asked, {one.name: LABELS[0] for one in asked.items})):
        assert "NaN" not in record.model_dump_json()
