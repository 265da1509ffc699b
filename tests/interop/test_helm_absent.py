"""Instances that HELM counts, and whose requests are not in the run folder, stay in the denominator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.interop.test_denominators import accuracies, helm, task_of
from veridical.interop.imports.importing import import_logs

JOINT = "multiple_choice_joint"


def count_stats(folder: Path, *counts: tuple[str, int], **more: object) -> None:
    """`stats.json` with how many instances there are, by split."""
    stats = [
        {"name": {"name": "num_instances", "split": split, **more}, "count": 1, "mean": float(n), "sum": float(n)}
        for split, n in counts
    ]
    (folder / "stats.json").write_text(json.dumps(stats))


def states_of(folder: Path) -> list[dict[str, object]]:
    return json.loads((folder / "scenario_state.json").read_text())["request_states"]


def keep(folder: Path, states: object) -> None:
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))


@pytest.mark.parametrize(("method", "single"), [(JOINT, False), (JOINT, True), ("generation", True)])
def test_instances_that_are_counted_and_not_there_are_not_answered(tmp_path, method, single):
    """4 of 6 right; three requests are removed, two of them right: 2 of 6, and up to 5."""
    said = ["B", "B", "B", "B", "A", "A"]
    folder = helm(tmp_path / "logs", said, method, stats=[{"exact_match": float(text == "B")} for text in said])
    if not single:
        (folder / "per_instance_stats.json").unlink()
    count_stats(folder, ("test", 6))
    keep(folder, states_of(folder)[2:5])
    done = import_logs("helm", folder, tmp_path / "run")
    third = round(2 / 6, 6)
    assert accuracies(done) == {"as-logged": (third, third, round(5 / 6, 6), {"ok": 3, "error": 3})}
    task = task_of(done)
    assert (task.read, task.judged, task.absent) == (3, 3, 3)
    assert "3 more asked and not in the log, which count as not answered" in task.account


def test_what_is_left_out_is_not_counted_as_absent_as_well(tmp_path):
    """6 counted: 4 there, one without its instance, one removed."""
    folder = helm(tmp_path / "logs", ["B", "B", "B", "A", "A", "A"], JOINT)
    count_stats(folder, ("test", 6))
    states = states_of(folder)[:5]
    states[0] = {**states[0], "instance": None}
    keep(folder, states)
    task = task_of(import_logs("helm", folder, tmp_path / "run"))
    assert (task.read, task.judged, sum(task.skipped.values()), task.absent) == (5, 4, 1, 1)


@pytest.mark.parametrize(
    ("counts", "more", "absent"),
    [
        ([("test", 3)], {}, 0),
        ([("test", 2)], {}, 0),
        ([("test", 3), ("valid", 2)], {}, 2),
        ([("test", 9)], {"perturbation": {"name": "robustness", "computed_on": "worst"}}, 0),
        ([("test", 4)], {"perturbation": {"name": "typos"}}, 4),
        ([("test", float("nan"))], {}, 0),
    ],
)
def test_instances_are_counted_by_split_and_perturbation(tmp_path, counts, more, absent):
    folder = helm(tmp_path / "logs", ["B", "B", "A"], JOINT)
    count_stats(folder, *counts, **more)
    assert task_of(import_logs("helm", folder, tmp_path / "run")).absent == absent
