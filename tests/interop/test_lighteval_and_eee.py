"""lighteval's details and every_eval_ever's records, made here in the shapes that their sources write."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from veridical.errors import UserError
from veridical.interop.imports.every_eval_ever import read_every_eval_ever
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.lighteval import read_lighteval
from veridical.status import Status
from veridical.studies.study import open_study

DATE = "2025-01-02T03-04-05.678901"
TASK = "leaderboard|arc:challenge|25"


def accuracy(run: Path) -> float | None:
    (found,) = [x for x in open_study(run).judgement.records if x.measure == "accuracy" and x.answerer == "model"]
    return found.value


def lighteval(folder: Path, rows: list[dict[str, Any]]) -> Path:
    details = folder / "details" / "org" / "net" / DATE
    details.mkdir(parents=True)
    pl.DataFrame(rows).write_parquet(details / f"details_{TASK}_{DATE}.parquet")
    results = folder / "results" / "org" / "net"
    results.mkdir(parents=True)
    document = {
        "config_general": {"model_name": "org/net", "lighteval_sha": "abc", "model_sha": "def"},
        "results": {TASK: {"acc": 2 / 3, "acc_stderr": 0.3}},
        "versions": {TASK: 0},
    }
    (results / f"results_{DATE}.json").write_text(json.dumps(document))
    return folder


def new_rows() -> list[dict[str, Any]]:
    return [
        {
            "doc": {"query": f"Question {i}", "choices": [" A", " B", " C"], "gold_index": [gold], "instruction": ""},
            "model_response": {"input": f"shots Question {i}", "text": [], "logprobs": scores},
            "metric": {"acc": float(right)},
        }
        for i, (gold, scores, right) in enumerate(
            [(0, [-1.0, -2.0, -3.0], True), (2, [-1.0, -2.0, -3.0], False), (1, [-4.0, -0.5, -3.0], True)]
        )
    ]


def old_rows(*, as_text: bool) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = [
        {
            "example": f"Question {i}",
            "full_prompt": f"shots Question {i}",
            "instruction": "",
            "choices": [" A", " B", " C"],
            "gold_index": [gold],
            "gold": [],
            "predictions": [[score, False] for score in scores] if as_text else scores,
            "metrics": {"acc": float(right)},
        }
        for i, (gold, scores, right) in enumerate(
            [(0, [-1.0, -2.0, -3.0], True), (2, [-1.0, -2.0, -3.0], False), (1, [-4.0, -0.5, -3.0], True)]
        )
    ]
    return [{name: str(value) for name, value in row.items()} for row in rows] if as_text else rows


@pytest.mark.parametrize("rows", [new_rows(), old_rows(as_text=False), old_rows(as_text=True)])
def test_details_of_lighteval_are_judged_by_their_log_likelihoods(tmp_path, rows) -> None:
    folder = lighteval(tmp_path / "out", rows)
    (model,) = read_lighteval(folder)
    answers = list(model.tasks[0].answers())
    assert [list(one.scores) for one in answers] == [[-1, -2, -3], [-1, -2, -3], [-4, -0.5, -3]]
    assert [one.gold for one in answers] == [[0], [2], [1]]
    assert answers[0].fields["query"] == "Question 0"
    assert (model.name, model.tasks[0].shots, model.tasks[0].reported) == ("org/net", 25, [("acc", "details", 2 / 3)])
    done = import_logs("lighteval", folder, tmp_path / "run")
    assert accuracy(tmp_path / "run") == 2 / 3
    assert [(x.metric, x.own) for x in done.imported[0][2].tasks[0].metrics] == [("acc", pytest.approx(2 / 3))]


def test_generations_of_lighteval_are_judged_by_its_own_grade(tmp_path) -> None:
    rows = [
        {
            "doc": {"query": f"{i} + 1?", "choices": [str(i + 1)], "gold_index": 0},
            "model_response": {"text": [f"It is {i + 1}"], "logprobs": []},
            "metric": {"em": float(i > 0)},
        }
        for i in range(4)
    ]
    import_logs("lighteval", lighteval(tmp_path / "out", rows), tmp_path / "run")
    assert accuracy(tmp_path / "run") == 3 / 4


def test_a_folder_without_details_says_what_to_do(tmp_path) -> None:
    (tmp_path / "results_x.json").write_text("{}")
    with pytest.raises(UserError, match=r"--save-details.*veridical import scores"):
        read_lighteval(tmp_path)


def record(sample: str, **changed: Any) -> dict[str, Any]:
    made = {
        "schema_version": "0.2.1",
        "evaluation_id": "x",
        "model_id": "org/net",
        "evaluation_name": "quiz",
        "sample_id": sample,
        "interaction_type": "single_turn",
        "input": {"raw": f"Which? {sample}", "reference": ["tea"], "choices": ["sand", "tea"]},
        "output": {"raw": [" B"]},
        "answer_attribution": [{"turn_idx": 0, "extracted_value": "B", "is_terminal": True}],
        "evaluation": {"score": 1.0, "is_correct": True},
        "error": None,
        "metadata": {"subject": "drinks"},
    }
    return made | changed


def said(text: str, *, right: bool) -> dict[str, Any]:
    return {
        "output": {"raw": [text]},
        "answer_attribution": [{"turn_idx": 0, "extracted_value": text.strip(), "is_terminal": True}],
        "evaluation": {"score": float(right), "is_correct": right},
    }


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in records))
    return path


def test_records_of_every_eval_ever_are_judged_by_their_choices(tmp_path) -> None:
    records = [
        record("a"),
        record("b", **said("A", right=False)),
        record("c", **said("sand", right=False)),
        record("d", **said("neither", right=False)),
        record("e", error="timeout", **said("", right=False)),
    ]
    path = write(tmp_path / "samples.jsonl", records)
    answers = list(read_every_eval_ever(path)[0].tasks[0].answers())
    assert [(one.label, one.status) for one in answers] == [
        ("tea", Status.OK),
        ("sand", Status.OK),
        ("sand", Status.OK),
        (None, Status.UNPARSED),
        (None, Status.ERROR),
    ]
    assert [list(one.labels)[one.gold[0]] for one in answers] == ["tea"] * 5
    assert answers[0].factors == {"sample_id": "a", "subject": "drinks"}
    import_logs("every-eval-ever", path, tmp_path / "run")
    (found,) = [
        x for x in open_study(tmp_path / "run").judgement.records if x.measure == "accuracy" and x.answerer == "model"
    ]
    assert (found.bound_low, found.bound_high, found.n_items) == (1 / 5, 3 / 5, 5)


def test_choices_that_are_the_accepted_answers_are_not_options(tmp_path) -> None:
    asked = {"raw": "Who?", "reference": ["his niece", "the niece"], "choices": ["his niece", "the niece"]}
    records = [record(str(i), input=asked | {"raw": f"Who? {i}"}, **said("Isabel", right=i == 0)) for i in range(4)]
    import_logs("every-eval-ever", write(tmp_path / "a.jsonl", records), tmp_path / "run")
    assert accuracy(tmp_path / "run") == 1 / 4


def test_models_and_evaluations_of_one_file_are_kept_apart(tmp_path) -> None:
    records = [record("a"), record("a", model_id="org/other"), record("a", evaluation_name="second")]
    models = read_every_eval_ever(write(tmp_path / "a.jsonl", records))
    assert [(one.name, [task.name for task in one.tasks]) for one in models] == [
        ("org/net", ["quiz", "second"]),
        ("org/other", ["quiz"]),
    ]


def test_a_file_without_records_says_what_is_expected(tmp_path) -> None:
    with pytest.raises(UserError, match="no instance-level records of every_eval_ever are here"):
        read_every_eval_ever(write(tmp_path / "a.jsonl", [{"a": 1}]))
