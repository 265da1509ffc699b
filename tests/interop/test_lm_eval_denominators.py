"""lm-evaluation-harness: what is judged, what it is judged by, and what stays in the denominator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_bad_input import fault
from tests.interop.sampled import DATE, choice_record, text_record, write_results, write_samples
from tests.interop.test_denominators import accuracies, task_of
from veridical.errors import UserError
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.json_values import NOT_JSON
from veridical.runs.load import open_runs
from veridical.runs.provenance import LIKELIHOODS
from veridical.studies.judged import Judgement

RIGHT, WRONG = (-1.0, -2.0, -3.0), (-2.0, -1.0, -3.0)
LATER = "2026-02-02T00-00-00.000000"


def imported(tmp_path: Path, records, numbers=None, *, metric=None, **document):
    logs = tmp_path / "logs"
    write_samples(logs, records)
    if numbers is not None:
        path = write_results(logs, {"small": numbers})
        path.write_text(json.dumps({**json.loads(path.read_text()), **document}))
    return import_logs("lm-eval", logs, tmp_path / "run", metric=metric)


def graded(number: int, **scores: object):
    record = text_record(number, "text", 0.0)
    del record["exact_match"]
    return {**record, "metrics": list(scores), **scores}


@pytest.mark.parametrize(
    ("broken", "status"),
    [
        ({"filtered_resps": []}, "error"),
        ({"filtered_resps": None, "resps": None}, "error"),
        ({"filtered_resps": [["-1.0", "False"]]}, "error"),
        ({"arguments": None}, "error"),
        ({"error": "timeout"}, "error"),
    ],
)
def test_a_document_without_an_answer_stays_in_the_denominator_of_choices(tmp_path, broken, status):
    records = [choice_record(0, RIGHT, 0), choice_record(1, WRONG, 0), {**choice_record(2, RIGHT, 0), **broken}]
    done = imported(tmp_path, records)
    third = round(1 / 3, 6)
    assert accuracies(done) == {"as-logged": (third, third, round(2 / 3, 6), {"ok": 2, status: 1})}


@pytest.mark.parametrize(
    ("broken", "status"),
    [
        ({"resps": [], "filtered_resps": []}, "empty"),
        ({"resps": [[]], "filtered_resps": [""]}, "empty"),
        ({"filtered_resps": None}, "unparsed"),
        ({"filtered_resps": [None]}, "unparsed"),
        ({"filtered_resps": ["[invalid]"]}, "unparsed"),
        ({"exact_match": float("nan")}, "non_finite"),
        ({"exact_match": None}, "unparsed"),
    ],
)
def test_a_document_without_an_answer_stays_in_the_denominator_of_texts(tmp_path, broken, status):
    records = [text_record(0, "4", 1.0), text_record(1, "5", 0.0), {**text_record(2, "6", 0.0), **broken}]
    done = imported(tmp_path, records)
    third = round(1 / 3, 6)
    assert accuracies(done) == {"as-logged": (third, third, round(2 / 3, 6), {"ok": 2, status: 1})}


def test_documents_that_the_results_count_and_the_samples_lack_are_not_ok(tmp_path):
    records = [choice_record(number, RIGHT, 0) for number in (0, 1, 3)]
    counts = {"n-samples": {"small": {"original": 9, "effective": 5}}}
    done = imported(tmp_path, records, {"acc,none": 1.0}, **counts)
    assert accuracies(done) == {"as-logged": (0.6, 0.6, 1.0, {"ok": 3, "error": 2})}
    assert any("2 of 5 answers have no acc" in notice for notice in done.study.judgement.notices)


def test_a_number_that_the_scores_do_not_give_is_said_first(tmp_path):
    """84 of 100 right, and .92 reported."""
    records = [choice_record(number, RIGHT if number < 84 else WRONG, 0) for number in range(100)]
    done = imported(tmp_path, records, {"acc,none": 0.92})
    first = done.study.judgement.notices[0]
    assert "reported as 0.92" in first
    assert "0.84" in first
    page = done.study.report.read_text()
    assert page.index("reported as 0.92") < page.index("right on")


@pytest.mark.parametrize("reported", [84 / 100, 0.84, 84.0])
def test_a_number_that_is_rounded_or_in_percent_is_the_same_number(tmp_path, reported):
    records = [choice_record(number, RIGHT if number < 84 else WRONG, 0) for number in range(100)]
    assert imported(tmp_path, records, {"acc,none": reported}).study.judgement.notices == ()


def test_metrics_that_are_not_finite_are_null_with_a_reason(tmp_path):
    numbers = {"acc,none": float("nan"), "perplexity,none": float("inf"), "acc_stderr,none": float("nan")}
    records = [{**choice_record(0, RIGHT, 0), "perplexity": -1e9}]
    done = imported(tmp_path, records, numbers)
    found = {metric.metric: metric for metric in task_of(done).metrics}
    assert found["acc"].reported is None
    assert "nan" in found["acc"].reason
    assert found["perplexity"].reported is None
    assert "inf" in found["perplexity"].reason


def test_of_several_scores_the_same_is_chosen_in_every_log_and_named(tmp_path):
    """In the first log bleu_acc is 0 throughout; which scores vary does not matter."""
    for folder, bleu in (("a", 0.0), ("b", 1.0)):
        scores = [graded(n, bleurt_acc=float(n % 2), bleu_acc=bleu * (n % 2), bleu_max=3.5) for n in range(4)]
        done = imported(tmp_path / folder, scores)
        assert task_of(done).judged_by == "bleu_acc"
        (notice,) = done.study.judgement.notices
        assert "right is what bleu_acc says" in notice
        assert "bleurt_acc" in notice


def test_the_metric_that_is_asked_for_judges(tmp_path):
    records = [graded(n, one_acc=float(n % 2), other_acc=float(n > 0)) for n in range(4)]
    done = imported(tmp_path, records, metric="other_acc")
    assert (task_of(done).judged_by, accuracies(done)["as-logged"][0]) == ("other_acc", 0.75)
    with pytest.raises(UserError, match=r"'other_ac'.*did you mean 'other_acc'"):
        import_logs("lm-eval", tmp_path / "logs", tmp_path / "again", metric="other_ac")
    assert not (tmp_path / "again").exists()


def test_a_metric_that_is_asked_for_judges_in_place_of_the_choices(tmp_path):
    records = [
        {**choice_record(n, RIGHT, 0), "acc_norm": float(n == 0), "metrics": ["acc", "acc_norm"]} for n in range(4)
    ]
    assert accuracies(imported(tmp_path, records, metric="acc_norm"))["as-logged"][0] == 0.25


def test_all_wrong_is_an_accuracy_of_0(tmp_path):
    records = [graded(n, prompt_level_strict_acc=False, inst_level_strict_acc=[False, False]) for n in range(4)]
    done = imported(tmp_path, records)
    assert task_of(done).judged_by == "prompt_level_strict_acc"
    assert accuracies(done)["as-logged"][:3] == (0.0, 0.0, 0.0)


def test_a_key_that_is_not_a_metric_of_the_record_grades_nothing_and_makes_sets(tmp_path):
    records = [{**graded(n, f1=0.3), "is_long": n % 2} for n in range(4)]
    done = imported(tmp_path, records)
    assert task_of(done).judged_by == ""
    assert "is_long" in task_of(done).fields


@pytest.mark.parametrize("said", [True, False])
def test_a_metric_of_which_less_is_better_is_not_read_as_accuracy(tmp_path, said):
    name = "rate" if said else "toxic_rate"
    records = [graded(n, **{name: float(n < 3)}) for n in range(4)]
    document = {"higher_is_better": {"small": {name: False}}} if said else {}
    done = imported(tmp_path, records, {f"{name},none": 0.75}, **document)
    assert task_of(done).judged_by == ""
    assert any("less is better" in notice for notice in done.imported[0][2].notices)
    turned = import_logs("lm-eval", tmp_path / "logs", tmp_path / "turned", metric=name)
    assert accuracies(turned)["as-logged"][0] == 0.25
    assert any("right where it is 0" in notice for notice in turned.study.judgement.notices)


def test_choices_of_which_the_metric_is_a_rate_of_stereotypes_are_not_judged(tmp_path):
    records = [{**choice_record(n, RIGHT, 0), "pct_stereotype": 1.0, "metrics": ["pct_stereotype"]} for n in range(4)]
    for record in records:
        del record["acc"]
    done = imported(
        tmp_path, records, {"pct_stereotype,none": 1.0}, higher_is_better={"small": {"pct_stereotype": False}}
    )
    assert task_of(done).judged_by == ""


def test_scores_above_0_and_choices_under_different_contexts_have_no_label_mass(tmp_path):
    def masses(records, name):
        done = import_logs("lm-eval", write_samples(tmp_path / name, records), tmp_path / f"run-{name}")
        return [m for m in done.study.records if m.measure == "label_mass"]

    plain = [choice_record(n, RIGHT, 0) for n in range(2)]
    apart = [choice_record(n, RIGHT, 0, endings=("so", "so", "so")) for n in range(2)]
    for record in apart:
        for place, request in enumerate(record["arguments"].values()):
            request["arg_0"] = f"Choice {place} of {record['doc_id']}."
    assert masses(plain, "plain")
    assert not masses([plain[0], choice_record(1, (2.5, -1.0, -2.0), 0)], "above")
    assert not masses(apart, "apart")


def test_reruns_under_other_settings_are_runs_named_by_what_differs(tmp_path):
    for date, shots, records in ((DATE, 0, [choice_record(0, RIGHT, 0)]), (LATER, 5, [choice_record(0, WRONG, 0)])):
        write_samples(tmp_path / "logs", records, date=date)
        path = write_results(tmp_path / "logs", {"small": {"acc,none": records[0]["acc"]}}, date=date)
        path.write_text(json.dumps({**json.loads(path.read_text()), "n-shot": {"small": shots}}))
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "study")
    assert {run.name for run in done.study.runs} == {"org/model (0 shots)", "org/model (5 shots)"}
    contrasts = [m for m in done.study.records if m.measure == "accuracy" and m.against is not None]
    assert abs(contrasts[0].value) == 1.0


def test_a_copy_is_left_out_and_named(tmp_path):
    for folder in ("a", "b"):
        write_samples(tmp_path / "logs" / folder, [choice_record(0, RIGHT, 0)])
        write_results(tmp_path / "logs" / folder, {"small": {"acc,none": 1.0}})
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    ((_, _, origin),) = done.imported
    (left,) = origin.left_out
    assert "/b/" in left.what
    assert "repeats" in left.reason
    assert "/a/" in left.reason


def test_a_task_whose_samples_are_missing_is_named(tmp_path):
    write_samples(tmp_path / "logs", [choice_record(0, RIGHT, 0)])
    write_results(tmp_path / "logs", {"small": {"acc,none": 1.0}, "lost": {"acc,none": 0.5}, "all": {"acc,none": 0.7}})
    path = next((tmp_path / "logs").glob("results*"))
    path.write_text(json.dumps({**json.loads(path.read_text()), "groups": {"all": {}}}))
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    assert [left.what for left in done.imported[0][2].left_out] == ["task lost"]


def test_an_item_without_gold_is_said_to_be_out_of_the_denominator(tmp_path):
    """11 of 24 right by the harness, 11 of 23 here."""
    records = [choice_record(n, RIGHT if n < 11 else WRONG, 0) for n in range(24)]
    records[23]["target"] = "nowhere"
    done = imported(tmp_path, records, {"acc,none": 11 / 24})
    assert accuracies(done)["as-logged"][0] == round(11 / 23, 6)
    assert any("1 of 24 answers are to items without a right answer" in n for n in done.study.judgement.notices)


def test_a_stray_comma_costs_one_record_of_an_array(tmp_path):
    path = write_samples(tmp_path / "logs", [])
    text = json.dumps([choice_record(n, RIGHT, 0) for n in range(24)], indent=1)
    place = text.index('"doc_id": 4,')
    path.write_text(text[:place] + "," + text[place:])
    task = task_of(import_logs("lm-eval", path, tmp_path / "run"))
    assert (task.records, dict(task.skipped)) == (23, {NOT_JSON: 1})


def test_an_import_that_fails_at_its_end_leaves_nothing(tmp_path, monkeypatch):
    def failing(_):
        raise OSError("the disk is full")

    monkeypatch.setattr("veridical.studies.study.Study.write", failing)
    path = write_samples(tmp_path / "logs", [choice_record(0, RIGHT, 0)])
    with pytest.raises(OSError, match="full"):
        import_logs("lm-eval", path, tmp_path / "new" / "deep" / "run")
    assert [one.name for one in tmp_path.iterdir()] == ["logs"]


def test_documents_make_sets_by_their_number(tmp_path):
    records = [choice_record(n, RIGHT if n else WRONG, 0, filter="none") for n in range(3)]
    done = imported(tmp_path, records)
    judgement = Judgement(tuple(open_runs([done.study.path])), sets="doc_id")
    assert judgement.suites[0].places.sets == ["0", "1", "2"]
    assert task_of(done).judged_by == LIKELIHOODS


def test_the_harness_s_standard_error_stands_next_to_that_of_its_scores(tmp_path):
    """Scores 1 1 0 0: sample variance 1/3, standard error sqrt(1/12)."""
    records = [choice_record(n, RIGHT if n < 2 else WRONG, 0) for n in range(4)]
    (metric,) = task_of(imported(tmp_path, records, {"acc,none": 0.5, "acc_stderr,none": 0.2887})).metrics
    assert (metric.stderr, metric.own_stderr) == (0.2887, pytest.approx((1 / 12) ** 0.5))


def test_the_flag_names_a_metric_that_is_there(tmp_path):
    path = write_samples(tmp_path / "logs", [text_record(0, "4", 1.0)])
    message = fault("import", "lm-eval", path, "--out", tmp_path / "run", "--metric", "exact")
    assert "exact_match" in message
