"""Every record of a log is judged, kept or left out for a reason, and what was lost is said."""

from __future__ import annotations

import json
from collections.abc import Callable

import polars as pl
import pytest

from tests.cli.test_bad_input import call
from tests.interop.sampled import DATE, choice_record, text_record, write_results, write_samples
from tests.interop.test_denominators import accuracies, log, sample, task_of
from veridical.errors import UserError
from veridical.files.ledger import Ledger, reasons
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.json_values import CUT_OFF, NOT_JSON, objects_in
from veridical.interop.imports.writer import NO_GOLD, REPEATED
from veridical.studies.study import Study

RIGHT, WRONG = (-1.0, -2.0, -3.0), (-2.0, -1.0, -3.0)
RECORDS = [choice_record(number, RIGHT if number < 11 else WRONG, 0) for number in range(24)]
"""11 of 24 right: .4583."""


def test_a_ledger_that_does_not_add_up_is_refused():
    ledger = Ledger()
    ledger.take(24)
    ledger.use(3)
    ledger.leave("cut off")
    assert ledger.missing == 20
    with pytest.raises(UserError, match=r"24 records were read, 3 used and 1 left out"):
        ledger.check("task small")
    ledger.leave("broken", 20)
    ledger.check("task small")
    assert reasons(ledger.left_out) == "20 broken; 1 cut off"


# Damage in JSON


def spoilt(change: Callable[[str], str]) -> tuple[int, int, dict[str, int]]:
    """Records read, records that came out, and those lost by reason, of an array of 24 that `change` spoils."""
    ledger = Ledger()
    kept = sum(1 for _ in objects_in(change(json.dumps(RECORDS)), ledger))
    return ledger.read, kept, dict(ledger.left_out)


@pytest.mark.parametrize(
    ("change", "kept", "lost"),
    [
        (lambda text: text.replace('"doc_id": 4,', '"doc_id": 4,,'), 23, {NOT_JSON: 1}),
        (lambda text: text.replace('"doc_id": 0,', '"doc_id": 0,,'), 23, {NOT_JSON: 1}),
        (lambda text: text.replace('"doc_id": 23,', '"doc_id": 23,,'), 23, {NOT_JSON: 1}),
        (lambda text: text.replace('"doc_id": 4,', '"doc_id": "4,'), 23, {NOT_JSON: 1}),
        (lambda text: text.replace('"doc_id": 4,', '"doc_id": 4,}'), 23, {NOT_JSON: 1}),
        (lambda text: text.replace('"doc_id": 4, "doc": {', '"doc_id": 4, "doc": '), 23, {NOT_JSON: 1}),
        (lambda text: text.replace('"doc_id": 4,', '"doc_id": 4,,').replace(' 5, "doc"', ' 5, "'), 22, {NOT_JSON: 2}),
        (lambda text: text.replace('}, {"doc_id"', '},, {"doc_id"'), 24, {}),
        (lambda text: text.replace('}, {"doc_id": 4', '}], {"doc_id": 4'), 24, {}),
        (lambda text: text.replace('}, {"doc_id"', '} {"doc_id"'), 24, {}),
        (lambda text: text.replace('}, {"doc_id": 4', '}, 17, {"doc_id": 4'), 24, {NOT_JSON: 1}),
        (lambda text: text[: text.index('"doc_id": 20') + 40], 20, {CUT_OFF: 1}),
        (lambda text: text.replace('"doc_id": 4,', '"doc_id": 4,,')[:-30], 22, {NOT_JSON: 1, CUT_OFF: 1}),
    ],
)
def test_damage_costs_the_records_that_it_hits_and_no_others(change, kept, lost):
    read, came_out, left_out = spoilt(change)
    assert (came_out, left_out) == (kept, lost)
    assert read == kept + sum(lost.values())


@pytest.mark.parametrize(
    ("change", "judged"),
    [
        (lambda lines: ",\n".join(lines), 24),
        (lambda lines: "\n".join(lines).replace('\n{"doc_id": 4,', '{"doc_id": 4,'), 24),
        (lambda lines: "\n".join(json.dumps(json.loads(line), indent=2) for line in lines), 24),
        (lambda lines: "\n".join(lines).replace('"doc_id": 4,', '"doc_id": 4,,'), 23),
    ],
)
def test_lines_are_read_whatever_separates_the_records(tmp_path, change, judged):
    path = write_samples(tmp_path / "logs", RECORDS)
    path.write_text(change(path.read_text().splitlines()))
    task = task_of(import_logs("lm-eval", path, tmp_path / "run"))
    assert (task.read, task.judged, sum(task.skipped.values())) == (24, judged, 24 - judged)


def test_a_stray_comma_in_an_array_is_said_in_terminal_page_and_manifest(tmp_path):
    path = write_samples(tmp_path / "logs", [])
    path.write_text(json.dumps(RECORDS).replace('"doc_id": 4,', '"doc_id": 4,,'))
    done = call("import", "lm-eval", path, "--out", tmp_path / "run", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    task = document["imported"][0]["tasks"][0]
    assert (task["read"], task["judged"], task["skipped"]) == (24, 23, {NOT_JSON: 1})
    said = "1 of 24 records left out (1 no JSON object)"
    assert any(said in notice for notice in document["notices"])
    assert said in (tmp_path / "run" / "report.html").read_text()
    told = call("judge", tmp_path / "run").stdout
    assert said in " ".join(told.split())
    assert "24 records in the log = 23 judged + 1 left out (1 no JSON object)" in " ".join(told.split())


# What is not in the log, and what has no right answer


def test_items_that_are_not_in_the_log_have_as_many_choices_as_the_others(tmp_path):
    """24 three-option items of which 18 are logged: chance is a third, and no answer is always correct or incorrect."""
    write_samples(tmp_path / "logs", RECORDS[:18])
    path = write_results(tmp_path / "logs", {"small": {"acc,none": 11 / 18}})
    counts = {"n-samples": {"small": {"original": 24, "effective": 24}}}
    path.write_text(json.dumps({**json.loads(path.read_text()), **counts}))
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    assert accuracies(done) == {
        "as-logged": (round(11 / 24, 6), round(11 / 24, 6), round(17 / 24, 6), {"ok": 18, "error": 6})
    }
    found = {m.answerer: (m.value, m.n_items) for m in done.study.records if m.measure == "accuracy"}
    assert found.pop("chance") == (pytest.approx(1 / 3), 24)
    found.pop("model")
    assert found == {
        "always:one": (1.0, 18),
        "always:two two": (0.0, 18),
        "always:three": (0.0, 18),
        "majority": (1.0, 18),
    }
    task = task_of(done)
    assert (task.read, task.judged, task.absent) == (18, 18, 6)
    (share,) = [m for m in done.study.records if m.measure == "constant_share" and m.answerer == "model"]
    assert (share.value, share.bound_high) == (11 / 24, 17 / 24)  # what is not there could have been `one`


def test_samples_of_a_choice_scorer_that_are_not_in_the_log_have_its_choices(tmp_path):
    samples = [
        sample(n, scores={"choice": {"value": "C", "answer": "A"}}, choices=list("wxyz"), target="A") for n in range(8)
    ]
    path = log(tmp_path / "log.json", samples, scorer="choice", dataset={"sample_ids": list(range(10)), "samples": 10})
    done = import_logs("inspect", path, tmp_path / "run")
    assert accuracies(done)["choice"] == (0.8, 0.8, 1.0, {"ok": 8, "error": 2})
    answerers = {m.answerer: m.value for m in done.study.records if m.measure == "accuracy"}
    assert answerers["chance"] == 0.25
    assert "always:correct" not in answerers


@pytest.mark.parametrize("target", ["none of them", None])
def test_an_item_without_a_right_answer_leaves_the_denominator_aloud(tmp_path, target):
    """11 of 24 is .458, and 11 of 23 .478."""
    records = [*RECORDS[:23], {**RECORDS[23], "target": target}]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    task = task_of(done)
    assert accuracies(done)["as-logged"][0] == round(11 / 23, 6)
    assert (task.read, task.judged, dict(task.unjudged), dict(task.skipped)) == (24, 23, {NO_GOLD: 1}, {})
    (notice,) = done.study.judgement.notices
    assert "accuracy .478 is over the other 23, and .458 over all" in notice


def test_second_answers_are_left_out_and_accuse_nobody(tmp_path):
    """3 of 5 samples are right; the log holds three of them twice, wrong the second time: 3 of 8."""
    samples = [sample(n, "C" if n < 3 else "I") for n in range(5)] + [sample(n, "I") for n in range(3)]
    done = import_logs("inspect", log(tmp_path / "log.json", samples, accuracy=0.375), tmp_path / "run")
    task = task_of(done)
    assert (task.read, task.judged, dict(task.skipped)) == (8, 5, {REPEATED: 3})
    notices = done.study.judgement.notices
    assert "0.375" in notices[0]
    assert "0.6 without them" in notices[0]
    assert not any("altered" in notice for notice in notices)


# Tasks without their samples


@pytest.mark.parametrize("kind", ["missing", "folder", "link", "circle", "empty", "damaged"])
@pytest.mark.parametrize("by_file", [False, True])
def test_a_task_whose_samples_cannot_be_read_is_named(tmp_path, kind, by_file):
    logs = tmp_path / "logs"
    write_samples(logs, RECORDS[:2], task="one")
    results = write_results(logs, {"one": {"acc,none": 1.0}, "two": {"acc,none": 0.9}})
    path = logs / f"samples_two_{DATE}.jsonl"
    if kind == "folder":
        path.mkdir()
    elif kind in ("link", "circle"):
        path.symlink_to("/nowhere/at/all" if kind == "link" else path)
    elif kind != "missing":
        path.write_bytes(b"" if kind == "empty" else b"\x00\x01 nothing")
    done = import_logs("lm-eval", results if by_file else logs, tmp_path / "run")
    assert any("task two is left out" in notice for notice in done.study.judgement.notices)
    assert kind not in ("folder", "link", "circle") or any(str(path) in n for n in done.study.judgement.notices)


# What is a grade


@pytest.mark.parametrize("named", [["f1"], ["acc"], None])
def test_no_key_of_a_record_is_a_grade_that_nothing_calls_a_metric(tmp_path, named):
    records = [{**text_record(n, "text", 0.0), "is_long": n % 2, "metrics": named} for n in range(6)]
    for record in records:
        del record["exact_match"]
    task = task_of(import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run"))
    assert (task.judged_by, task.judged, sum(task.unjudged.values())) == ("", 0, 6)
    assert "is_long" in task.fields


@pytest.mark.parametrize(
    "numbers",
    [
        {"acc,none": 0.99},
        {"acc,none": "0.99"},
        {"acc,strict": 0.99},
        {"acc_norm,none": 0.99},
        {"exact_match,none": 99.0},
    ],
)
@pytest.mark.parametrize("with_acc", [True, False])
def test_no_reported_number_passes_beside_a_log_that_says_another(tmp_path, numbers, with_acc):
    """11 of 24 by the log; in the samples the harness's own score may be missing."""
    records = [{key: value for key, value in one.items() if with_acc or key != "acc"} for one in RECORDS]
    write_samples(tmp_path / "logs", records)
    write_results(tmp_path / "logs", {"small": numbers})
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    assert "99" in done.study.judgement.notices[0]
    assert "altered" in done.study.judgement.notices[0]


def test_a_number_that_nothing_in_the_log_can_check_is_said(tmp_path):
    records = [text_record(n, "text", float(n < 3)) for n in range(6)]
    write_samples(tmp_path / "logs", records)
    write_results(tmp_path / "logs", {"small": {"exact_match,none": 0.5, "exact_match,strict": 0.99}})
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    (notice,) = done.study.judgement.notices
    assert "exact_match (strict) is reported as 0.99" in notice
    assert "cannot be checked" in notice


# Nothing is left behind


def test_a_failed_import_leaves_no_folder(tmp_path, monkeypatch):
    for task in ("one", "two"):
        write_samples(tmp_path / "logs" / task, RECORDS[:2], task=task)
        write_results(tmp_path / "logs" / task, {task: {"acc,none": 1.0}}, model=f"org/{task}")
    monkeypatch.setattr(Study, "write", lambda _: (_ for _ in ()).throw(UserError("no room")))
    for folder, out in (("one", "run"), ("", "study")):
        with pytest.raises(UserError, match="no room"):
            import_logs("lm-eval", tmp_path / "logs" / folder, tmp_path / "new" / out)
        assert not (tmp_path / "new").exists()
    monkeypatch.undo()
    assert len(import_logs("lm-eval", tmp_path / "logs", tmp_path / "new" / "study").imported) == 2


# Marks of missing scores


def test_marks_of_a_missing_score_are_named_and_taken_as_such_on_demand(tmp_path):
    """-1 for four of 12, of the others 4 right: 4 of 12 with 4 not known. So many are none that it is no grade."""
    records = [text_record(n, "text", float(n < 4)) for n in range(12)]
    for record in records[8:]:
        record["exact_match"] = -1
    path = write_samples(tmp_path / "logs", records)
    done = import_logs("lm-eval", path, tmp_path / "run")
    assert task_of(done).judged_by == ""
    assert any("exact_match is -1 in 4 places" in notice for _, _, o in done.imported for notice in o.notices)
    done = import_logs("lm-eval", path, tmp_path / "again", missing=[-1.0])
    third = round(1 / 3, 6)
    assert accuracies(done) == {"as-logged": (third, third, round(2 / 3, 6), {"ok": 8, "non_finite": 4})}
    assert any("taken as missing scores" in notice for notice in done.study.judgement.notices)


def test_a_few_odd_values_of_an_accuracy_are_not_ok(tmp_path):
    records = [text_record(n, "text", float(n < 4)) for n in range(12)]
    records[10]["exact_match"] = records[11]["exact_match"] = -1
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    third = round(1 / 3, 6)
    assert accuracies(done) == {"as-logged": (third, third, 0.5, {"ok": 10, "unparsed": 2})}
    assert any("2 of 12 answers are judged otherwise" in notice for notice in done.study.judgement.notices)


def test_log_likelihoods_of_minus_999_are_not_ok_on_demand(tmp_path):
    records = [choice_record(n, RIGHT, 0) for n in range(4)]
    records[0]["filtered_resps"] = [["-999", "False"], ["-1.0", "False"], ["-2.0", "False"]]
    path = write_samples(tmp_path / "logs", records)
    done = import_logs("lm-eval", path, tmp_path / "run")
    assert any("--missing=-999" in notice for notice in done.study.judgement.notices)
    done = import_logs("lm-eval", path, tmp_path / "again", missing=[-999.0])
    assert accuracies(done) == {"as-logged": (0.75, 0.75, 1.0, {"ok": 3, "non_finite": 1})}


def test_the_flag_takes_numbers_alone(tmp_path):
    write_samples(tmp_path / "logs", RECORDS[:2])
    done = call("import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "run", "--missing", "often")
    assert (done.returncode, "--missing often: give a number" in done.stderr) == (2, True)


# How many were asked, as other formats say it


def test_samples_that_the_results_of_inspect_count_are_not_ok(tmp_path):
    """6 of 8 right, of 10 that were evaluated: .6, which could be .8."""
    path = log(tmp_path / "log.json", [sample(n, "C" if n < 6 else "I") for n in range(8)])
    document = json.loads(path.read_text())
    document["results"]["total_samples"] = 10
    path.write_text(json.dumps(document))
    done = import_logs("inspect", path, tmp_path / "run")
    assert accuracies(done) == {"match": (0.6, 0.6, 0.8, {"ok": 8, "error": 2})}
    assert (task_of(done).read, task_of(done).absent) == (8, 2)


def test_rows_that_the_results_of_lighteval_count_are_not_ok(tmp_path):
    rows = [
        {
            "doc": repr({"query": f"Q{n}", "choices": [" x", " y"], "gold_index": 0}),
            "model_response": repr({"input": "p", "logprobs": [-1.0, -2.0]}),
            "metric": repr({"acc": 1.0}),
        }
        for n in range(6)
    ]
    (tmp_path / "logs").mkdir()
    pl.DataFrame(rows).write_parquet(tmp_path / "logs" / f"details_small|0_{DATE}.parquet")
    results = {"config_general": {"model_name": "m"}, "config_tasks": {"small|0": {"effective_num_docs": 8}}}
    (tmp_path / "logs" / f"results_{DATE}.json").write_text(json.dumps(results))
    done = import_logs("lighteval", tmp_path / "logs", tmp_path / "run")
    assert accuracies(done) == {"details": (0.75, 0.75, 1.0, {"ok": 6, "error": 2})}
    assert [m.value for m in done.study.records if m.answerer == "chance" and m.measure == "accuracy"] == [0.5]


@pytest.mark.parametrize("filters", [[], [{"name": "none"}]])
def test_a_record_that_stands_twice_in_an_old_log_is_no_second_filter(tmp_path, filters):
    records = [{key: value for key, value in one.items() if key != "filter"} for one in RECORDS]
    write_samples(tmp_path / "logs", [*records, *records[:3]])
    path = write_results(tmp_path / "logs", {"small": {"acc,none": 11 / 24}})
    document = json.loads(path.read_text())
    document["configs"]["small"]["filter_list"] = filters
    path.write_text(json.dumps(document))
    task = task_of(import_logs("lm-eval", tmp_path / "logs", tmp_path / "run"))
    assert (task.read, task.judged, dict(task.skipped)) == (27, 24, {REPEATED: 3})
