"""Everything that was asked stays in the denominator, and the line of the records adds up, in every log format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.interop.test_lighteval_and_eee import lighteval, new_rows, record, said, write
from tests.interop.test_predictions import table
from veridical.interop.imports.importing import import_logs
from veridical.judge.measure import Measure
from veridical.runs.provenance import Imported
from veridical.studies.study import open_study

RIGHT = [record(str(i), **said(" B", right=True)) for i in range(4)]


def imported(harness: str, path: Path, run: Path) -> tuple[Measure, Imported]:
    """The model's accuracy and what the manifest says of the import."""
    origin = import_logs(harness, path, run).imported[0][2]
    found = [x for x in open_study(run).judgement.records if x.measure == "accuracy" and x.answerer == "model"]
    return found[0], origin


def eee(tmp_path: Path, records: list[dict[str, Any]]) -> tuple[Measure, Imported]:
    return imported("every-eval-ever", write(tmp_path / "log.jsonl", records), tmp_path / "run")


@pytest.mark.parametrize(
    "failed",
    [
        {"error": "timeout", "evaluation": None},
        {"error": "timeout", "evaluation": None, "output": None},
        {"error": "timeout", "evaluation": None, "output": None, "answer_attribution": []},
        {"error": "timeout", "evaluation": {}},
        {"error": "timeout", "evaluation": None, "input": None},
        {"evaluation": None, "output": None, "answer_attribution": None},
        {"error": {"type": "timeout"}, "evaluation": None},
    ],
)
def test_samples_that_failed_are_asked_and_not_ok(tmp_path, failed) -> None:
    found, origin = eee(tmp_path, RIGHT + [record(f"e{i}", **failed) for i in range(4)])
    assert (found.n_items, found.statuses["ok"]) == (8, 4)
    assert (found.bound_low, found.bound_high) == (4 / 8, 1.0)
    assert origin.account == "8 records in the log, all judged"


@pytest.mark.parametrize(
    "failed", [{"error": "timeout", "evaluation": None}, {"evaluation": None}, {"evaluation": {"score": None}}]
)
def test_open_questions_without_a_grade_are_not_ok(tmp_path, failed) -> None:
    asked = {"raw": "Who?", "reference": ["Isabel"]}
    records = [record(str(i), input=asked | {"raw": f"Who? {i}"}, **said("Isabel", right=True)) for i in range(3)]
    found, _ = eee(tmp_path, [*records, record("e", input=asked, **failed)])
    assert (found.n_items, found.bound_low, found.bound_high) == (4, 3 / 4, 1.0)


@pytest.mark.parametrize("response", [{"text": [], "logprobs": []}, {"text": [], "logprobs": [-1.0]}])
def test_rows_of_lighteval_without_an_answer_are_not_ok(tmp_path, response) -> None:
    rows = [*new_rows(), new_rows()[0]]
    rows[3] = {**rows[3], "model_response": {"input": "", **response}, "metric": {"acc": None}}
    found, origin = imported("lighteval", lighteval(tmp_path / "out", rows), tmp_path / "run")
    assert (found.n_items, found.bound_low, found.bound_high) == (4, 2 / 4, 3 / 4)
    assert origin.account == "4 records in the log, all judged"


def test_records_that_belong_to_no_task_are_in_the_account(tmp_path) -> None:
    path = write(tmp_path / "log.jsonl", RIGHT)
    path.write_text(path.read_text() + '{"sample_id": "x"}\n' + '{"a": \n{"b": \n{"c": 1}\n')
    _, origin = imported("every-eval-ever", path, tmp_path / "run")
    assert origin.account.startswith("8 records in the log = 4 judged + 4 left out (2 no record of a sample")
    again = open_study(tmp_path / "run").runs[0].manifest.imported
    assert again is not None
    assert again.account == origin.account


def test_rows_that_are_no_json_are_in_the_account(tmp_path) -> None:
    rows = [json.dumps({"id": i, "gold": "yes" if i % 2 else "no", "prediction": "yes"}) for i in range(4)]
    path = table(tmp_path / "a.jsonl", *rows, '{"id": 5, "gold"', '{"id": 6', "7", json.dumps({"id": 8, "gold": None}))
    found, origin = imported("predictions", path, tmp_path / "run")
    assert (found.value, found.n_items) == (2 / 4, 4)
    assert origin.account.startswith("8 records in the log = 4 judged + 4 left out (3 ")
    assert "1 a row without a right answer" in origin.account


def test_a_record_that_stands_twice_is_a_copy_and_no_epoch(tmp_path) -> None:
    """Of a, b, c one is wrong; the copies of it change nothing."""
    wrong = record("c", **said("A", right=False))
    found, origin = eee(tmp_path, [RIGHT[0], RIGHT[1], wrong, wrong, wrong])
    assert (found.value, found.n_items) == (2 / 3, 3)
    assert origin.account.startswith("5 records in the log = 3 judged + 2 left out (2 a second answer to a document")
    assert not any("epochs" in notice for notice in origin.notices)


def test_answers_of_one_sample_that_differ_are_epochs(tmp_path) -> None:
    """Two epochs of three samples, one of which is answered alike in both: three items, right in 2/2, 1/2 and 1/2."""
    epochs = [RIGHT[0], RIGHT[0]]
    for name in "bc":
        epochs += [record(name, **said("B", right=True)), record(name, **said("A", right=False))]
    _, origin = eee(tmp_path, epochs)
    over = {x.measure: x.value for x in open_study(tmp_path / "run").judgement.records if x.answerer == "model"}
    assert over["accuracy_over_repeats"] == pytest.approx((1 + 1 / 2 + 1 / 2) / 3)
    assert origin.account == "6 records in the log, all judged"


@pytest.mark.parametrize("copied", [[1], [1, 1], [0, 1, 2, 3]])
def test_a_row_that_stands_twice_is_a_copy_and_no_epoch(tmp_path, copied) -> None:
    rows = ["a,yes,yes", "b,no,yes", "c,no,no", "d,yes,yes"]
    path = table(tmp_path / "a.csv", "id,gold,prediction", *rows, *(rows[i] for i in copied))
    found, origin = imported("predictions", path, tmp_path / "run")
    assert (found.value, found.n_items) == (3 / 4, 4)
    assert origin.tasks[0].skipped == {"a second answer to a document under one filter or scorer": len(copied)}


def test_rows_that_differ_are_epochs_also_where_some_are_alike(tmp_path) -> None:
    rows = ["a,yes,yes", "b,no,yes", "a,yes,yes", "b,no,no"]
    _, origin = imported("predictions", table(tmp_path / "a.csv", "id,gold,prediction", *rows), tmp_path / "run")
    over = {x.measure: x.value for x in open_study(tmp_path / "run").judgement.records if x.answerer == "model"}
    assert (over["accuracy"], over["accuracy_over_repeats"]) == (1 / 2, 3 / 4)
    assert origin.account == "4 records in the log, all judged"


@pytest.mark.parametrize("nothing", [None, ""])
def test_a_model_without_a_name_is_said(tmp_path, nothing) -> None:
    path = write(tmp_path / "log.jsonl", [record(str(i), model_id=nothing) for i in range(3)])
    ((_, name, origin),) = import_logs("every-eval-ever", path, tmp_path / "run").imported
    assert name == "log"
    assert "no name of the model: --model NAME gives it one" in origin.tasks[0].lacks


@pytest.mark.parametrize(("version", "is_said"), [("9.9", True), (None, True), ("0.2.1", False), ("0.2.2", False)])
def test_a_schema_that_the_reader_does_not_know_is_said(tmp_path, version, is_said) -> None:
    _, origin = eee(tmp_path, [record(str(i), schema_version=version) for i in range(3)])
    assert any("schema version" in notice for notice in origin.notices) == is_said
