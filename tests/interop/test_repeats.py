"""Epochs and trials: every measure is of the first, accuracy over repeats of all, and the reader is informed."""

from __future__ import annotations

import json

import pytest

from tests.interop.test_denominators import helm, log, sample
from veridical.cli import main
from veridical.interop.imports.importing import import_logs


def over_repeats(done):
    return [m for m in done.study.records if m.measure == "accuracy_over_repeats"]


def epochs(*patterns: str) -> list[dict[str, object]]:
    """Samples with a letter an epoch; `E` is one that failed."""
    return [
        sample(number, letter, epoch=epoch)
        if letter != "E"
        else sample(number, epoch=epoch, scores={}, error={"message": "gone"})
        for number, pattern in enumerate(patterns)
        for epoch, letter in enumerate(pattern, 1)
    ]


def test_accuracy_over_epochs_counts_each_sample_once(tmp_path):
    """Shares right 1, 1/3, 1/3 and 2/3 with one failed: 7/12, and 8/12 at most; the first epoch alone 2/4."""
    done = import_logs("inspect", log(tmp_path / "log.json", epochs("CCC", "CII", "IIC", "ECC")), tmp_path / "run")
    (accuracy,) = [m for m in done.study.records if m.measure == "accuracy"]
    (found,) = over_repeats(done)
    assert accuracy.value == 0.5
    assert (found.value, found.bound_low, found.bound_high) == pytest.approx((7 / 12, 7 / 12, 8 / 12))
    assert (found.n_items, dict(found.statuses)) == (4, {"ok": 11, "error": 1})


def test_samples_and_not_epochs_are_what_is_resampled(tmp_path):
    """Five equal epochs of 40 samples, 20 right: the standard error is that of 40 answers (.079), not of 200 (.035)."""
    samples = epochs(*["CCCCC"] * 20, *["IIIII"] * 20)
    (found,) = over_repeats(import_logs("inspect", log(tmp_path / "log.json", samples), tmp_path / "run"))
    assert found.value == 0.5
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx((0.25 / 40) ** 0.5, rel=0.1)


def test_epochs_are_said_first_on_terminal_page_and_in_json(tmp_path, capsys):
    path = log(tmp_path / "log.json", epochs("CC", "CI"))
    assert main(["import", "inspect", str(path), "--out", str(tmp_path / "run")]) == 0
    assert "asked up to 2 times (epochs, trials)" in " ".join(capsys.readouterr().out.split())
    assert "asked up to 2 times" in (tmp_path / "run" / "report.html").read_text()
    assert main(["judge", str(tmp_path / "run")]) == 0
    assert "Accuracy over repeats" in capsys.readouterr().out
    assert main(["judge", str(tmp_path / "run"), "--json"]) == 0
    assert any("asked up to 2 times" in notice for notice in json.loads(capsys.readouterr().out)["notices"])


def test_trials_of_a_helm_run_are_averaged_too(tmp_path):
    """The first of two instances is right in both trials, the second in one: (1 + 1/2) / 2."""
    second = [
        {
            "instance": {"id": f"id{n}", "input": {"text": f"Colour {n}?"}, "split": "test"}
            | {
                "references": [
                    {"output": {"text": "red"}, "tags": []},
                    {"output": {"text": "blue"}, "tags": ["correct"]},
                ]
            },
            "train_trial_index": 1,
            "result": {"success": True, "completions": [{"text": said, "logprob": -1.0}]},
        }
        for n, said in enumerate("BB")
    ]
    done = import_logs("helm", helm(tmp_path / "logs", ["B", "A", *second], "multiple_choice_joint"), tmp_path / "run")
    (found,) = over_repeats(done)
    assert (found.value, found.n_items) == (0.75, 2)
    assert any("asked up to 2 times" in notice for notice in done.study.judgement.notices)


def test_a_log_without_epochs_has_no_accuracy_over_repeats(tmp_path):
    done = import_logs("inspect", log(tmp_path / "log.json", epochs("C", "I")), tmp_path / "run")
    assert not over_repeats(done)
    assert not done.study.judgement.notices
