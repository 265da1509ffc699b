"""Every real log that is at hand: what of it is recomputed, and why what is not cannot be.

A file that is new to the folders fails here until it has its row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.interop.imports.importing import Import, import_logs
from veridical.runs.provenance import HarnessTask, Metric

DATA = Path(__file__).parents[3] / "shared" / "data"
FOLDERS = {"lm-eval": DATA / "lm_eval_logs", "inspect": DATA / "inspect_logs", "helm": DATA / "helm_logs"}

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public data are not here")


@dataclass(frozen=True)
class Row:
    """What is to be found in the files whose names match: metrics by what can be said of them.

    `recomputed` come out of the log itself, `taken` are the harness's own scores of single answers whose mean is the
    reported number, `whole` are made of all answers together. `judged_by` says how answers are judged; `refused` is
    part of the one line where a file has nothing to judge.
    """

    harness: str
    name: str
    judged_by: str = ""
    recomputed: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    refused: str = ""
    has_results: bool = True


NO_SAMPLES = "no samples of single answers"
ROWS = (
    # Log-likelihoods of choices, and a results file: everything but F1 comes out again.
    Row(
        "lm-eval", r".*bias_classification.*2024-06-17T15-44-37.*", "log-likelihoods", ("acc", "acc_norm"), (), ("f1",)
    ),
    # One continuation, right where it is the greedy one: the log has the flag.
    Row("lm-eval", r".*results__asdiv__.*2024-08-21T03-44-09.*", "acc", ("acc",)),
    # Texts, scored by metrics that no log of texts repeats: taken as they are.
    Row("lm-eval", r".*2024-10-11T13-58-59.*", "", (), ("bleu_score", "chrf_score", "bleurt_score", "comet_score")),
    Row("lm-eval", r".*samples_eqbench_ca.*", "", (), ("eqbench", "percent_parseable"), has_results=False),
    Row("lm-eval", r".*samples_masakhaner.*", "", (), (), ("f1",), has_results=False),
    Row(
        "lm-eval",
        r".*samples_negotiationtom.*",
        "exact_match",
        (),
        ("exact_match",),
        ("micro_f1", "macro_f1"),
        has_results=False,
    ),
    # Numbers alone.
    Row("lm-eval", r"2023-08-15_.*mlsum.*", refused=NO_SAMPLES),
    Row("lm-eval", r"2024-06-03_.*results_.*", refused=NO_SAMPLES),
    Row("lm-eval", r".*bias_classification.*results_2024-06-17T(12|15-58|16)-.*", refused=NO_SAMPLES),
    Row("lm-eval", r".*(aug17|asdiv_cot|T04-27-29|T04-31-41).*", refused=NO_SAMPLES),
    Row("lm-eval", r".*tests_calamita.*", refused=NO_SAMPLES),
    Row("lm-eval", r".*rwkv7.*", refused=NO_SAMPLES),
    Row("lm-eval", r".*gemma-2-9b-it.*", refused=NO_SAMPLES),
    # Inspect: a letter that the scorer read is judged again; other scorers' grades are taken.
    Row("inspect", r".*mmlu-summary-choices\.eval", "answers", ("accuracy",)),
    Row("inspect", r".*(T20-28-13.*|log_formats|ignore)\.(json|eval)", "accuracy", (), ("accuracy",)),
    Row("inspect", r".*log_tool_call_error\.json", refused="no sample has a score"),
    Row("inspect", r".*scorer__logs.*\.eval", refused="no sample has a score"),
    Row("inspect", r".*test_eval_set.*\.json", refused="no samples"),
    Row(
        "helm",
        r"mmlu.*",
        "answers",
        ("exact_match", "quasi_exact_match", "prefix_exact_match", "quasi_prefix_exact_match"),
        ("exact_match@5", "quasi_exact_match@5", "prefix_exact_match@5", "quasi_prefix_exact_match@5"),
    ),
)


def logs() -> Iterator[tuple[str, Path]]:
    for harness, folder in FOLDERS.items():
        if folder.is_dir():
            yield from ((harness, path) for path in sorted(folder.iterdir()) if not path.name.startswith("_"))


def row(harness: str, path: Path) -> Row:
    found = [one for one in ROWS if one.harness == harness and re.fullmatch(one.name, path.name)]
    assert len(found) == 1, f"{path.name} has {len(found)} rows"
    return found[0]


@pytest.mark.parametrize(("harness", "path"), [pytest.param(h, p, id=p.name[-60:]) for h, p in logs()])
def test_numbers_of_the_file_come_out_wherever_it_holds_what_they_are_made_of(harness, path, tmp_path):
    expected = row(harness, path)
    if expected.refused:
        with pytest.raises(UserError, match=expected.refused):
            import_logs(harness, path, tmp_path / "run")
        assert not (tmp_path / "run").exists()
        return
    done = import_logs(harness, path, tmp_path / "run")
    (task,) = _tasks(done)
    assert task.judged_by == expected.judged_by
    assert not task.skipped
    found = {kind: set() for kind in ("recomputed", "taken", "whole")}
    for metric in task.metrics:
        found[_kind(metric)].add(metric.metric)
    assert {kind: set(getattr(expected, kind)) for kind in found} == found
    for metric in task.metrics:
        _check(metric, expected)
    _judged_as_graded(done, task)


def _tasks(done: Import) -> list[HarnessTask]:
    return [task for _, _, origin in done.imported for task in origin.tasks]


def _kind(metric: Metric) -> str:
    if metric.recomputed is not None:
        return "recomputed"
    return "taken" if metric.own is not None else "whole"


def _check(metric: Metric, expected: Row) -> None:
    """The three numbers of a metric are one, where there are three; what is not recomputed says why."""
    assert metric.differing == 0
    assert (metric.recomputed is None) == bool(metric.reason)
    assert (metric.reported is not None) == expected.has_results
    numbers = [value for value in (metric.reported, metric.own, metric.recomputed) if value is not None]
    if _kind(metric) != "whole":
        assert numbers == pytest.approx([numbers[0]] * len(numbers), abs=1e-12)


def _judged_as_graded(done: Import, task: HarnessTask) -> None:
    """What is judged lies where the harness's number does: equal to it, but for ties, which it gives to the first."""
    accuracy = [m for m in done.study.records if m.measure == "accuracy" and m.answerer == "model" and not m.slice]
    if not task.judged_by:
        assert not accuracy
        return
    (judged,) = accuracy
    named = {"log-likelihoods": "acc", "answers": task.metrics[0].metric}.get(task.judged_by, task.judged_by)
    own = [metric for metric in task.metrics if metric.metric == named]
    right = sum(metric.own * metric.n for metric in own)
    n = sum(metric.n for metric in own)
    assert judged.n_items == n == task.records
    assert judged.bound_low <= right / n + 1e-12
    assert judged.bound_high >= right / n - 1e-12
    if set(judged.statuses) == {"ok"}:
        assert judged.value == pytest.approx(right / n, abs=1e-12)


def test_a_folder_of_logs_is_a_study_with_a_run_for_each_model(tmp_path):
    """The shared folder holds samples of six evaluations of six models."""
    done = import_logs("lm-eval", FOLDERS["lm-eval"], tmp_path / "study")
    assert len(done.imported) == 6
    assert len({model for _, model, _ in done.imported}) == 6
    assert all((folder / "manifest.json").is_file() for folder, _, _ in done.imported)
    with pytest.raises(UserError, match="exists already"):
        import_logs("lm-eval", FOLDERS["lm-eval"], tmp_path / "study")
