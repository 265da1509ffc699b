"""Logs that are broken, of another kind, or not safe: one clear line, or the readable part and a count of the rest."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.cli.test_bad_input import fault
from tests.interop.sampled import DATE, choice_record, text_record, write_results, write_samples
from veridical.errors import UserError
from veridical.interop.imports.helm import NO_INSTANCE
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.inspect_file import DAMAGED, NO_SAMPLE
from veridical.interop.imports.json_values import CUT_OFF, NOT_JSON
from veridical.interop.imports.records import CP1252
from veridical.runs.provenance import LIKELIHOODS

RECORDS = [choice_record(number, (-1.0, -2.0, -3.0), number % 3) for number in range(6)]


def task_of(path: Path, out: Path, harness: str = "lm-eval"):
    ((_, _, origin),) = import_logs(harness, path, out).imported
    return origin.tasks[0]


def test_a_file_that_is_cut_off_is_read_up_to_there(tmp_path):
    path = write_samples(tmp_path / "logs", RECORDS)
    path.write_bytes(path.read_bytes()[:-100])
    task = task_of(path, tmp_path / "run")
    assert (task.records, dict(task.skipped)) == (5, {CUT_OFF: 1})


def test_lines_that_are_not_json_are_left_out_and_counted(tmp_path):
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
def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path, encoding):
    path = write_samples(tmp_path / "logs", RECORDS)
    path.write_bytes(path.read_text(encoding="utf-8").encode(encoding))
    task = task_of(path, tmp_path / "run")
    assert (task.records, dict(task.skipped)) == (6, {})


def test_bytes_of_windows_1252_are_read_as_such_and_reported(tmp_path):
    records = [choice_record(0, (-1.0, -2.0, -3.0), 0, town="Zürich"), *RECORDS[1:]]
    path = write_samples(tmp_path / "logs", records)
    path.write_bytes(path.read_text(encoding="utf-8").encode("cp1252"))
    done = import_logs("lm-eval", path, tmp_path / "run")
    ((_, _, origin),) = done.imported
    assert any(CP1252 in lack and "1 " in lack for lack in origin.tasks[0].lacks)
    (suite,) = done.study.judgement.suites
    assert {item.fields.get("town") for item in suite.items} == {"Zürich", None}


def test_scores_that_are_not_numbers_are_a_status_and_no_answer(tmp_path):
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


def test_results_without_samples_are_reported_in_one_line(tmp_path):
    write_results(tmp_path / "logs", {"small": {"acc,none": 0.5}})
    assert "--log_samples" in fault("import", "lm-eval", tmp_path / "logs", "--out", tmp_path / "run")


def test_a_folder_of_something_else_is_reported_in_one_line(tmp_path):
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


def test_names_in_a_log_are_not_paths(tmp_path):
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
        "match": {"ok": 2, "unparsed": 1, "error": 1},
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
    ("members", "expected"),
    [
        ({"header.json": b" " * (4 << 20)}, "would swell"),
        ({"../../header.json": b"{}"}, "leads out of it"),
        ({"/etc/header.json": b"{}"}, "leads out of it"),
        ({"samples/1_epoch_1.json": b"{}"}, "no header.json"),
        ({"header.json": b"{"}, "not valid JSON"),
        ({"header.json": b"[]"}, "not a JSON object"),
    ],
)
def test_an_archive_that_inspect_did_not_write_is_not_read(tmp_path, members, expected):
    path = archive(tmp_path / "log.eval", members)
    with pytest.raises(UserError, match=expected):
        import_logs("inspect", path, tmp_path / "run")


def test_half_an_archive_is_reported_in_one_line(tmp_path):
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
    ((what, reason),) = [(one.what, one.reason) for one in origin.left_out]
    assert what.endswith("a.json")
    assert reason.startswith("no sample has a score")


def test_a_results_file_that_is_cut_off_does_not_keep_its_samples_out(tmp_path):
    """Nor the other evaluations of its folder."""
    write_samples(tmp_path / "logs", RECORDS)
    results = write_results(tmp_path / "logs", {"small": {"acc,none": 1 / 3}})
    results.write_bytes(results.read_bytes()[:-20])
    other = "2026-02-02T00-00-00.000000"
    write_samples(tmp_path / "logs", RECORDS[:3], date=other)
    write_results(tmp_path / "logs", {"small": {"acc,none": 1 / 3}}, date=other)
    tasks = [origin.tasks[0] for _, _, origin in import_logs("lm-eval", tmp_path / "logs", tmp_path / "study").imported]
    assert sorted(task.records for task in tasks) == [3, 6]
    (broken,) = [task for task in tasks if task.records == 6]
    assert any(results.name in lack and "not valid JSON" in lack for lack in broken.lacks)
    assert [one.reported for one in broken.metrics] == [None]


def test_a_results_file_that_is_cut_off_and_alone_is_reported_in_one_line(tmp_path):
    results = write_results(tmp_path / "logs", {"small": {"acc,none": 1 / 3}})
    results.write_bytes(results.read_bytes()[:-20])
    for path in (results, results.parent):
        assert "is the file cut off?" in fault("import", "lm-eval", path, "--out", tmp_path / "run")


@pytest.mark.parametrize("content", [b"", b"\n \n"])
def test_an_empty_file_is_reported_in_one_line(tmp_path, content):
    path = write_samples(tmp_path / "logs", [])
    path.write_bytes(content)
    assert "it is empty" in fault("import", "lm-eval", path, "--out", tmp_path / "run")


def test_one_score_that_is_not_a_number_does_not_keep_a_task_from_being_judged(tmp_path):
    """Five log-likelihoods and targets agree with the harness's `acc`; what the sixth has for `acc` says nothing."""
    records = [*RECORDS[:5], {**RECORDS[5], "acc": float("nan")}]
    task = task_of(write_samples(tmp_path / "logs", records), tmp_path / "run")
    assert task.judged_by == LIKELIHOODS
    (metric,) = task.metrics
    # Position 0 is the likeliest in all six, and right in two of them and of the first five.
    assert (metric.own, metric.recomputed, metric.differing) == (2 / 5, pytest.approx(2 / 6), 0)


def test_scores_that_are_not_numbers_are_counted_where_a_metric_is_not_recomputed(tmp_path):
    records = [text_record(n, "4", 1.0) for n in range(4)]
    records[2]["exact_match"] = None
    task = task_of(write_samples(tmp_path / "logs", records), tmp_path / "run")
    assert task.metrics[0].reason == "1 of 4 scores are missing or not finite"


def test_records_of_a_results_document_that_are_not_objects_are_counted(tmp_path):
    path = write_results(tmp_path / "logs", {"small": {"acc,none": 1 / 3}})
    path.write_text(json.dumps({**json.loads(path.read_text()), "samples": {"small": [*RECORDS, None, 5]}}))
    task = task_of(path, tmp_path / "run")
    assert (task.records, dict(task.skipped)) == (6, {NOT_JSON: 2})


def test_samples_of_an_archive_that_are_damaged_are_left_out_and_counted(tmp_path):
    members = {"header.json": json.dumps(inspect_log([]))}
    members |= {f"samples/{n}_epoch_1.json": json.dumps(sample(n)) for n in range(7)}
    members["samples/1_epoch_1.json"] = members["samples/1_epoch_1.json"][:20]
    members["samples/2_epoch_1.json"] = "[]"
    path = archive(tmp_path / "log.eval", members)
    with zipfile.ZipFile(path) as opened:
        place = opened.getinfo("samples/3_epoch_1.json").header_offset
    data = bytearray(path.read_bytes())
    data[place + 30 + len("samples/3_epoch_1.json") + 4] ^= 0xFF
    path.write_bytes(data)
    task = task_of(path, tmp_path / "run", "inspect")
    assert (task.records, dict(task.skipped)) == (4, {DAMAGED: 3})


def test_an_archive_without_one_sample_that_can_be_read_is_reported_in_one_line(tmp_path):
    members = {"header.json": json.dumps(inspect_log([])), "samples/1_epoch_1.json": "{"}
    path = archive(tmp_path / "log.eval", members)
    assert f"1 {DAMAGED}" in fault("import", "inspect", path, "--out", tmp_path / "run")


def test_samples_that_are_not_objects_are_counted(tmp_path):
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log([sample(0), None, "x", sample(1)])))
    task = task_of(path, tmp_path / "run", "inspect")
    assert (task.records, dict(task.skipped)) == (2, {NO_SAMPLE: 2})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty; was it copied whole"),
        (b"PK\x03\x04\x14\x00", "cut off; copy it again"),
        (b'{"id": 1}\n{"id": 2}\n', "as in JSON Lines"),
        (b'{"version": 2, "eval": {', "is the file cut off?"),
    ],
)
def test_a_log_that_is_not_json_is_reported_by_what_it_is(tmp_path, content, expected):
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    assert expected in fault("import", "inspect", path, "--out", tmp_path / "run")


def test_answers_that_come_to_another_score_than_the_harness_gave_are_reported(tmp_path):
    """A scorer that calls the right letter wrong: the letter is judged, and the two are not one number."""
    choice = {"choices": ["red", "blue"], "target": "A"}
    rows = [sample(n, "C" if n else "I") for n in range(3)]
    for row in rows:
        row["scores"] = {"choice": {**row["scores"]["match"], "answer": "A"}}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log([{**row, **choice} for row in rows])))
    task = task_of(path, tmp_path / "run", "inspect")
    assert any("accuracy (choice): 1 of 3 answers come by its rule to another score" in lack for lack in task.lacks)


def test_files_next_to_a_helm_state_that_are_cut_off_are_reported_and_done_without(tmp_path):
    folder = tmp_path / "helm"
    folder.mkdir()
    references = [{"output": {"text": "red"}, "tags": ["correct"]}, {"output": {"text": "blue"}, "tags": []}]
    states = [
        {
            "instance": {"id": f"id{n}", "input": {"text": f"Colour {n}?"}, "references": references},
            "output_mapping": {"A": "red", "B": "blue"},
            "result": {"completions": [{"text": said, "logprob": -1.0}]},
        }
        for n, said in enumerate("AB")
    ]
    (folder / "scenario_state.json").write_text(json.dumps({"request_states": [*states, None, {}]}))
    spec = {"name": "colours", "adapter_spec": {"method": "multiple_choice_joint", "model": "org/m"}}
    (folder / "run_spec.json").write_text(json.dumps(spec))
    for name in ("stats.json", "per_instance_stats.json"):
        (folder / name).write_text('[{"name": ')
    done = import_logs("helm", folder, tmp_path / "run")
    ((_, model, origin),) = done.imported
    (task,) = origin.tasks
    assert (model, task.records, dict(task.skipped)) == ("org/m", 2, {NO_INSTANCE: 2})
    assert [
        sum(f"{name}: not valid JSON" in lack for lack in task.lacks) for name in ("/stats.json", "instance_stats.json")
    ] == [1, 1]
    (accuracy,) = [m for m in done.study.records if m.measure == "accuracy" and m.answerer == "model"]
    assert accuracy.value == 0.5
