"""Folders of logs: what cannot be judged is named, and so is the metric that says what is right."""

from __future__ import annotations

from tests.interop.sampled import text_record, write_results, write_samples
from tests.interop.test_denominators import helm, log, sample
from veridical.cli import main
from veridical.interop.imports.importing import import_logs


def printed(capsys) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_results_without_samples_in_a_folder_with_samples_are_counted_and_sent_to_scores(tmp_path, capsys):
    folder = tmp_path / "logs"
    write_samples(folder, [text_record(n, "4", float(n < 3)) for n in range(4)])
    for day in ("2026-01-03T03-04-05.678901", "2026-01-04T03-04-05.678901"):
        write_results(folder, {"other": {"acc,none": 0.5}}, date=day)
    assert main(["import", "lm-eval", str(folder), "--out", str(tmp_path / "run")]) == 0
    said = printed(capsys)
    assert "2 results files without samples are left out" in said
    assert f"veridical import scores {folder}" in said
    assert main(["judge", str(tmp_path / "run")]) == 0
    assert "2 results files without samples are left out" in printed(capsys)


def test_logs_of_inspect_that_cannot_be_judged_are_named_as_files_and_not_as_a_tasks_lack(tmp_path):
    log(tmp_path / "logs" / "a.json", [sample(0), sample(1, "I")])
    empty = log(tmp_path / "logs" / "b.json", [])
    done = import_logs("inspect", tmp_path / "logs", tmp_path / "run")
    ((_, _, origin),) = done.imported
    assert [(one.what, one.reason.split(" (")[0]) for one in origin.left_out] == [(str(empty), "no samples")]
    assert not any("left out" in lack for task in origin.tasks for lack in task.lacks)


def test_the_metric_that_says_what_is_right_stands_over_the_table(tmp_path, capsys):
    path = write_samples(tmp_path / "logs", [text_record(n, "4", float(n < 3)) for n in range(4)])
    import_logs("lm-eval", path, tmp_path / "run")
    assert main(["judge", str(tmp_path / "run")]) == 0
    assert "right by exact_match" in printed(capsys)


def test_a_metric_of_which_less_is_better_is_named_with_its_way(tmp_path, capsys):
    records = [text_record(n, "4", float(n < 1)) for n in range(4)]
    for record in records:
        record["toxicity"] = record.pop("exact_match")
        record["metrics"] = ["toxicity"]
    path = write_samples(tmp_path / "logs", records)
    done = import_logs("lm-eval", path, tmp_path / "run", metric="toxicity")
    assert next(m.value for m in done.study.records if m.measure == "accuracy") == 0.75
    assert main(["judge", str(tmp_path / "run")]) == 0
    assert "right by toxicity (0 is right)" in printed(capsys)


def test_splits_of_a_helm_run_that_are_judged_together_are_said(tmp_path):
    """HELM reports test and valid each by itself."""
    references = [{"output": {"text": "blue"}, "tags": ["correct", "q"]}, {"output": {"text": "red"}, "tags": ["p"]}]
    valid = {"instance": {"id": "id2", "input": {"text": "Colour 2?"}, "references": references, "split": "valid"}}
    valid["result"] = {"success": True, "completions": [{"text": "B", "logprob": -1.0}]}
    folder = helm(tmp_path / "logs", ["B", "A", valid], "multiple_choice_joint")
    done = import_logs("helm", folder, tmp_path / "run")
    assert any("several splits (2 test, 1 valid)" in notice for notice in done.study.judgement.notices)
