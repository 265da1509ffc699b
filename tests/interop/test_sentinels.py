"""Numbers that stand for a missing score are named in every format, and taken as missing where that is asked."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.interop.sampled import choice_record, text_record, write_results, write_samples
from tests.interop.test_denominators import accuracies, helm, log, sample
from tests.interop.test_lighteval_and_eee import record, said, write
from tests.interop.test_without_gold import choice_sample
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.predictions import read_predictions
from veridical.interop.imports.score_table import read_scores

Maker = Callable[[Path, float], Path]


def inspect_grades(folder: Path, mark: float) -> Path:
    return log(folder / "a.json", [sample(n, mark if n == 0 else "CI"[n > 7]) for n in range(10)])


def inspect_letters(folder: Path, mark: float) -> Path:
    samples = [choice_sample(n, "AB"[n > 7], mark if n == 0 else "CI"[n > 7]) for n in range(10)]
    return log(folder / "a.json", samples, scorer="choice")


def helm_grades(folder: Path, mark: float) -> Path:
    stats = [{"exact_match": mark if n == 0 else float(n < 8)} for n in range(10)]
    return helm(folder / "helm", ["x"] * 10, "generation", stats=stats)


def every_eval_ever(folder: Path, mark: float) -> Path:
    records = [record(str(n), **said("words", right=n < 8)) for n in range(10)]
    for n, one in enumerate(records):
        one["input"]["choices"] = []
        one["evaluation"] = {"score": mark if n == 0 else float(n < 8)}
    return write(folder / "a.jsonl", records)


def lm_eval_texts(folder: Path, mark: float) -> Path:
    return write_samples(folder, [text_record(n, "x", mark if n == 0 else float(n < 8)) for n in range(10)])


@pytest.mark.parametrize("mark", [-1.0, -999.0, 9999.0])
@pytest.mark.parametrize(
    ("harness", "make"),
    [
        ("inspect", inspect_grades),
        ("inspect", inspect_letters),
        ("helm", helm_grades),
        ("every-eval-ever", every_eval_ever),
        ("lm-eval", lm_eval_texts),
    ],
)
def test_a_grade_that_marks_a_missing_one_is_named_and_not_ok_on_demand(tmp_path, harness, make: Maker, mark):
    """7 right, 2 wrong, 1 marked, of ten."""
    path = make(tmp_path / "logs", mark) if harness != "every-eval-ever" else make(tmp_path, mark)
    done = import_logs(harness, path, tmp_path / "run")
    assert any(f"--missing={mark:.10g} takes it so" in one for one in done.study.judgement.notices)
    done = import_logs(harness, path, tmp_path / "again", missing=[mark])
    ((value, low, high, statuses),) = accuracies(done).values()
    assert (value, low, high, statuses) == (0.7, 0.7, 0.8, {"ok": 9, "non_finite": 1})


def test_another_score_of_the_answer_keeps_it_ok(tmp_path):
    """Only its F1 is missing."""
    records = [{**text_record(n, "x", float(n < 3)), "f1": -1 if n == 0 else 0.5} for n in range(4)]
    for one in records:
        one["metrics"] = ["exact_match", "f1"]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run", missing=[-1.0])
    assert accuracies(done) == {"as-logged": (0.75, 0.75, 0.75, {"ok": 4})}


@pytest.mark.parametrize("mark", [-999.0, 9999.0, -1e4, -1.7976931348623157e308])
def test_log_likelihoods_are_looked_at_too(tmp_path, mark):
    records = [choice_record(n, (-1.0, -2.0, -3.0), 0) for n in range(4)]
    records[0]["filtered_resps"] = [[str(mark), "False"], ["-1.0", "False"], ["-2.0", "False"]]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    assert any(f"--missing={mark:.10g} takes" in one for one in done.study.judgement.notices)


def test_log_likelihoods_of_minus_one_are_as_any_other(tmp_path):
    records = [choice_record(n, (-1.0, -9.0, -100.0), 0) for n in range(4)]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    assert not [one for one in done.study.judgement.notices if "--missing" in one]


@pytest.mark.parametrize("mark", [-1, -999, 9999])
def test_probabilities_of_predictions_stay_probabilities_beside_a_mark(tmp_path, mark):
    """5 of 6 rows are probabilities; the first has a mark and counts as not answered."""
    rows = [f"{n},yes,{mark if n == 0 else 0.75},0.25" for n in range(6)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["id,gold,p_yes,p_no", *rows]))
    from veridical.interop.imports.prediction_columns import PredictionColumns

    columns = PredictionColumns(scores=("p_yes,p_no",))
    ((task,),) = [model.tasks for model in read_predictions(path, columns)]
    answers = list(task.answers())
    assert [round(score, 6) for score in answers[1].scores] == [round(math.log(0.75), 6), round(math.log(0.25), 6)]
    assert all(map(math.isnan, answers[0].scores))
    assert any(
        f"1 rows have scores that are no probabilities and count as not answered: {mark} (1)" in one
        for one in task.lacks
    )
    done = import_logs("predictions", path, tmp_path / "run", columns=columns)
    assert accuracies(done)["scores"] == (round(5 / 6, 6), round(5 / 6, 6), 1.0, {"ok": 5, "non_finite": 1})


@pytest.mark.parametrize("mark", [-1.0, -999.0, 9999.0])
def test_results_without_samples_name_them(tmp_path, mark):
    write_results(tmp_path, {"a": {"acc,none": 0.5}, "b": {"acc,none": mark}})
    found = read_scores(tmp_path)
    assert any(f"--missing={mark:.10g} leaves such out" in one for one in found.notices)
    assert [one.benchmark for one in read_scores(tmp_path, missing=[mark]).scores] == ["a"]
    document = {"results": {"scores": [{"name": "match", "metrics": {"accuracy": {"value": mark}}}]}}
    (tmp_path / "i.json").write_text(json.dumps({**document, "eval": {"task": "t", "model": "m"}, "samples": []}))
    assert any("2 scores" in one for one in read_scores(tmp_path).notices)
