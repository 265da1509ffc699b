"""What stands in the place of a log and is not a file is named, with what it is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.interop.sampled import DATE, write_results
from tests.interop.test_lighteval_and_eee import DATE as DAY
from veridical.errors import UserError
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.score_table import read_scores

KINDS = {
    "pipe": "a pipe or a device, not a file",
    "device": "a pipe or a device, not a file",
    "broken link": "a link to what is not there",
    "circle": "a link that leads in a circle",
}


def placed(path: Path, kind: str) -> Path:
    path.parent.mkdir(exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "circle":
        path.symlink_to(path.name)
    else:
        path.symlink_to("/dev/zero" if kind == "device" else "/nowhere/at/all")
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("by_file", [False, True])
def test_samples_of_lm_eval_that_are_no_file_are_not_taken_for_missing(tmp_path, kind, by_file) -> None:
    results = write_results(tmp_path / "logs", {"two": {"acc,none": 0.9}})
    path = placed(tmp_path / "logs" / f"samples_two_{DATE}.jsonl", kind)
    with pytest.raises(UserError, match=KINDS[kind]) as wording:
        import_logs("lm-eval", results if by_file else tmp_path / "logs", tmp_path / "run")
    assert str(path) in str(wording.value)
    assert "--log_samples" not in str(wording.value)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("harness", "name"),
    [
        ("inspect", "a.eval"),
        ("helm", "scenario_state.json"),
        ("lighteval", f"details_task_{DAY}.parquet"),
        ("every-eval-ever", "a.jsonl"),
        ("scores", "a.json"),
    ],
)
def test_a_log_that_is_no_file_is_named_in_a_folder_and_by_itself(tmp_path, kind, harness, name) -> None:
    path = placed(tmp_path / "logs" / name, kind)

    def read(source: Path) -> None:
        if harness == "scores":
            read_scores(source)
        else:
            import_logs(harness, source, tmp_path / "run")

    with pytest.raises(UserError, match=KINDS[kind]) as wording:
        read(path.parent)
    assert str(path) in str(wording.value)
    with pytest.raises(UserError) as wording:
        read(path)
    assert kind != "broken link" or "a link to /nowhere/at/all, which is not there" in str(wording.value)
