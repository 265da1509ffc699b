"""Samples of which the log does not say what is right, or which their scorer did not grade, are kept and not judged."""

from __future__ import annotations

import json

import polars as pl
import pytest

from tests.interop.sampled import text_record, write_samples
from tests.interop.test_denominators import accuracies, helm, log, sample, task_of
from tests.interop.test_lighteval_and_eee import record, said, write
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.writer import NO_GOLD


def choice_sample(number: int, answer: str = "A", value: object = "C", **more: object) -> dict[str, object]:
    """A sample with three choices of which A is right."""
    own = sample(number, scores={"choice": {"value": value, "answer": answer}}, target="A")
    return {**own, "choices": ["red", "green", "blue"], **more}


def without(record: dict[str, object], key: str) -> dict[str, object]:
    return {name: value for name, value in record.items() if name != key}


TARGETS = [lambda one: without(one, "target"), lambda one: {**one, "target": None}, lambda one: {**one, "target": ""}]


def choices_of_ten() -> list[dict[str, object]]:
    """7 of 10 right."""
    return [choice_sample(n, "A" if n < 7 else "B", "C" if n < 7 else "I") for n in range(10)]


def grades_of_ten() -> list[dict[str, object]]:
    """7 of 10 right."""
    return [sample(n, "C" if n < 7 else "I") for n in range(10)]


@pytest.mark.parametrize("make", [choices_of_ten, grades_of_ten])
@pytest.mark.parametrize("change", TARGETS)
def test_a_sample_without_a_target_is_not_judged_and_this_is_said(tmp_path, make, change):
    """Two right ones of ten lose their target: 5 of the other 8."""
    samples = make()
    samples[0], samples[1] = change(samples[0]), change(samples[1])
    scorer = "choice" if make is choices_of_ten else "match"
    done = import_logs("inspect", log(tmp_path / "a.json", samples, 0.7, scorer=scorer), tmp_path / "run")
    ((value, low, high, _),) = accuracies(done).values()
    assert (value, low, high) == (0.625, 0.625, 0.625)
    task = task_of(done)
    assert (task.read, task.judged, task.unjudged) == (10, 8, {NO_GOLD: 2})
    (said,) = [one for one in done.study.judgement.notices if "without a right answer" in one]
    assert "2 of 10 answers" in said
    assert "accuracy .625 is over the other 8, and .500 over all 10" in said


def test_a_log_in_which_no_sample_has_a_target_is_judged_by_its_scorer(tmp_path):
    """Agents' tasks have none: the scorer's grade is all that there is."""
    samples = [without(one, "target") for one in grades_of_ten()]
    done = import_logs("inspect", log(tmp_path / "a.json", samples, 0.7), tmp_path / "run")
    assert accuracies(done)["match"][0] == 0.7
    assert any("no sample has a target" in line for line in task_of(done).lacks)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (None, "error"),
        (float("nan"), "non_finite"),
        (float("inf"), "non_finite"),
        ("nan", "non_finite"),
        (["C"], "non_finite"),
    ],
)
@pytest.mark.parametrize("make", [choices_of_ten, grades_of_ten])
def test_a_score_that_is_no_grade_is_not_ok_whatever_the_letter_says(tmp_path, value, status, make):
    """Two right ones of ten have no grade: 5 of 10, and up to 7."""
    samples = make()
    scorer = "choice" if make is choices_of_ten else "match"
    for one in samples[:2]:
        one["scores"][scorer]["value"] = value
    done = import_logs("inspect", log(tmp_path / "a.json", samples, 0.625, scorer=scorer), tmp_path / "run")
    assert accuracies(done) == {scorer: (0.5, 0.5, 0.7, {"ok": 8, status: 2})}
    (first,) = [one for one in done.study.judgement.notices if "2 of 10 answers" in one]
    assert "accuracy .500 of 10, and .625 of " in first


@pytest.mark.parametrize("make", [choices_of_ten, grades_of_ten])
@pytest.mark.parametrize("value", ["excellent", "c"])
def test_a_text_that_is_none_of_inspects_grades_is_not_ok(tmp_path, value, make):
    """Inspect counts such as 0, as its mean has it: 5 of 10, and up to 7."""
    samples = make()
    scorer = "choice" if make is choices_of_ten else "match"
    for one in samples[:2]:
        one["scores"][scorer]["value"] = value
    done = import_logs("inspect", log(tmp_path / "a.json", samples, 0.5, scorer=scorer), tmp_path / "run")
    assert accuracies(done) == {scorer: (0.5, 0.5, 0.7, {"ok": 8, "unparsed": 2})}
    assert task_of(done).metrics[0].own == 0.5


def test_answers_without_choices_among_those_with_choices_are_counted(tmp_path):
    samples = [without(one, "choices") if n in (0, 9) else one for n, one in enumerate(choices_of_ten())]
    done = import_logs("inspect", log(tmp_path / "a.json", samples, 0.7, scorer="choice"), tmp_path / "run")
    assert accuracies(done)["choice"][0] == 0.7
    assert any(
        "2 answers (choice) have no choices in the log, or none that it calls right" in one
        for one in done.study.judgement.notices
    )


# Which readings are of choices, whatever order the records stand in


def failed_then_chosen(n_failed: int, n_chosen: int) -> list[dict[str, object]]:
    failed = [without(choice_sample(n, scores={}, error={"message": "gone"}), "choices") for n in range(n_failed)]
    return failed + [choice_sample(n_failed + n, "AB"[n % 2], "CI"[n % 2]) for n in range(n_chosen)]


@pytest.mark.parametrize("reverse", [False, True])
def test_answers_that_failed_do_not_decide_that_there_are_no_choices(tmp_path, monkeypatch, reverse):
    """2 of 4 right after more failures than are looked at first: 2 of 10, and up to 8."""
    monkeypatch.setattr("veridical.interop.imports.writer.PART", 3)
    samples = failed_then_chosen(6, 4)
    path = log(tmp_path / "a.json", samples[::-1] if reverse else samples, 0.5, scorer="choice")
    done = import_logs("inspect", path, tmp_path / "run")
    assert accuracies(done) == {"choice": (0.2, 0.2, 0.8, {"ok": 4, "error": 6})}
    assert task_of(done).judged_by == "answers"


def test_choices_that_come_after_graded_answers_are_not_dropped_in_silence(tmp_path, monkeypatch):
    monkeypatch.setattr("veridical.interop.imports.writer.PART", 3)
    samples = [without(one, "choices") if n < 5 else one for n, one in enumerate(choices_of_ten())]
    done = import_logs("inspect", log(tmp_path / "a.json", samples, 0.7, scorer="choice"), tmp_path / "run")
    assert accuracies(done)["choice"] == (0.7, 0.7, 0.7, {"ok": 10})
    assert any("5 answers (choice) have choices that do not judge" in one for one in done.study.judgement.notices)


def test_a_reading_that_occurs_later_is_of_choices_by_its_own_answers(tmp_path, monkeypatch):
    """A second scorer that marks only later samples: its answers keep their choices."""
    monkeypatch.setattr("veridical.interop.imports.writer.PART", 3)
    samples = choices_of_ten()
    for one in samples[6:]:
        one["scores"]["second"] = {"value": "C", "answer": "A"}
    done = import_logs("inspect", log(tmp_path / "a.json", samples, scorer="choice"), tmp_path / "run")
    asked = pl.read_parquet(done.study.path / "requests").filter(prompt="second")
    assert asked["labels"].to_list().count(["A", "B", "C"]) == 4
    assert not [one for one in done.study.judgement.notices if "do not judge" in one]


# The other harnesses


def test_other_logs_without_a_right_answer_here_and_there_are_not_judged_by_the_grade_alone(tmp_path):
    """3 of 4 are right; the first, a right one, does not say what is right: 2 of 3."""
    generated = [text_record(n, "4", float(n < 3)) for n in range(4)]
    generated[0]["target"] = None
    folder = helm(
        tmp_path / "helm", ["B", "B", "B", "A"], "generation", stats=[{"exact_match": n < 3} for n in range(4)]
    )
    state = json.loads((folder / "scenario_state.json").read_text())
    state["request_states"][0]["instance"]["references"] = []
    (folder / "scenario_state.json").write_text(json.dumps(state))
    records = [record(str(n), **said("A" if n == 3 else "B", right=n < 3)) for n in range(4)]
    records[0]["input"]["reference"] = []
    for harness, path in (
        ("lm-eval", write_samples(tmp_path / "lm", generated)),
        ("helm", folder),
        ("every-eval-ever", write(tmp_path / "eee.jsonl", records)),
    ):
        done = import_logs(harness, path, tmp_path / f"run-{harness}")
        ((value, *_),) = accuracies(done).values()
        assert (harness, value) == (harness, round(2 / 3, 6))
        task = task_of(done)
        assert (task.read, task.judged, task.unjudged) == (4, 3, {NO_GOLD: 1})
