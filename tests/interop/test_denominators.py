"""What was asked stays in the denominator, whatever became of it, and a number that differs is said first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from veridical.interop.imports.importing import import_logs
from veridical.runs.load import open_runs
from veridical.studies.judged import Judgement

CASE = Path(__file__).parents[3] / "shared" / "cases" / "inspect_errored_samples.json"


def sample(number: int, value: object = "C", **more: object) -> dict[str, object]:
    scores = {"match": {"value": value, "answer": "yes"}}
    return {"id": number, "epoch": 1, "input": f"Question {number}", "target": "yes", "scores": scores} | {
        "metadata": {"pair": f"p{number // 2}"},
        **more,
    }


def log(path: Path, samples, accuracy: float | None = None, scorer: str = "match", **spec) -> Path:
    metrics = {} if accuracy is None else {"accuracy": {"name": "accuracy", "value": accuracy}}
    document = {
        "version": 2,
        "status": "success",
        "eval": {"task": "small", "model": "org/model", "dataset": {"samples": len(samples)}, **spec},
        "results": {"scores": [{"name": scorer, "metrics": metrics}]},
        "samples": samples,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def accuracies(done) -> dict[str, tuple[float, float, float, dict[str, int]]]:
    """Value, bounds and statuses by prompt, of what the model answered."""
    return {
        m.prompt: (round(m.value, 6), round(m.bound_low, 6), round(m.bound_high, 6), dict(m.statuses))
        for m in done.study.records
        if m.measure == "accuracy" and m.answerer == "model" and m.against is None
    }


def task_of(done):
    ((_, _, origin),) = done.imported
    return origin.tasks[0]


# Inspect


@pytest.mark.skipif(not CASE.is_file(), reason="the shared cases are not here")
def test_errored_samples_stay_in_the_denominator(tmp_path):
    """8 right, 2 wrong, 10 errored."""
    done = import_logs("inspect", CASE, tmp_path / "run")
    assert accuracies(done) == {"match": (0.4, 0.4, 0.9, {"ok": 10, "error": 10})}
    (notice,) = done.study.judgement.notices
    assert "10 of 20 answers" in notice
    assert ".400" in notice
    assert ".800" in notice


def test_a_set_with_an_errored_member_is_not_right(tmp_path):
    failed = sample(1, scores={}, error={"message": "gone"})
    done = import_logs("inspect", log(tmp_path / "log.json", [sample(0), failed, sample(2), sample(3)]), tmp_path / "r")
    judgement = Judgement(tuple(open_runs([done.study.path])), sets="pair")
    (sets,) = [m for m in judgement.records if m.measure == "set_accuracy"]
    assert (sets.value, sets.bound_low, sets.bound_high, sets.n_sets) == (0.5, 0.5, 1.0, 2)


@pytest.mark.parametrize(
    "more",
    [
        {"error": {"message": "gone"}},
        {"error": "gone"},
        {"scores": {"match": {"value": "C", "metadata": {"error": "timeout"}}}},
        {"scores": {"match": {"value": "C", "error": "timeout"}}},
    ],
)
def test_a_score_that_was_made_from_an_error_is_not_an_answer(tmp_path, more):
    done = import_logs(
        "inspect", log(tmp_path / "log.json", [sample(0), sample(1, "I"), sample(2, **more)]), tmp_path / "r"
    )
    assert accuracies(done) == {"match": (round(1 / 3, 6), round(1 / 3, 6), round(2 / 3, 6), {"ok": 2, "error": 1})}


@pytest.mark.parametrize("nothing", [{"scores": {}}, {"scores": None}, {"scores": {"match": None}}])
def test_a_sample_without_a_score_stays_in_the_denominator(tmp_path, nothing):
    done = import_logs(
        "inspect", log(tmp_path / "log.json", [sample(0), sample(1, "I"), sample(2, **nothing)]), tmp_path / "r"
    )
    assert accuracies(done)["match"][0] == round(1 / 3, 6)


def test_a_sample_that_was_stopped_at_a_limit_is_truncated_where_it_has_no_score(tmp_path):
    limit = {"type": "token", "limit": 100}
    samples = [sample(0), sample(1, "I", limit=limit), sample(2, scores={}, limit=limit)]
    done = import_logs("inspect", log(tmp_path / "log.json", samples), tmp_path / "r")
    assert accuracies(done)["match"][3] == {"ok": 2, "truncated": 1}
    assert any("1 samples were stopped at a limit (token)" in lack for lack in task_of(done).lacks)


def test_samples_of_the_evaluation_that_the_log_lacks_are_not_ok(tmp_path):
    """Three of five are there, two epochs each: of ten answers four are missing."""
    samples = [sample(n, "C" if n else "I", epoch=epoch) for n in range(3) for epoch in (1, 2)]
    path = log(tmp_path / "log.json", samples, dataset={"sample_ids": [0, 1, 2, 3, 4]}, config={"epochs": 2})
    done = import_logs("inspect", path, tmp_path / "r")
    assert task_of(done).records == 10
    assert accuracies(done) == {"match": (0.4, 0.4, 0.8, {"ok": 3, "error": 2})}


def test_scores_that_are_not_finite_are_judged_with_those_not_ok(tmp_path):
    samples = [sample(0, 1.0), sample(1, 0.0), sample(2, float("nan")), sample(3, "NaN"), sample(4, float("inf"))]
    done = import_logs("inspect", log(tmp_path / "log.json", samples), tmp_path / "r")
    assert accuracies(done) == {"match": (0.2, 0.2, 0.8, {"ok": 2, "non_finite": 3})}
    assert "NaN" not in (tmp_path / "r" / "manifest.json").read_text()


def test_no_answer_and_partial_credit_are_neither_right_nor_wrong(tmp_path):
    """C C I P N: the harness counts 2.5 of 5; what is neither could have been right."""
    samples = [sample(n, value) for n, value in enumerate("CCIPN")]
    done = import_logs("inspect", log(tmp_path / "log.json", samples, 0.5), tmp_path / "r")
    assert accuracies(done) == {"match": (0.4, 0.4, 0.8, {"ok": 3, "ambiguous": 1, "unparsed": 1})}
    assert any("1 of 5 answers are judged otherwise" in notice for notice in done.study.judgement.notices)


def test_scores_of_several_values_are_judged_one_by_one(tmp_path):
    values = [{"right": "C", "style": 0.25}, {"right": "I", "style": 0.75}, {"right": "C", "style": 0.5}]
    samples = [sample(n, value) for n, value in enumerate(values)]
    done = import_logs("inspect", log(tmp_path / "log.json", samples), tmp_path / "r")
    assert {name: found[0] for name, found in accuracies(done).items()} == {"right": round(2 / 3, 6)}
    assert any("style: not judged" in notice for notice in done.study.judgement.notices)


def test_choices_of_a_sample_that_failed_are_those_of_its_item(tmp_path):
    """A run in which it failed and one in which it did not hold the same item."""
    choices = {"choices": ["red", "blue"], "target": "B"}
    whole = [sample(n, scores={"choice": {"value": "C", "answer": "B"}}, **choices) for n in range(2)]
    broken = [whole[0], {**whole[1], "scores": {}, "error": {"message": "gone"}}]
    one = import_logs("inspect", log(tmp_path / "a" / "log.json", whole), tmp_path / "one")
    other = import_logs("inspect", log(tmp_path / "b" / "log.json", broken), tmp_path / "other")
    ids = [set(done.study.judgement.suites[0].columns.ids) for done in (one, other)]
    assert ids[0] == ids[1]


# HELM


def helm(folder: Path, said, method: str, *, stats=None, **more) -> Path:
    """A run folder; every right answer is the second of two choices."""
    folder.mkdir(parents=True)
    references = [
        {"output": {"text": text}, "tags": tags} for text, tags in (("red", ["p"]), ("blue", ["correct", "q"]))
    ]
    states = []
    for n, text in enumerate(said):
        state = {
            "instance": {"id": f"id{n}", "input": {"text": f"Colour {n}?"}, "references": references, "split": "test"},
            "output_mapping": {"A": "red", "B": "blue"},
            "train_trial_index": 0,
            "request": {"prompt": "…"},
            "result": {"success": True, "completions": [{"text": text, "logprob": -1.0}]},
        }
        states.append(state | (text if isinstance(text, dict) else {}))
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    adapter = {"method": method, "model": "org/m", **more}
    (folder / "run_spec.json").write_text(json.dumps({"name": "colours", "adapter_spec": adapter}))
    if stats is not None:
        entries = [
            {
                "instance_id": f"id{n}",
                "train_trial_index": 0,
                "stats": [{"name": {"name": name, "split": "test"}, "mean": value} for name, value in own.items()],
            }
            for n, own in enumerate(stats)
        ]
        (folder / "per_instance_stats.json").write_text(json.dumps(entries))
    return folder


THOUGHTS = ("Sky. The correct answer is (B).", "So the answer is B", "The answer is A.")
THOUGHT = "multiple_choice_joint_chain_of_thought"


def test_a_chain_of_thought_is_judged_by_the_grade_in_the_log(tmp_path):
    """Exact match of the whole text gives .00."""
    stats = [{"exact_match": 0.0, "chain_of_thought_correctness": grade} for grade in (1.0, 1.0, 0.0)]
    done = import_logs("helm", helm(tmp_path / "logs", THOUGHTS, THOUGHT, stats=stats), tmp_path / "run")
    assert task_of(done).judged_by == "chain_of_thought_correctness"
    assert accuracies(done)["as-logged"][0] == round(2 / 3, 6)


def test_a_chain_of_thought_without_a_grade_is_judged_by_the_letter_that_helm_extracts(tmp_path):
    stats = [{"exact_match": 0.0}] * 4
    done = import_logs(
        "helm", helm(tmp_path / "logs", [*THOUGHTS, "Who knows"], THOUGHT, stats=stats), tmp_path / "run"
    )
    assert accuracies(done) == {"as-logged": (0.5, 0.5, 0.75, {"ok": 3, "unparsed": 1})}
    assert any("2 of 4 answers are judged otherwise" in notice for notice in done.study.judgement.notices)


@pytest.mark.parametrize("method", ["multiple_choice_joint", "generation"])
@pytest.mark.parametrize(
    ("more", "status"),
    [
        ({"result": {"success": False, "error": "gone", "completions": []}}, "error"),
        ({"result": {"success": True, "completions": []}}, "error"),
        ({"result": None}, "error"),
        ({"result": {"success": True, "completions": [{"text": "", "logprob": 0}]}}, "empty"),
    ],
)
def test_an_instance_that_failed_or_has_no_completion_is_not_ok(tmp_path, method, more, status):
    stats = [{"exact_match": 1.0}, {"exact_match": 0.0}, {"exact_match": 0.0}]
    done = import_logs("helm", helm(tmp_path / "logs", ["B", "A", more], method, stats=stats), tmp_path / "run")
    third = round(1 / 3, 6)
    assert accuracies(done) == {"as-logged": (third, third, round(2 / 3, 6), {"ok": 2, status: 1})}


def test_one_odd_record_does_not_refuse_a_whole_log(tmp_path):
    odd = {"instance": {"id": ["x"], "input": 7, "references": [{"tags": 3}], "split": {}}, "output_mapping": [1]}
    done = import_logs("helm", helm(tmp_path / "logs", ["B", odd, "A"], "multiple_choice_joint"), tmp_path / "run")
    assert accuracies(done)["as-logged"][0] in (0.5, round(1 / 3, 6))


def test_perturbed_instances_are_judged_by_themselves_and_later_trials_are_said(tmp_path):
    references = [{"output": {"text": "blue"}, "tags": ["correct"]}]
    instance = {"id": "id0", "input": {"text": "C0lour?"}, "perturbation": {"name": "typos"}, "references": references}
    perturbed = {"instance": instance}
    folder = helm(tmp_path / "logs", ["B", "A", perturbed, {"train_trial_index": 1}], "generation")
    entries = [
        {"instance_id": f"id{n}", "train_trial_index": trial, "stats": [], **named}
        for n, trial, named in ((0, 0, {}), (1, 0, {}), (0, 0, {"perturbation": {"name": "typos"}}), (3, 1, {}))
    ]
    for entry, value in zip(entries, (1.0, 0.0, 1.0, 0.0), strict=True):
        name = {
            "name": "exact_match",
            "split": "test",
            **({"perturbation": entry.get("perturbation")} if "perturbation" in entry else {}),
        }
        entry["stats"] = [{"name": name, "mean": value}]
    (folder / "per_instance_stats.json").write_text(json.dumps(entries))
    done = import_logs("helm", folder, tmp_path / "run")
    assert any("(epochs, trials)" in str(notice) for notice in task_of(done).notices)
    (repeated,) = [m for m in done.study.records if m.measure == "accuracy_over_repeats"]
    assert (repeated.value, repeated.n_items) == (pytest.approx(1 / 3), 3)  # right, wrong, and wrong in a later trial
    assert accuracies(done)["typos"][3] == {"empty": 1} or accuracies(done)["typos"][0] == 1.0


def test_instance_ids_and_tags_of_references_are_fields_to_judge_by(tmp_path):
    done = import_logs("helm", helm(tmp_path / "logs", ["B", "A"], "multiple_choice_joint"), tmp_path / "run")
    assert {"instance_id", "reference_tags"} <= set(task_of(done).fields)
    judgement = Judgement(tuple(open_runs([done.study.path])), sets="instance_id")
    assert judgement.suites[0].places.sets == ["id0", "id1"]
