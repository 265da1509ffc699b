"""Imported runs judged by sets, and what an imported item is."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import binomtest

from tests.interop.sampled import choice_record, text_record, write_results, write_samples
from veridical.errors import UserError
from veridical.interop.imports.importing import import_logs
from veridical.items import Item
from veridical.runs.load import open_runs
from veridical.runs.stored import StoredSuite
from veridical.studies.judged import Judgement

RIGHT, WRONG = (-1.0, -2.0, -3.0), (-2.0, -1.0, -3.0)


def passages(pattern: str):
    """Records with gold 0, right where the pattern says `r`; two to a passage."""
    return [
        choice_record(number, RIGHT if letter == "r" else WRONG, 0, passage=f"p{number // 2}")
        for number, letter in enumerate(pattern)
    ]


def imported(folder, records, name="m"):
    write_results(folder / name, {"small": {"acc,none": float(np.mean([record["acc"] for record in records]))}}, name)
    write_samples(folder / name, records)
    return import_logs("lm-eval", folder / name, folder / f"run-{name}")


def measured(judgement, measure, **where):
    return [m for m in judgement.records if m.measure == measure and all(getattr(m, k) == v for k, v in where.items())]


def judged(*done, sets=None):
    return Judgement(tuple(open_runs([one.study.path for one in done])), sets=sets)


def test_sets_of_a_field_are_right_where_every_item_is(tmp_path):
    """Passages rr rw ww rr: items 5 of 8, sets 2 of 4."""
    done = imported(tmp_path, passages("rrrwwwrr"))
    judgement = judged(done, sets="passage")
    (accuracy,) = measured(judgement, "accuracy", answerer="model")
    (sets,) = measured(judgement, "set_accuracy", answerer="model")
    assert (accuracy.value, accuracy.n_items, accuracy.n_sets) == (5 / 8, 8, 4)
    assert accuracy.interval == "too few sets for an interval: 4, and 10 are needed"
    assert (sets.value, sets.n_sets) == (0.5, 4)
    (worst,) = measured(judgement, "worst_of_set", answerer="model")
    # softmax of (-1, -2, -3) gives the first .665 and the second .245
    total = np.exp([-1, -2, -3]).sum()
    assert worst.value == pytest.approx((2 * np.exp(-1) + 2 * np.exp(-2)) / total / 4)


def test_two_imported_runs_are_compared_on_set_outcomes(tmp_path):
    """McNemar on sets: 6 right under the first alone, 1 under the second alone, 1 under both."""
    first = imported(tmp_path, passages("rr" * 7 + "rw"), "first")
    second = imported(tmp_path, passages("rw" * 6 + "rr" * 2), "second")
    judgement = judged(first, second, sets="passage")
    found = [m for m in measured(judgement, "set_accuracy") if m.against == {"model": "second"}]
    contrast = found[0]
    assert contrast.value == pytest.approx(7 / 8 - 2 / 8)
    assert contrast.p == pytest.approx(binomtest(6, 7).pvalue)
    assert "McNemar" in contrast.null
    assert contrast.paired
    assert "Newcombe" in contrast.interval


def test_runs_over_different_parts_of_a_task_are_compared_on_what_both_answered(tmp_path):
    first = imported(tmp_path, passages("rrrrrr"), "first")
    second = imported(tmp_path, passages("rrww"), "second")
    contrasts = [m for m in measured(judged(first, second), "accuracy") if m.against == {"model": "second"}]
    assert (contrasts[0].value, contrasts[0].n_items) == (0.5, 4)


def test_a_third_run_does_not_change_how_the_first_two_compare(tmp_path):
    """Of 6, 4 and 2 items: the first two are compared over 4, whatever the third was asked."""
    first = imported(tmp_path, passages("rrrrrr"), "first")
    second = imported(tmp_path, passages("rrww"), "second")
    third = imported(tmp_path, passages("rr"), "third")
    judgement = judged(first, second, third)
    found = {
        (m.model, m.against["model"]): (m.value, m.n_items)
        for m in measured(judgement, "accuracy")
        if m.against and "Holm" not in str(m.null)
    }
    assert found == {("first", "second"): (0.5, 4), ("first", "third"): (0, 2), ("second", "third"): (0, 2)}
    said = "small: models were asked different items; every two are compared over the items that both were asked, "
    assert f"{said}2 to 4 of 6." in judgement.verdicts
    alike = judged(first, imported(tmp_path, passages("wwwwww"), "fourth"))
    assert not any("asked different items" in message for message in alike.verdicts)


def test_an_unknown_field_is_answered_with_the_nearest_of_all_suites(tmp_path):
    write_samples(tmp_path / "logs", passages("rr"), task="one")
    write_samples(tmp_path / "logs", [text_record(0, "4", 1.0)], task="two")
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    with pytest.raises(UserError, match=r"'pasage'.*did you mean 'passage'"):
        _ = judged(done, sets="pasage").records


def test_ids_are_those_of_items_of_our_own(tmp_path):
    """From the content, however it is written: both ways of making them must agree."""
    odd = [
        choice_record(
            0, RIGHT, 0, text='"quoted" \\ \u2028 \x7f\x01 ü 中 😀\n', nested={"seed": {"id": 7}}, labels=[1, 2]
        )
    ]
    done = imported(tmp_path, [*odd, *passages("rrrw")[1:]])
    (suite,) = done.study.judgement.suites
    assert isinstance(suite, StoredSuite)
    items = list(suite.items)
    assert [item.id for item in items] == list(suite.columns.ids)
    assert all(isinstance(item, Item) for item in items)
    assert items[0].fields["nested.seed.id"] == "7"
    assert items[0].fields["labels_"] == "[1,2]"
    assert [item.labels for item in items] == [("one", "two two", "three")] * 4


def test_the_order_of_a_file_changes_nothing(tmp_path):
    records = passages("rrrwwwrr")
    first, second = imported(tmp_path, records, "first"), imported(tmp_path, records[::-1], "second")
    ids = [set(one.study.judgement.suites[0].columns.ids) for one in (first, second)]
    assert ids[0] == ids[1]


def test_documents_of_the_same_content_all_count(tmp_path):
    """Data sets hold doubles; the harness counts each."""
    records = [choice_record(number, RIGHT if number < 3 else WRONG, 0) for number in range(4)]
    for record in records:
        record["doc"] = {"question": "the same"}
    done = imported(tmp_path, records)
    (accuracy,) = measured(done.study.judgement, "accuracy", answerer="model")
    assert (accuracy.value, accuracy.n_items) == (0.75, 4)


def test_tied_choices_are_not_an_answer_whatever_the_harness_takes(tmp_path):
    """The harness takes the first of the best, which a constant scorer makes right wherever gold is first."""
    records = [choice_record(number, (-1.0, -1.0, -1.0), 0) for number in range(4)]
    done = imported(tmp_path, records)
    ((_, _, origin),) = done.imported
    (metric,) = origin.tasks[0].metrics
    assert (metric.reported, metric.recomputed, metric.differing) == (1.0, 1.0, 0)
    (accuracy,) = measured(done.study.judgement, "accuracy", answerer="model")
    assert (accuracy.value, accuracy.bound_high, dict(accuracy.statuses)) == (0.0, 1.0, {"tied": 4})


def test_a_tie_keeps_the_probabilities_of_its_choices(tmp_path):
    """Eleven sets of two ties, at a third each, and one whose worse item gives gold softmax(-2; -1, -3) = .245."""
    records = [choice_record(n, (-1.0, -1.0, -1.0), 0, passage=f"p{n // 2}") for n in range(22)]
    records += [
        choice_record(22, (-1.0, -2.0, -3.0), 0, passage="p11"),
        choice_record(23, (-2.0, -1.0, -3.0), 0, passage="p11"),
    ]
    (worst,) = measured(judged(imported(tmp_path, records), sets="passage"), "worst_of_set", answerer="model")
    assert worst.value == pytest.approx((11 / 3 + np.exp(-2) / np.exp([-1, -2, -3]).sum()) / 12)
    assert worst.bound_low == worst.bound_high == worst.value


def test_a_choice_without_text_is_not_an_answer(tmp_path):
    """It scores 0 and wins: the harness counts it, here the item is empty and stays in the denominator."""
    records = passages("rr")
    empty = choice_record(2, (0.0, -2.0, -3.0), 0, endings=("", "two two", "three"))
    empty["arguments"]["gen_args_0"]["arg_1"] = ""
    done = imported(tmp_path, [*records, empty])
    (accuracy,) = measured(done.study.judgement, "accuracy", answerer="model")
    assert accuracy.value == pytest.approx(2 / 3)
    assert dict(accuracy.statuses) == {"ok": 2, "empty": 1}


def test_graded_answers_have_no_constant_baseline(tmp_path):
    """Of a generated answer only right or wrong is known: `always correct` would be an answerer of 100 %."""
    records = [text_record(number, "4", float(number < 3)) for number in range(4)]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    ((_, _, origin),) = done.imported
    assert origin.tasks[0].judged_by == "exact_match"
    judgement = judged(done, sets="passage")
    own = [m for m in judgement.records if not m.measure.endswith("_reference")]
    assert {(m.measure, m.answerer) for m in own} == {("accuracy", "model"), ("set_accuracy", "model")}
    assert [m.value for m in own] == [0.75, 0.5]


def test_gold_that_always_stands_first_makes_no_constant_responder(tmp_path):
    """BLiMP's good sentence is the first choice: a good model says `A` throughout."""
    records = [choice_record(number, RIGHT, 0, endings=(f"good {number}", f"bad {number}")) for number in range(30)]
    for record in records:
        record["filtered_resps"] = record["filtered_resps"][:2]
        record["arguments"].pop("gen_args_2", None)
    done = imported(tmp_path, records)
    assert {m.answerer for m in done.study.records} == {"model"}
    assert [(m.measure, m.value) for m in done.study.records] == [("accuracy", 1.0)]


def test_every_filter_is_judged_by_itself(tmp_path):
    records = [
        text_record(number, "4", score, filter=name)
        for name, scores in (("strict-match", (1.0, 0.0)), ("flexible-extract", (1.0, 1.0)))
        for number, score in enumerate(scores)
    ]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    found = {m.prompt: m.value for m in done.study.records if m.measure == "accuracy" and m.against is None}
    assert found == {"strict-match": 0.5, "flexible-extract": 1.0}


def test_records_of_old_versions_are_distinguished_by_their_order_under_the_configured_filters(tmp_path):
    """Before 0.4.5 a record does not name its filter."""
    folder = tmp_path / "logs"
    records = [text_record(number, "4", score) for score in (0.0, 1.0) for number in range(2)]
    for record in records:
        del record["filter"], record["metrics"]
    write_samples(folder, records)
    results = write_results(folder, {"small": {"exact_match,strict": 0.0, "exact_match,flexible": 1.0}})
    document = json.loads(results.read_text())
    document["configs"]["small"]["filter_list"] = [{"name": "strict"}, {"name": "flexible"}]
    results.write_text(json.dumps(document))
    ((_, _, origin),) = import_logs("lm-eval", folder, tmp_path / "run").imported
    assert {(m.reading, m.reported, m.own) for m in origin.tasks[0].metrics} == {
        ("strict", 0.0, 0.0),
        ("flexible", 1.0, 1.0),
    }


def test_a_number_that_the_log_does_not_come_to_is_reported(tmp_path, capsys):
    """A results file of another evaluation: .9 is reported and .5 comes out."""
    from veridical.cli import main

    write_samples(tmp_path / "logs", passages("rrww"))
    write_results(tmp_path / "logs", {"small": {"acc,none": 0.9}})
    assert main(["import", "lm-eval", str(tmp_path / "logs"), "--out", str(tmp_path / "run"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    ((metric,),) = [task["metrics"] for task in document["imported"][0]["tasks"]]
    assert (metric["reported"], metric["own"], metric["recomputed"]) == (0.9, 0.5, 0.5)
    assert document["measures"]


def test_items_without_the_field_are_counted_in_words(tmp_path):
    records = passages("rrrw")
    for place, value in ((2, None), (3, ["a", "list"])):
        records[place]["doc"]["passage"] = value
    judgement = judged(imported(tmp_path, records), sets="passage")
    assert any("small: 1 of 4 items have no passage" in one for one in judgement.verdicts)
    (sets,) = measured(judgement, "set_accuracy", answerer="model")
    assert (sets.value, sets.n_sets) == (1.0, 1)
    assert not any("have no" in one for one in judged(imported(tmp_path, passages("rr"), "b"), sets="passage").verdicts)


def test_runs_without_an_item_in_common_are_said_not_to_be_compared(tmp_path):
    one, other = imported(tmp_path, passages("rrww")), imported(tmp_path, passages("rrwwrrww")[4:], "other")
    judgement = judged(one, other, sets="passage")
    assert "small: no item was asked of both m and other: they are not compared." in judgement.verdicts
    assert not [m for m in judgement.records if m.against]
    both = judged(one, imported(tmp_path, passages("wwww"), "third"), sets="passage")
    assert not any("not compared" in message for message in both.verdicts)


def test_a_task_without_the_field_is_said_to_be_left_out(tmp_path):
    write_samples(tmp_path / "logs", passages("rrww"))
    write_samples(tmp_path / "logs", [choice_record(n, RIGHT, 0) for n in range(4)], task="other")
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    message = judged(done, sets="passage").verdicts
    assert "other: no item has a field passage: it is left out." in message
