"""Logs most of whose records cannot be read are refused, with where the first fault is and what to do."""

from __future__ import annotations

import json
import zipfile

import pytest

from tests.interop.sampled import write_results, write_samples
from tests.interop.test_denominators import helm, sample, task_of
from tests.interop.test_ledger import RECORDS
from tests.interop.test_lighteval_and_eee import record, write
from veridical.errors import UserError
from veridical.interop.imports.importing import import_logs

DAMAGE = {
    "comma at the end": lambda line: line[:-1] + ",}",
    "comma twice": lambda line: line.replace(", ", ",, ", 1),
    "no brace at the end": lambda line: line[:-1],
    "no quotation mark": lambda line: line.replace('"', "", 1),
    "an apostrophe": lambda line: "'" + line[1:],
    "no colon": lambda line: line.replace(":", "", 1),
    "a half value": lambda line: line.replace("[", "[ 1.", 1).replace("1.", "1.x", 1),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_the_same_damage_in_every_record_is_refused_with_the_first_line(tmp_path, kind):
    path = write_samples(tmp_path / "logs", RECORDS)
    lines = [DAMAGE[kind](line) for line in path.read_text().splitlines()]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(UserError) as caught:
        import_logs("lm-eval", path, tmp_path / "run")
    said = str(caught.value)
    assert str(path) in said
    assert "24 of 24 records cannot be read" in said
    assert "line 1: " in said
    assert "column" in said
    assert "repair it" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("n_damaged", "refused"), [(11, False), (12, False), (13, True)])
@pytest.mark.parametrize("array", [False, True])
def test_more_than_half_is_most(tmp_path, n_damaged, refused, array):
    path = write_samples(tmp_path / "logs", RECORDS)
    lines = path.read_text().splitlines()
    lines[1 : n_damaged + 1] = [DAMAGE["comma twice"](line) for line in lines[1 : n_damaged + 1]]
    path.write_text("[" + ",\n".join(lines) + "]" if array else "\n".join(lines))
    if refused:
        with pytest.raises(UserError, match=rf"{n_damaged} of 24 records cannot be read .*(line|record) 2: "):
            import_logs("lm-eval", path, tmp_path / "run")
        return
    task = task_of(import_logs("lm-eval", path, tmp_path / "run"))
    assert (task.read, task.judged, sum(task.skipped.values())) == (24, 24 - n_damaged, n_damaged)


def test_it_is_so_in_every_format(tmp_path):
    folder = helm(tmp_path / "helm", ["B", "B", "A"], "multiple_choice_joint")
    state = json.loads((folder / "scenario_state.json").read_text())
    for one in state["request_states"][:2]:
        one["instance"] = None
    (folder / "scenario_state.json").write_text(json.dumps(state))
    archive = tmp_path / "log.eval"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("header.json", json.dumps({"status": "success", "eval": {"task": "t", "model": "m"}}))
        for n in range(3):
            text = json.dumps(sample(n))
            file.writestr(f"samples/{n}_epoch_1.json", text if n == 2 else text[:-1] + ",}")
    damaged = write(tmp_path / "eee.jsonl", [record(str(n)) for n in range(3)])
    damaged.write_text(damaged.read_text().replace('"sample_id"', "sample_id", 2))
    predictions = tmp_path / "p.jsonl"
    predictions.write_text('{"id": 1, "gold": "a", "prediction": "a"}\n{"id": 2,}\n{"id": 3,}\n')
    for harness, path, where in (
        ("helm", folder, ""),
        ("inspect", archive, "samples/0_epoch_1.json"),
        ("every-eval-ever", damaged, "line 1: "),
        ("predictions", predictions, "line 2: "),
    ):
        with pytest.raises(UserError, match="2 of 3 records cannot be read") as caught:
            import_logs(harness, path, tmp_path / f"run-{harness}")
        assert str(path) in str(caught.value)
        assert where in str(caught.value)


def test_a_task_that_is_mostly_unreadable_is_left_out_by_name_and_the_others_are_judged(tmp_path):
    write_samples(tmp_path / "logs", RECORDS, task="one")
    path = write_samples(tmp_path / "logs", RECORDS, task="two")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *map(DAMAGE["comma at the end"], lines[1:])]))
    write_results(tmp_path / "logs", {"one": {"acc,none": 11 / 24}, "two": {"acc,none": 11 / 24}})
    done = import_logs("lm-eval", tmp_path / "logs", tmp_path / "run")
    assert [task.suite for task in done.imported[0][2].tasks] == ["one"]
    (said,) = [one for one in done.study.judgement.notices if "task two is left out" in one]
    assert "23 of 24 records cannot be read" in said
