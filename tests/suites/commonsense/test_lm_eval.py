"""What we put to a model is what lm-evaluation-harness puts to it, string for string.

The harness's own task files are rendered over the same local rows: a task of ours includes each of them and names
another data set. Skipped where the harness is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy, asked_rows

from .asking import PUBLISHED, requests

lm_eval = pytest.importorskip(
    "lm_eval", reason="lm-evaluation-harness is not installed (pip install veridical[lm-eval])"
)

HARNESS = {
    "blimp": ("blimp", "blimp/wh_island.yaml"),
    "hellaswag": ("hellaswag", "hellaswag/hellaswag.yaml"),
    "piqa": ("piqa", "piqa/piqa.yaml"),
    "social-iqa": ("social-iqa", "siqa/siqa.yaml"),
    "winogrande": ("winogrande", "winogrande/default.yaml"),
}
"""Benchmark to the folder of our small files and the harness's own task file."""


@pytest.mark.parametrize("name", HARNESS)
def test_requests_are_the_harness_s_own(name: str, tmp_path: Path) -> None:
    folder, task_file = HARNESS[name]
    copy = Copy(folder=PUBLISHED / folder)
    ours = [pairs for _, pairs in requests(benchmark(TASKS[name], copy).suite)]
    rows = [dict(row.values) for row in asked_rows(TASKS[name], copy)]
    theirs = list(harness_requests(rows, Path(lm_eval.__file__).parent / "tasks" / task_file, tmp_path))
    if TASKS[name].shuffle:
        ours, theirs = [sorted(pairs) for pairs in ours], [sorted(pairs) for pairs in theirs]
    assert len(ours) == len(rows)
    assert ours == theirs


def test_every_benchmark_that_the_harness_has_is_compared_or_says_how_it_differs() -> None:
    assert [name for name, task in TASKS.items() if task.lm_eval and not task.differs and name not in HARNESS] == []


def harness_requests(rows: list[dict[str, object]], task_file: Path, folder: Path) -> Iterator[list[tuple[str, str]]]:
    """The (context, continuation) pairs of each row, as the harness makes them from its own task file."""
    from lm_eval.tasks import TaskManager, get_task_dict

    data = folder / "rows.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = {split: str(data) for split in ("train", "validation", "test", "dev")}
    task = {
        "include": str(task_file),
        "task": "local",
        "dataset_path": "json",
        "dataset_name": None,
        "dataset_kwargs": {"data_files": files},
    }
    (folder / "local.yaml").write_text(json.dumps(task))  # JSON is YAML
    loaded = get_task_dict(["local"], TaskManager(include_path=str(folder), include_defaults=False))["local"]
    for number, doc in enumerate(loaded.eval_docs):
        context = loaded.fewshot_context(doc, num_fewshot=0)
        made = loaded.construct_requests(doc, context, metadata=("local", number, 1))
        yield [instance.args for instance in made]
