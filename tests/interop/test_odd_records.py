"""One odd record among eight refuses no log, and whatever became of it is counted."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from tests.interop.sampled import DATE, choice_record, text_record
from tests.interop.test_denominators import log, sample
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.score_table import read_scores

N = 8
ODD: list[Any] = [
    *(
        None,
        True,
        -1,
        3,
        10**400,
        float("nan"),
        float("inf"),
        "",
        "x",
        "\ud800",
        [],
        [1],
        {},
        {"a": 1},
        [[]],
        ["a", "b"],
    ),
    *(1.5, -999, "nan", {"text": {"text": 1}}),
]


def places(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield from places(one, (*path, key))


def mutated(rng: random.Random, value: Any) -> Any:
    """A copy with one part gone, or replaced by something that is not meant to be there."""
    value = copy.deepcopy(value)
    *above, last = rng.choice(list(places(value)))
    holder = value
    for key in above:
        holder = holder[key]
    if rng.random() < 0.2:
        del holder[last]
    else:
        holder[last] = rng.choice(ODD)
    return value


def choice(n: int) -> dict[str, Any]:
    return choice_record(n, (-1.0, -2.0, -3.0) if n % 2 else (-2.0, -1.0, -3.0), 0)


def helm(n: int) -> dict[str, Any]:
    references = [{"output": {"text": text}, "tags": ["correct"] * (text == "x")} for text in "xyz"]
    return {
        "instance": {"id": f"id{n}", "split": "test", "input": {"text": f"Q{n}"}, "references": references},
        "request_mode": "original",
        "train_trial_index": 0,
        "output_mapping": {"A": "x", "B": "y", "C": "z"},
        "request": {"prompt": f"Q{n} Answer:"},
        "result": {"success": True, "completions": [{"text": " A" if n % 2 else " B", "logprob": -1.0}]},
    }


def stats(n: int) -> dict[str, Any]:
    named = {"name": {"name": "exact_match", "split": "test"}, "count": 1, "mean": float(n % 2)}
    return {"instance_id": f"id{n}", "train_trial_index": 0, "stats": [named]}


def instance(n: int) -> dict[str, Any]:
    """A record of every_eval_ever."""
    return {
        "model_id": "org/m",
        "evaluation_name": "small",
        "sample_id": f"s{n}",
        "input": {"raw": f"Q{n}", "choices": ["x", "y"], "reference": ["x"]},
        "answer_attribution": [{"extracted_value": "xy"[n % 2], "is_terminal": True}],
        "evaluation": {"score": float(n % 2 == 0), "is_correct": n % 2 == 0},
    }


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def helm_folder(folder: Path, states: list[Any], of_instances: list[Any], method: str) -> Path:
    spec = {"name": "small:model=m", "adapter_spec": {"method": method, "model": "org/m"}}
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    (folder / "per_instance_stats.json").write_text(json.dumps(of_instances))
    (folder / "run_spec.json").write_text(json.dumps(spec))
    return folder


def details(folder: Path, rows: list[dict[str, Any]]) -> Path:
    frame = pl.DataFrame([{name: repr(value) for name, value in row.items()} for row in rows])
    frame.write_parquet(folder / f"details_small_{DATE}.parquet")
    return folder


def row(n: int) -> dict[str, Any]:
    """A row of lighteval's details."""
    doc = {"query": f"Q{n}", "choices": [" x", " y"], "gold_index": n % 2}
    return {
        "doc": doc,
        "model_response": {"input": "p", "logprobs": [-1.0, -2.0]},
        "metric": {"acc": float(n % 2 == 0)},
    }


def scored(n: int) -> dict[str, Any]:
    return sample(
        n, scores={"choice": {"value": "C" if n % 2 else "I", "answer": "AB"[n % 2]}}, choices=["x", "y"], target="B"
    )


Make = Callable[[int], dict[str, Any]]
Write = Callable[[Path, list[dict[str, Any]]], Path]
KINDS: dict[str, tuple[str, Make, Write]] = {
    "choices": ("lm-eval", choice, lambda folder, records: lines(folder / f"samples_small_{DATE}.jsonl", records)),
    "texts": (
        "lm-eval",
        lambda n: text_record(n, "4", float(n % 2)),
        lambda folder, records: lines(folder / f"samples_small_{DATE}.jsonl", records),
    ),
    "inspect": ("inspect", scored, lambda folder, records: log(folder / "log.json", records, scorer="choice")),
    "helm": (
        "helm",
        helm,
        lambda folder, records: helm_folder(folder, records, [stats(n) for n in range(N)], "multiple_choice_joint"),
    ),
    "helm's statistics": (
        "helm",
        stats,
        lambda folder, records: helm_folder(folder, [helm(n) for n in range(N)], records, "generation"),
    ),
    "every-eval-ever": ("every-eval-ever", instance, lambda folder, records: lines(folder / "a.jsonl", records)),
    "lighteval": ("lighteval", row, details),
    "predictions": (
        "predictions",
        lambda n: {"id": n, "gold": "ab"[n % 2], "prediction": "a"},
        lambda folder, records: lines(folder / "a.jsonl", records),
    ),
    "scores of options": (
        "predictions",
        lambda n: {"id": n, "gold": "ab"[n % 2], "scores": [-1.0, -2.0]},
        lambda folder, records: lines(folder / "a.jsonl", records),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(6))
def test_one_odd_record_refuses_no_log_and_is_counted(tmp_path, kind, seed):
    harness, make, write = KINDS[kind]
    rng = random.Random(f"{kind} {seed}")
    records = [make(n) for n in range(N)]
    records[2] = mutated(rng, records[2])
    (tmp_path / "logs").mkdir()
    done = import_logs(harness, write(tmp_path / "logs", records), tmp_path / "run")
    tasks = [task for _, _, origin in done.imported for task in origin.tasks]
    lost = sum(one.n for _, _, origin in done.imported for one in origin.left_out)
    assert sum(task.read or 0 for task in tasks) + lost >= N
    assert sum(task.judged for task in tasks) >= N - 1
    for task in tasks:
        assert task.read == task.judged + sum(task.unjudged.values()) + sum(task.skipped.values())


RESULTS = (
    {"config_general": {"model_name": "m"}, "results": {"a|0": {"acc": 0.5, "acc_stderr": 0.1}}, "versions": {}},
    {
        "eval": {"model": "m", "task": "t"},
        "results": {"completed_samples": 3, "scores": [{"name": "match", "metrics": {"accuracy": {"value": 0.5}}}]},
    },
    {
        "model_info": {"id": "m"},
        "evaluation_results": [{"evaluation_name": "e", "metric_config": {}, "score_details": {"score": 0.5}}],
    },
    {"results": {"t": {"acc,none": 0.5, "acc_stderr,none": 0.1}}, "configs": {"t": {}}, "n-shot": {"t": 0}},
)


@pytest.mark.parametrize("seed", range(40))
def test_one_odd_results_file_takes_no_other_down(tmp_path, seed):
    rng = random.Random(seed)
    for place, document in enumerate(RESULTS):
        odd = mutated(rng, document) if place == seed % 4 else document
        (tmp_path / f"{place}.json").write_text(json.dumps(odd))
    found = read_scores(tmp_path)
    assert found.files == 4
    assert len({score.file for score in found.scores}) >= 3
    assert found.numbers >= len(found.scores) >= 3


def test_marks_of_missing_scores_in_results_are_named_and_left_out_on_demand(tmp_path):
    for place, score in enumerate((0.5, -1, -999)):
        (tmp_path / f"{place}.json").write_text(json.dumps({**RESULTS[3], "results": {"t": {"acc,none": score}}}))
    found = read_scores(tmp_path)
    assert len(found.scores) == 3
    assert [notice.split(",")[0] for notice in found.notices] == ["1 score of -1", "1 score of -999"]
    found = read_scores(tmp_path, missing=(-1.0, -999.0))
    assert [score.score for score in found.scores] == [0.5]
    assert sum(found.skipped.values()) == 2


# Predictions


@pytest.mark.parametrize(
    "cells",
    [("1", "0", "", "maybe", "1", "nan"), ("true", "no", "NA", "2", "yes", "?"), ("1.0", "0.0", "null", "-1", "1", "")],
)
def test_empty_and_odd_cells_of_grades_stay_in_the_denominator(tmp_path, cells):
    """6 items, 2 right and 3 not known: .33, which could be .83."""
    path = tmp_path / "a.csv"
    path.write_text("id,correct\n" + "".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
    done = import_logs("predictions", path, tmp_path / "run")
    (accuracy,) = [m for m in done.study.records if m.measure == "accuracy" and m.answerer == "model"]
    assert (accuracy.value, accuracy.bound_low, accuracy.bound_high) == (
        pytest.approx(1 / 3),
        pytest.approx(1 / 3),
        pytest.approx(5 / 6),
    )
    assert dict(accuracy.statuses) == {"ok": 3, "unparsed": 3}


@pytest.mark.parametrize("score", ["null", "NaN", '"oops"', "[]", "Infinity"])
@pytest.mark.parametrize("whole", [False, True])
def test_a_score_that_is_none_makes_its_row_not_ok(tmp_path, score, whole):
    path = tmp_path / "a.jsonl"
    rows = [f'{{"id": {n}, "gold": "{"ab"[n % 2]}", "scores": [-1.0, -2.0]}}' for n in range(6)]
    rows[1] = f'{{"id": 1, "gold": "b", "scores": {score if whole else f"[-1.0, {score}]"}}}'
    path.write_text("\n".join(rows))
    done = import_logs("predictions", path, tmp_path / "run")
    (accuracy,) = [m for m in done.study.records if m.measure == "accuracy" and m.answerer == "model"]
    assert (accuracy.value, dict(accuracy.statuses)) == (0.5, {"ok": 5, "non_finite": 1})
