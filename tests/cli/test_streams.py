"""Streams that are closed or narrow, folders that are read-only or gone, and Ctrl-C at any moment."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import veridical
from tests.cli.test_bad_input import call, fault
from tests.runs.toy import ToyModel, toy_suite
from veridical.cli import main
from veridical.files import writing as files

NARROW = (
    {"PYTHONIOENCODING": "ascii"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    models = [ToyModel(), ToyModel("hf/toys/Δ", "w1")]
    return veridical.run(toy_suite(2), model=models, out=tmp_path_factory.mktemp("study") / "s")


@pytest.mark.slow
@pytest.mark.parametrize("environment", NARROW)
def test_an_encoding_without_a_character_does_not_stop_a_command(study, environment):
    narrow = {**os.environ, **environment}
    tables = call("judge", study.path, env=narrow, errors="replace")
    assert (tables.returncode, tables.stderr) == (0, "")
    document = call("judge", study.path, "--json", env=narrow)
    assert document.returncode == 0
    # In JSON no character is lost.
    assert json.loads(document.stdout)["measures"] == json.loads((study.path / "measures.json").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("arguments", ["judge {} --json >&-", "judge {} >&-", "report {} >&-", "suites >&-"])
def test_a_closed_standard_output_gives_no_traceback(study, arguments):
    command = f"{sys.executable} -m veridical {arguments.format(study.path)}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (1, "")
    json.loads((study.path / "measures.json").read_text("utf-8"))


def test_closed_standard_streams_together(study):
    command = f"{sys.executable} -m veridical judge {study.path} <&- >&- 2>&-"
    assert subprocess.run(["bash", "-c", command], check=False, timeout=120).returncode == 1
    json.loads((study.path / "measures.json").read_text("utf-8"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "imperfective", "--model", "smollm2", "--out", "x" * 300], "File name too long"),
        (["run", "x" * 300 + ".jsonl", "--model", "smollm2"], "File name too long"),
        (["run", "imperfective", "--model", "hf/" + "x/" * 3 + "y" * 300], "there is no folder"),
        (["run", "imperfective", "--model", "smollm2", "--data", "x" * 300], "File name too long"),
        (["judge", "x" * 300], "File name too long"),
        (["report", "STUDY", "--out", "x" * 300], "File name too long"),
        (["report", "STUDY", "--out", "/"], "cannot write /: a folder"),
        (["report", "STUDY", "--out", ""], "cannot write .: a folder"),
        (["report", "STUDY", "--out", "."], "cannot write .: a folder"),
        (["report", "STUDY", "--out", "STUDY"], "a folder; name a file"),
        (["run", "imperfective", "--model", "smollm2", "--seed=-1"], "--seed"),
        (["run", "imperfective", "--model", "smollm2", "--limit", "abc"], "'--limit': a whole number is needed"),
        (["run", "imperfective", "--model", "smollm2", "--limit", "1.5"], "'--limit': a whole number is needed"),
    ],
)
def test_a_path_or_number_that_cannot_be_is_one_line(study, arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = [str(study.path) if word == "STUDY" else word for word in arguments]
    line = fault(*given)
    assert words in line
    assert len(line) < 800
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["judge", "report"])
def test_a_run_without_questions_is_reported_and_nothing_is_written(study, command, tmp_path):
    copy = tmp_path / "s"
    shutil.copytree(study.path, copy)
    run = next(path for path in copy.iterdir() if path.is_dir())
    shutil.rmtree(run / "requests")
    before = {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()}
    for place in (copy, run):
        assert "is missing: manifest.json lists it" in fault(command, place)
    assert {path: path.read_bytes() for path in copy.rglob("*") if path.is_file()} == before


@pytest.fixture
def read_only(monkeypatch):
    def refuse(path: Path, data: bytes) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(files, "write_through", refuse)


@pytest.mark.usefixtures("read_only")
def test_a_read_only_study_is_judged_and_nothing_written(study, capsys):
    before = (study.path / "measures.json").read_bytes()
    assert main(["judge", str(study.path), "--json"]) == 0
    printed, message = capsys.readouterr()
    assert json.loads(printed)["measures"] == json.loads(before)
    assert message.startswith("measures.json is left as it is: cannot write ")
    assert "--out" not in message
    assert message.count("\n") == 1
    assert main(["report", str(study.path)]) == 2
    assert "Read-only file system; name another place with --out FILE.html" in capsys.readouterr().err


# Sends Ctrl-C while a module is imported, which is where the first second goes.
EARLY = """
import os, signal, sys
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from veridical.cli import main
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("module", ["typer", "veridical.cli.app", "rich.console", "polars", "veridical.judge"])
@pytest.mark.parametrize("command", ["run", "judge"])
def test_control_c_while_modules_are_imported_is_reported(study, module, command, tmp_path):
    arguments = [command, str(study.path)] if command == "judge" else [command, "imperfective", "--model", "hf/./none"]
    done = subprocess.run(
        [sys.executable, "-c", EARLY, module, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 130
    assert re.fullmatch(r"veridical: stopped( before anything was stored)?\n", done.stderr)


@pytest.fixture
def interruptible():
    """Ctrl-C interrupts, as at a prompt: a shell starts jobs in the background with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_control_c_in_judge_is_reported(study, monkeypatch, capsys):
    from veridical.studies import judged as judgement

    monkeypatch.setattr(judgement, "judge", lambda *_, **__: signal.raise_signal(signal.SIGINT))
    assert main(["judge", str(study.path)]) == 130
    assert capsys.readouterr().err == "veridical: stopped\n"


@pytest.mark.parametrize("command", ["run", "judge", "report", "doctor", "suites"])
def test_help_speaks_no_python(command, capsys):
    assert main([command, "--help"]) == 0
    assert "<" not in capsys.readouterr().out
