"""Logs that are broken, of another kind, or not safe: one clear line, or the readable part and a count of the rest."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.cli.test_bad_input import fault
from tests.interop.sampled import DATE, choice_record, text_record, write_results, write_samples
from veridical.errors import UserError
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.records import CP1252, CUT_OFF, NOT_JSON

RECORDS = [choice_record(number, (-1.0, -2.0, -3.0), number % 3) for number in range(6)]


def task_of(path: Path, out: Path, harness: str = "lm-eval"):
    ((_, _, origin),) = import_logs(harness, path, out).imported
    return origin.tasks[0]


def test_a_file_that_is_cut_off_is_read_up_to_there(tmp_path):
    path = write_samples(tmp_path / "logs", RECORDS)
    path.write_bytes(path.read_bytes()[:-100])
    task = task_of(path, tmp_path / "run")
    assert (task.records, dict(task.skipped)) == (5, {CUT_OFF: 1})


def test_lines_that_are_no_json_are_left_out_and_counted(tmp_path):
    path = write_samples(tmp_path / "logs", RECORDS)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], "{broken", "[1, 2]", *lines[2:], ""]))
    task = task_of(path, tmp_path / "run")
    assert (task.records, dict(task.skipped)) == (6, {NOT_JSON: 2})


@pytest.mark.parametrize("indent", [None, 2])
def test_an_array_under_the_name_of_json_lines_is_read(tmp_path, indent):
    """0.4.0 to 0.4.2 write so."""
    path = write_samples(tmp_path / "logs", [])
    path.write_text(json.dumps(RECORDS, indent=indent))
    assert task_of(path, tmp_path / "run").records == 6
    path.write_text(json.dumps(RECORDS, indent=indent)[:-200])
    task = task_of(path, tmp_path / "again")
    assert (task.records, dict(task.skipped)) == (5, {CUT_OFF: 1})


def test_json_lines_under_the_name_of_json_are_read(tmp_path):
    """0.4.3 wrote so."""
    path = write_samples(tmp_path / "logs", RECORDS)
    assert task_of(path.rename(path.with_suffix(".json")), tmp_path / "run").records == 6


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_text(tmp_path, encoding):
    path = write_samples(tmp_path / "logs", RECORDS)
    path.write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    task = task_of(path, tmp_path / "run")
    assert (task.records, dict(task.skipped)) == (6, {})


def test_bytes_of_windows_1252_are_read_as_such_and_told(tmp_path):
    records = [choice_record(0, (-1.0, -2.0, -3.0), 0, town="Zürich"), *RECORDS[1:]]
    path = write_samples(tmp_path / "logs", records)
    path.write_bytes(path.read_text(encoding="utf-8").encode("cp1252"))
    done = import_logs("lm-eval", path, tmp_path / "run")
    ((_, _, origin),) = done.imported
    assert any(CP1252 in lack and "1 " in lack for lack in origin.tasks[0].lacks)
    (suite,) = done.study.judgement.suites
    assert {item.fields.get("town") for item in suite.items} == {"Zürich", None}


def test_scores_that_are_no_numbers_are_a_status_and_no_answer(tmp_path):
    """NaN, both infinities, and NaN as Python writes it in JSON: the harness's argmax would take the first NaN."""
    records = [
        RECORDS[0],
        {**RECORDS[1], "filtered_resps": [["nan", "False"], ["-1.0", "False"], ["-2.0", "False"]], "acc": 0.0},
        {**RECORDS[2], "filtered_resps": [["-inf", "False"], ["-inf", "False"], ["-inf", "False"]], "acc": 0.0},
        {**RECORDS[3], "filtered_resps": [[float("nan"), False], [-1.0, False], [-2.0, False]], "acc": 1.0},
    ]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    accuracy = next(m for m in done.study.records if m.measure == "accuracy" and m.answerer == "model")
    assert accuracy.statuses == {"ok": 1, "non_finite": 3}
    assert (accuracy.value, accuracy.bound_low, accuracy.bound_high) == (0.25, 0.25, 1.0)
    assert "NaN" not in (tmp_path / "run" / "measures.json").read_text()


def test_results_without_samples_are_told_in_one_line(tmp_path):
    write_results(tmp_path / "logs", {"small": {"acc,none": 0.5}})
    assert "--log_samples" in fault("import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "run")


def test_a_folder_of_something_else_is_told_in_one_line(tmp_path):
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "notes.json").write_text('{"a": 1}')
    for harness in ("lm-eval", "inspect", "helm"):
        with pytest.raises(UserError, match="logs"):
            import_logs(harness, tmp_path / "logs", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_without_one_readable_record_is_refused_and_leaves_nothing(tmp_path):
    path = tmp_path / "samples_small_2026-01-02T03-04-05.jsonl"
    path.write_text('{"doc_id": 0, "doc": {}}\n{"doc_id": 1, "doc"')
    with pytest.raises(UserError, match=r"no record in it can be read.*cut off"):
        import_logs("lm-eval", path, tmp_path / "run")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_an_import_never_writes_over_anything(tmp_path):
    path = write_samples(tmp_path / "logs", RECORDS)
    out = tmp_path / "run"
    out.mkdir()
    (out / "mine.txt").write_text("kept")
    assert "exists already" in fault("import", "lm-eval", path, "--out", out)
    for source, target in ((path, path), (path.parent, path.parent / "run")):
        with pytest.raises(UserError, match="which is read"):
            import_logs("lm-eval", source, target)
    assert (out / "mine.txt").read_text() == "kept"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["logs", "run"]


def test_links_that_lead_out_of_the_folder_are_not_followed(tmp_path):
    outside = write_samples(tmp_path / "outside", RECORDS)
    inside = write_samples(tmp_path / "logs", RECORDS[:2], task="other")
    (inside.parent / outside.name).symlink_to(outside)
    ((_, _, origin),) = import_logs("lm-eval", inside.parent, tmp_path / "run").imported
    assert [task.suite for task in origin.tasks] == ["other"]


def test_names_in_a_log_are_no_paths(tmp_path):
    for name in ("../../up", "/root/there"):
        folder = tmp_path / "logs" / str(len(name))
        write_samples(folder, RECORDS)
        write_results(folder, {"small": {"acc,none": 1 / 3}}, model=name)
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "study")
    assert {folder.parent for folder, _, _ in done.imported} == {tmp_path / "study"}
    assert sorted(one.name for one in tmp_path.iterdir()) == ["logs", "study"]


# Inspect


def sample(number: int, value: object = "C", **more: object) -> dict[str, object]:
    return {"id": number, "epoch": 1, "input": f"Question {number}", "target": "yes"} | {
        "scores": {"match": {"value": value, "answer": "yes"}},
        "metadata": {"passage": f"p{number // 2}"},
        **more,
    }


def inspect_log(samples: list[dict[str, object]], status: str = "success") -> dict[str, object]:
    return {
        "version": 2,
        "status": status,
        "eval": {"task": "small", "model": "org/model", "dataset": {"samples": 9}, "packages": {"inspect_ai": "0.3.1"}},
        "samples": samples,
    }


def archive(path: Path, members: dict[str, bytes | str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
        for name, data in members.items():
            opened.writestr(name, data)
    return path


def test_a_cancelled_log_is_read_as_far_as_it_goes(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log([sample(0), sample(1, "I")], "cancelled")))
    task = task_of(path, tmp_path / "run", "inspect")
    assert task.records == 2
    assert any("'cancelled': 2 of 9 samples" in lack for lack in task.lacks)


def test_a_sample_that_failed_stays_in_the_denominator(tmp_path):
    failed = {**sample(2), "scores": None, "error": {"message": "the sandbox was gone"}}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log([sample(0), sample(1, "I"), sample(3, "N"), failed], "error")))
    done = import_logs("inspect", path, tmp_path / "run")
    records = [m for m in done.study.records if m.measure == "accuracy" and m.answerer == "model"]
    assert {m.prompt: dict(m.statuses) for m in records} == {
        "match": {"ok": 2, "unparsed": 1},
        "error": {"error": 1},
    }


def test_an_archive_without_its_header_is_read_from_the_journal(tmp_path):
    """A run that was killed leaves its start and the samples that were done."""
    log = inspect_log([])
    start = {name: log[name] for name in ("version", "eval")}
    members = {"_journal/start.json": json.dumps(start), "samples/1_epoch_1.json": json.dumps(sample(1))}
    task = task_of(archive(tmp_path / "log.eval", members), tmp_path / "run", "inspect")
    assert task.records == 1
    assert any("'started'" in lack for lack in task.lacks)


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"header.json": b" " * (4 << 20)}, "would swell"),
        ({"../../header.json": b"{}"}, "leads out of it"),
        ({"/etc/header.json": b"{}"}, "leads out of it"),
        ({"samples/1_epoch_1.json": b"{}"}, "no header.json"),
        ({"header.json": b"{"}, "is no JSON"),
        ({"header.json": b"[]"}, "no JSON object"),
    ],
)
def test_an_archive_that_inspect_did_not_write_is_not_read(tmp_path, members, told):
    path = archive(tmp_path / "log.eval", members)
    with pytest.raises(UserError, match=told):
        import_logs("inspect", path, tmp_path / "run")


def test_half_an_archive_is_told_in_one_line(tmp_path):
    path = archive(tmp_path / "log.eval", {"header.json": json.dumps(inspect_log([]))})
    path.write_bytes(path.read_bytes()[:-30])
    assert "log.eval" in fault("import", "inspect", path, "--out", tmp_path / "run")


# HELM


def test_a_run_folder_without_instance_scores_is_judged_by_what_it_has(tmp_path):
    folder = tmp_path / "helm"
    folder.mkdir()
    references = [{"output": {"text": text}, "tags": tags} for text, tags in (("red", ["correct"]), ("blue", []))]
    states = [
        {
            "instance": {"id": f"id{n}", "input": {"text": f"Colour {n}?"}, "references": references, "split": "test"},
            "output_mapping": {"A": "red", "B": "blue"},
            "train_trial_index": 0,
            "request": {"prompt": "…"},
            "result": {"completions": [{"text": said, "logprob": -1.0}]},
        }
        for n, said in enumerate((" A", " B", " C", ""))
    ]
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    spec = {"name": "colours:model=m", "adapter_spec": {"method": "multiple_choice_joint", "model": "org/m"}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    done = import_logs("helm", folder, tmp_path / "run")
    ((_, model, origin),) = done.imported
    assert (model, origin.tasks[0].suite) == ("org/m", "colours")
    assert any("per_instance_stats.json" in lack for lack in origin.tasks[0].lacks)
    (accuracy,) = [m for m in done.study.records if m.measure == "accuracy" and m.answerer == "model"]
    assert (accuracy.value, dict(accuracy.statuses)) == (0.25, {"ok": 2, "unparsed": 1, "empty": 1})


def test_a_text_that_no_filter_could_read_is_unparsed_and_not_just_wrong(tmp_path):
    records = [
        text_record(0, "It is 4", 1.0, filter="strict-match", filtered="4"),
        text_record(1, "Who knows", 0.0, filter="strict-match", filtered="[invalid]"),
        text_record(2, "It is 5", 0.0, filter="strict-match", filtered="5"),
    ]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    (accuracy,) = [m for m in done.study.records if m.measure == "accuracy"]
    assert (accuracy.prompt, accuracy.mode) == ("strict-match", "generate")
    assert (accuracy.value, dict(accuracy.statuses)) == (pytest.approx(1 / 3), {"ok": 2, "unparsed": 1})
    assert accuracy.bound_high == pytest.approx(2 / 3)


def test_an_unknown_format_is_answered_with_the_nearest(tmp_path):
    assert "did you mean 'lm-eval'?" in fault("import", "lmeval", tmp_path, "--out", tmp_path / "run")


def test_the_date_in_a_name_is_what_tells_evaluations_apart(tmp_path):
    """The same task twice, on two dates: two runs, each with its own numbers."""
    for date, records in ((DATE, RECORDS), ("2026-02-02T00-00-00.000000", RECORDS[:3])):
        write_samples(tmp_path / "logs", records, date=date)
        write_results(tmp_path / "logs", {"small": {"acc,none": 1 / 3}}, date=date)
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "study")
    assert sorted(origin.tasks[0].records for _, _, origin in done.imported) == [3, 6]
    assert len({run.name for run in done.study.runs}) == 2


def test_references_that_were_scored_one_by_one_are_judged_by_helms_own_choice(tmp_path):
    """HELM says which reference it took (`predicted_index`), from log-likelihoods that need its tokenizer."""
    folder = tmp_path / "helm"
    folder.mkdir()
    references = [{"output": {"text": "red"}, "tags": []}, {"output": {"text": "blue"}, "tags": ["correct"]}]
    states, stats = [], []
    for n, predicted in enumerate((1, 0, 1)):
        instance = {"id": f"id{n}", "input": {"text": f"Colour {n}?"}, "references": references, "split": "test"}
        states += [
            {
                "instance": instance,
                "train_trial_index": 0,
                "request_mode": mode,
                "reference_index": index,
                "request": {},
            }
            for mode in ("original", "calibration")
            for index in (0, 1)
        ]
        values = {"exact_match": float(predicted == 1), "predicted_index": float(predicted), "num_references": 2.0}
        named = [{"name": {"name": name, "split": "test"}, "mean": value} for name, value in values.items()]
        stats.append({"instance_id": f"id{n}", "train_trial_index": 0, "stats": named})
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": states}))
    (folder / "per_instance_stats.json").write_text(json.dumps(stats))
    spec = {"name": "colours", "adapter_spec": {"method": "multiple_choice_separate_calibrated", "model": "org/m"}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    done = import_logs("helm", folder, tmp_path / "run")
    ((_, _, origin),) = done.imported
    (metric,) = origin.tasks[0].metrics
    assert (metric.metric, metric.recomputed, metric.differing) == ("exact_match", pytest.approx(2 / 3), 0)
    accuracy = next(m for m in done.study.records if m.measure == "accuracy" and m.answerer == "model")
    assert (accuracy.value, accuracy.n_items) == (pytest.approx(2 / 3), 3)


def test_a_task_with_a_rule_of_its_own_is_not_judged_by_likelihoods(tmp_path):
    """Its `acc` is a probability and no 0 or 1: kept, and not judged."""
    records = [{**record, "acc": 0.25 + record["doc_id"] / 20} for record in RECORDS]
    done = import_logs("lm-eval", write_samples(tmp_path / "logs", records), tmp_path / "run")
    ((_, _, origin),) = done.imported
    assert origin.tasks[0].judged_by == ""
    assert any("its own acc is not what the log-likelihoods" in lack for lack in origin.tasks[0].lacks)
    assert done.study.records == ()


def test_a_log_that_cannot_be_judged_does_not_keep_the_others_of_its_folder_out(tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "a.json").write_text(json.dumps(inspect_log([{**sample(0), "scores": {}}])))
    (folder / "b.json").write_text(json.dumps(inspect_log([sample(0), sample(1)])))
    ((_, _, origin),) = import_logs("inspect", folder, tmp_path / "run").imported
    assert origin.tasks[0].records == 2
    assert any("a.json: no sample has a score" in lack for lack in origin.tasks[0].lacks)
