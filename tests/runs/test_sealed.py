"""A run folder of which a byte, a row or a file is another says so; see `docs/decisions/0011-sealed-runs.md`."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

import veridical
from veridical.cli.app import app
from veridical.errors import UserError
from veridical.files.writing import clear_temporary, replace, write_through
from veridical.runs import editing as editing_module
from veridical.runs.editing import editing
from veridical.runs.hidden import Hidden, StatesKey, read_hidden, write_hidden
from veridical.runs.load import open_run, open_runs
from veridical.runs.manifest import read_manifest
from veridical.runs.parts import State, inspect
from veridical.runs.store import read_responses
from veridical.studies.study import open_study

from .toy import ToyModel, toy_suite

FLIPS = 60


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    study = veridical.run(toy_suite(2), model=ToyModel(), out=tmp_path_factory.mktemp("study"))
    states = np.arange(24, dtype=np.float32).reshape(4, 2, 3)
    write_hidden(study.runs[0].path, KEY, Hidden(("a", "b", "c", "d"), (0, 1), states))
    return study.runs[0].path


KEY = StatesKey("toy", "rule", "full")


@pytest.fixture
def run(written: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(written, tmp_path / "study" / written.name))


def accuracy(path: Path) -> list[tuple[object, ...]]:
    records = open_study(path).records
    return [(m.measure, m.answerer, m.prompt, m.input, m.mode, m.value, m.n_items) for m in records]


def attempt(read: Callable[[], object]) -> tuple[str | None, object]:
    """The message with which reading is refused, or what was read."""
    try:
        return None, read()
    except UserError as error:
        return str(error), None


def one(run: Path, kind: str) -> Path:
    (path,) = (run / kind).iterdir()
    return path


@pytest.mark.parametrize("name", ["items.parquet", "requests", "responses", "hidden", "manifest.json"])
def test_a_flipped_bit_is_found_or_changes_nothing(run: Path, name: str) -> None:
    right, states = accuracy(run), read_hidden(run, KEY)
    path = one(run, name) if (run / name).is_dir() else run / name
    data, moves = path.read_bytes(), random.Random(name)
    found = 0
    for _ in range(FLIPS):
        changed = bytearray(data)
        changed[moves.randrange(len(data))] ^= 1 << moves.randrange(8)
        path.write_bytes(changed)
        message, came = attempt(lambda: read_hidden(run, KEY) if name == "hidden" else accuracy(run))
        if message is not None:
            assert len(message.splitlines()) == 1
            assert path.name in message
            found += 1
        else:
            # Space between two fields of a manifest says nothing.
            assert name == "manifest.json"
            assert came == right
    assert found > FLIPS / 2
    path.write_bytes(data)
    assert accuracy(run) == right
    assert states is not None


@pytest.mark.parametrize("name", ["items.parquet", "requests", "responses", "hidden"])
def test_a_part_that_is_gone_is_missed(run: Path, name: str) -> None:
    path = one(run, name) if (run / name).is_dir() else run / name
    path.unlink()
    with pytest.raises(UserError, match=rf"{path.name} is missing.*with --out {run.parent}"):
        _ = read_hidden(run, KEY) if name == "hidden" else accuracy(run)
    states = {found.path: found.state for found in inspect(run, read_manifest(run))}
    assert states.pop(str(path.relative_to(run))) is State.MISSING
    assert set(states.values()) == {State.WHOLE}


def test_a_folder_of_parts_that_is_gone_is_missed(run: Path) -> None:
    shutil.rmtree(run / "responses")
    with pytest.raises(UserError, match="is missing"):
        accuracy(run)
    assert not (run.parent / "measures.json").exists()


def test_what_is_lost_is_asked_again_and_said(run: Path) -> None:
    right = accuracy(run)
    one(run, "responses").unlink()
    model = ToyModel()
    study = veridical.run(toy_suite(2), model=model, out=run.parent)
    assert len(model.asked) == read_responses(run).height > 0
    assert accuracy(run) == right
    assert any("1 of its files had gone" in line for line in study.judgement.verdicts)
    (lost,) = read_manifest(run).lost
    assert lost.path.startswith("responses/")


def test_a_part_that_cannot_be_read_is_neither_missing_nor_damaged(run: Path) -> None:
    path = one(run, "responses")
    path.rename(run / "kept")
    path.mkdir()  # reading a folder fails as a file does that the disk or its rights refuse
    with pytest.raises(UserError, match=r"cannot read .*Is a directory") as raised:
        accuracy(run)
    assert "move" not in str(raised.value)
    assert State.UNREADABLE in {found.state for found in inspect(run, read_manifest(run))}


def test_a_folder_of_parts_that_cannot_be_read_is_not_an_empty_one(run: Path) -> None:
    shutil.rmtree(run / "responses")
    (run / "responses").write_text("")
    with pytest.raises(UserError, match=r"cannot read .*responses: Not a directory"):
        accuracy(run)


def test_a_part_of_another_run_is_refused(run: Path) -> None:
    (run / "responses" / "copy.parquet").write_bytes(one(run, "responses").read_bytes())
    with pytest.raises(UserError, match=r"copy\.parquet is not a part of this run"):
        accuracy(run)


def test_a_part_whose_writer_was_killed_before_listing_it_counts(run: Path) -> None:
    right = accuracy(run)
    path = one(run, "responses")
    with editing(run) as edit:
        edit.forget([f"responses/{path.name}"])
    assert accuracy(run) == right
    assert State.UNLISTED in {found.state for found in inspect(run, read_manifest(run))}
    with editing(run) as edit:
        assert edit.repair() == ()
    assert {found.state for found in inspect(run, read_manifest(run))} == {State.WHOLE}
    # Unlisted, a part still proves itself: its name holds the checksum.
    with editing(run) as edit:
        edit.forget([f"responses/{path.name}"])
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    with pytest.raises(UserError, match="is not a part of this run"):
        accuracy(run)


@pytest.mark.parametrize("after", [False, True], ids=["before the rename", "before the list is written"])
def test_a_file_is_whole_at_every_moment_of_its_replacement(
    run: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    class Killed(BaseException):
        pass

    def killed(path: Path, data: bytes, **named: object) -> None:
        if after:
            replace(path, data)
        raise Killed

    monkeypatch.setattr(editing_module, "replace", killed)
    with pytest.raises(Killed), editing(run) as edit:
        edit.put("items.parquet", b"new")
    assert ((run / "items.parquet").read_bytes() == b"new") == after
    assert {found.state for found in inspect(run, read_manifest(run))} == {State.WHOLE}


def test_tables_that_do_not_belong_together_are_found_without_checksums(run: Path) -> None:
    unsealed(run)
    right = accuracy(run)
    for name, change, words in (
        ("items.parquet", lambda frame: pl.concat([frame, frame]), "holds 9 items twice"),
        ("items.parquet", lambda frame: frame.head(4), "lacks 5 items"),
        ("requests", lambda frame: frame.head(10), "answers are to questions that are not stored"),
    ):
        path = one(run, name) if (run / name).is_dir() else run / name
        data = path.read_bytes()
        change(pl.read_parquet(data)).write_parquet(path)
        with pytest.raises(UserError, match=words):
            accuracy(run)
        path.write_bytes(data)
    assert accuracy(run) == right


def test_damage_without_checksums_is_one_line(run: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Polars panics at some of these, and Rust writes to standard error of it."""
    unsealed(run)
    path = one(run, "requests")
    data, moves = path.read_bytes(), random.Random(3)
    refused = 0
    for _ in range(150):
        changed = bytearray(data)
        changed[moves.randrange(len(data))] ^= 1 << moves.randrange(8)
        path.write_bytes(changed)
        message, _ = attempt(lambda: open_runs([run]))
        if message is not None:
            assert len(message.splitlines()) == 1
            refused += 1
    assert refused > 30
    assert capfd.readouterr().err == ""


def unsealed(run: Path) -> None:
    """Make the run one of 0.1.0: its manifest has another schema and no list."""
    path = run / "manifest.json"
    document = json.loads(path.read_text())
    for field in ("parts", "seal", "sealed_later", "lost"):
        del document[field]
    path.write_text(json.dumps({**document, "schema": "veridical.run/1"}))


def test_a_run_of_an_earlier_version_opens_with_a_word_and_is_sealed_when_it_goes_on(run: Path) -> None:
    right = accuracy(run)
    unsealed(run)
    assert accuracy(run) == right
    assert any("its folder is not sealed" in line for line in open_study(run).judgement.verdicts)
    assert {found.state for found in inspect(run, read_manifest(run))} == {State.UNCHECKED}
    model = ToyModel()
    veridical.run(toy_suite(2), model=model, out=run.parent)
    assert model.asked == []
    manifest = read_manifest(run)
    assert (manifest.schema_, manifest.sealed_later) == ("veridical.run/2", True)
    assert {found.state for found in inspect(run, manifest)} == {State.WHOLE}
    assert any("sealed late" in line for line in open_study(run).judgement.verdicts)


def test_nothing_is_written_through_a_link(run: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text("mine")
    for folder in (run, run.parent):
        for name in ("measures.json", "report.html"):
            (folder / name).unlink(missing_ok=True)
            (folder / name).symlink_to(mine)
    open_study(run.parent).write()
    assert mine.read_text() == "mine"
    assert json.loads((run / "measures.json").read_text())
    elsewhere = tmp_path / "elsewhere"
    (run / "responses").rename(elsewhere)
    (run / "responses").symlink_to(elsewhere)
    assert accuracy(run)  # reading is no harm: some stores of large files are made of links
    next(elsewhere.iterdir()).unlink()
    with pytest.raises(UserError, match="responses is a link: nothing is written through links"):
        veridical.run(toy_suite(2), model=ToyModel(), out=run.parent)


def test_temporary_files_of_dead_writers_go_and_those_of_living_ones_stay(tmp_path: Path) -> None:
    dead, living, fresh = (tmp_path / f".x.{name}.tmp" for name in ("0000dead", "0000beef", "0000cafe"))
    for path in (dead, living, fresh, tmp_path / ".hidden.tmp"):
        path.write_bytes(b"half")
    for path in (dead, living):
        os.utime(path, (time.time() - 60,) * 2)
    script = (
        "import sys,time;from pathlib import Path;from veridical.files import writing as w\n"
        "f=open(sys.argv[1],'r+b');assert w.lock_descriptor(f.fileno());print('held',flush=True);time.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(living)], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert clear_temporary(tmp_path) == [dead]
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
    assert clear_temporary(tmp_path) == [living]
    write_through(tmp_path / ".y.00000000.tmp", b"whole")  # a writer's own file is not in its own way
    assert {path.name for path in tmp_path.iterdir()} == {".x.0000cafe.tmp", ".hidden.tmp", ".y.00000000.tmp"}


def test_an_edited_manifest_is_found(run: Path) -> None:
    path = run / "manifest.json"
    document = json.loads(path.read_text())
    document["settings"]["seed"] += 1
    path.write_text(json.dumps(document))
    with pytest.raises(UserError, match="does not have its checksum"):
        open_run(run)
    # Neither does calling it one of a version without checksums help.
    path.write_text(json.dumps({**document, "schema": "veridical.run/1"}))
    with pytest.raises(UserError, match="does not have its checksum"):
        open_run(run)


def test_doctor_verifies_a_run(run: Path) -> None:
    whole = CliRunner().invoke(app, ["doctor", str(run.parent)])
    assert (whole.exit_code, whole.stdout.splitlines()[-1]) == (0, "whole: 4 parts")
    path = one(run, "requests")
    data = path.read_bytes()
    path.write_bytes(data[:-1] + b"?")
    damaged = CliRunner().invoke(app, ["doctor", str(run)])
    assert (damaged.exit_code, damaged.stdout.splitlines()[-1]) == (2, "not whole: of 4 parts 1 damaged")
    unsealed(run)
    path.write_bytes(data)
    old = CliRunner().invoke(app, ["doctor", str(run)])
    assert old.exit_code == 0
    assert "not sealed: Veridical 0.1.0 wrote it" in old.stdout
    pl.read_parquet(data).head(10).write_parquet(path)
    apart = CliRunner().invoke(app, ["doctor", str(run)])
    assert apart.exit_code == 2
    assert "not whole" in apart.stdout
    assert "answers are to questions that are not stored" in apart.stdout


@pytest.mark.parametrize("name", ["report.html", "report-sets-verb.html"])
def test_a_report_is_not_written_through_a_link(run: Path, tmp_path: Path, name: str) -> None:
    mine = tmp_path / "mine.html"
    mine.write_text("mine")
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(mine)
    sets = ["--sets", "verb"] if "sets" in name else []
    assert CliRunner().invoke(app, ["report", str(run), *sets]).exit_code == 0
    assert mine.read_text() == "mine"
    assert "<!doctype html>" in (run / name).read_text()


def test_a_pipe_in_the_place_of_a_manifest_is_not_waited_for(run: Path) -> None:
    (run / "manifest.json").unlink()
    os.mkfifo(run / "manifest.json")
    with pytest.raises(UserError, match=r"manifest.json is not a regular file"):
        read_manifest(run)


def test_answers_of_another_run_are_named(run: Path, tmp_path: Path) -> None:
    other = veridical.run(toy_suite(3), model=ToyModel("hf/toys/other", "w9"), out=tmp_path / "other").runs[0].path
    stranger = one(other, "responses")
    shutil.copy(stranger, run / "responses")
    with pytest.raises(UserError, match=rf"not listed: responses/{stranger.name}: move it away"):
        accuracy(run)


@pytest.mark.parametrize("kind", ["requests", "responses"])
def test_an_imported_run_takes_no_part_that_it_does_not_list(tmp_path: Path, kind: str) -> None:
    log = tmp_path / "answers.csv"
    log.write_text("id,gold,prediction\n" + "".join(f"{n},{'AB'[n % 2]},A\n" for n in range(8)))
    paths = [tmp_path / "a", tmp_path / "b"]
    for path, name in zip(paths, ("one", "two"), strict=True):
        assert CliRunner().invoke(
            app, ["import", "predictions", str(log), "--model", name, "--out", str(path)]
        ).exit_code == 0  # fmt: skip
        log.write_text(log.read_text().replace("7,B,A", "7,B,B"))
    stranger = one(paths[1], kind)
    shutil.copy(stranger, paths[0] / kind)
    with pytest.raises(UserError, match=rf"{stranger.name} is not a part of this run"):
        accuracy(paths[0])
    assert CliRunner().invoke(app, ["doctor", str(paths[0])]).exit_code == 2
    (paths[1] / "scores.parquet").unlink()
    with pytest.raises(UserError, match=r"scores\.parquet is missing.*import the log again"):
        accuracy(paths[1])
