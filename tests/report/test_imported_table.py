"""The table that ends an import keeps names whole."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from veridical.report.imported import render
from veridical.runs.provenance import HarnessTask, Imported, Metric

TASK, LONG = "negotiationtom_intention", "a_task_of_thirty_characters_xx"


def shown(metrics: tuple[Metric, ...], width: int, task: str = TASK) -> str:
    found = HarnessTask(suite=task, records=8, judged_by="answers", metrics=metrics, read=8, judged=8)
    console = Console(file=io.StringIO(), width=width)
    console.print(render([(Path("run"), "net", Imported(harness="lm-eval", version="0.4", tasks=(found,)))]))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def full(metric: str, reading: str) -> Metric:
    """A metric of which every column has something."""
    numbers = {"reported": 0.875, "own": 0.75, "recomputed": 0.625, "stderr": 0.0152, "own_stderr": 0.0160}
    return Metric(metric=metric, reading=reading, n=123456, differing=2, **numbers)


@pytest.mark.parametrize("task", [TASK, LONG])
@pytest.mark.parametrize(
    ("metric", "reading"),
    [("is_correct", "answer"), ("quasi_prefix_exact_match", "as-logged"), ("exact_match", "flexible-extract")],
)
def test_names_are_whole_at_width_100(task, metric, reading) -> None:
    said = shown((full(metric, reading), full("acc_norm", "none")), 100, task)
    lines = [line.strip() for line in said.splitlines()]
    assert task in [line.split("  ")[0] for line in lines]
    assert any(line.startswith(f"{metric} ({reading}) ") for line in lines)
    assert any(line.startswith("acc_norm (none) ") for line in lines)
    assert sum(line == task for line in lines) <= 1
    for number in ("0.8750", "0.7500", "0.6250", "0.0152 /", "0.0160", "123,456"):
        assert number in said


def test_usual_names_are_whole_at_width_80() -> None:
    lines = [line.strip() for line in shown((full("acc_norm", "none"),), 80).splitlines()]
    assert any(line.startswith("acc_norm (none) ") for line in lines)
    assert any(line.startswith(TASK) for line in lines)


def test_columns_in_which_nothing_stands_are_left_out_and_equal_errors_are_one_number() -> None:
    said = shown((Metric(metric="score", reading="answer", own=0.5, n=4, stderr=0.25, own_stderr=0.25),), 100)
    assert "reported" not in said
    assert "0.2500 /" not in said
    assert "0.2500" in said
