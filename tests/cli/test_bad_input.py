"""A mistake of the user's is one line on standard error and exit status 2: what, where, and what to do."""

from __future__ import annotations

import contextlib
import io
import json
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import veridical
from tests.runs.toy import ToyModel, toy_suite
from veridical.cli.app import call as in_process
from veridical.suites.file_writer import write_suite


def call(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command line: in this process, or in one of its own where that is to have options."""
    if not options:
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            status = in_process([str(word) for word in arguments])
        return subprocess.CompletedProcess(arguments, status, printed.getvalue(), said.getvalue())
    command = [sys.executable, "-m", "veridical", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)  # type: ignore[call-overload,no-any-return]


def fault(*arguments: object, **options: object) -> str:
    """The one line that a faulty call prints."""
    done = call(*arguments, **options)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("veridical: ")
    assert done.returncode == 2
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        (("run", "piqa", "--limit", "0"), "--limit': a number of at least 1 is needed, not '0'"),
        (("run", "piqa", "--limit", "1.5"), "--limit': a whole number is needed, not '1.5'"),
        (("run", "piqa", "--orders", "-1"), "--orders': a number of at least 0 is needed, not '-1'"),
        (("run", "piqa", "--shots", "-1"), "--shots': a number of at least 0 is needed, not '-1'"),
        (("run", "piqa", "--batch-tokens", "0"), "--batch-tokens': a number of at least 1 is needed, not '0'"),
        (("readout", "evidence", "--draws", "0"), "--draws': a number of at least 1 is needed, not '0'"),
        (("review", "sheet", "evidence", "--raters", "0"), "--raters': a number of at least 1 is needed, not '0'"),
        (("vary", "--min-ratio", "abc"), "--min-ratio': a number is needed, not 'abc'"),
        (("vary", "--min-probability", "2"), "--min-probability': a number of at most 1.0 is needed, not '2'"),
    ],
)
def test_an_option_out_of_its_range_is_told_in_plain_words(arguments, needed) -> None:
    line = fault(*arguments)
    assert needed in line
    assert "Input should" not in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[]", "it holds a list, not a JSON object"),
        ("3", "it holds a whole number, not a JSON object"),
        ("{}", "it has no field 'schema'"),
        ('{"schema": "other/1"}', "its schema is 'other/1', not"),
    ],
)
def test_a_manifest_that_is_none_says_what_it_is(tmp_path, text, words) -> None:
    (tmp_path / "manifest.json").write_text(text)
    line = fault("judge", tmp_path)
    assert words in line
    assert "put a copy" in line


@pytest.fixture
def suite_file(tmp_path):
    path = tmp_path / "toy.jsonl"
    write_suite(toy_suite(2), path)
    return path


@pytest.fixture
def study(tmp_path):
    return veridical.run(toy_suite(2), model=ToyModel(), out=tmp_path / "study")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["rnu"], "No such command 'rnu'"),
        (["run"], "Missing argument 'SUITE'"),
        (["run", "imperfective"], "Missing option '--model'"),
        (["run", "imperfective", "--modl", "smollm2"], "No such option: --modl"),
        (
            ["run", "imperfectve", "--model", "smollm2"],
            "unknown suite 'imperfectve': did you mean 'imperfective'?",
        ),
        (["run", "imperfective", "--model", "smolm2"], "unknown model 'smolm2': did you mean 'smollm2'?"),
        (["run", "imperfective", "--model", "hg/x"], "unknown model provider 'hg': did you mean 'hf'?"),
        (["run", "imperfective", "--model", "hf/./nowhere"], "there is no folder nowhere"),
        (
            ["run", "imperfective", "--model", "smollm2", "--prompt", "zeroshot"],
            "unknown prompt 'zeroshot': did you mean 'zero-shot'?",
        ),
        (["run", "imperfective", "--model", "smollm2", "--prompt", "cot"], "it needs --mode generate"),
        (
            ["run", "imperfective", "--model", "smollm2", "--mode", "generat"],
            "unknown mode 'generat': did you mean 'generate'?",
        ),
        (
            ["run", "imperfective", "--model", "smollm2", "--dtype", "flot32"],
            "unknown dtype 'flot32': did you mean 'float32'?",
        ),
        (["run", "imperfective", "--model", "smollm2", "--device", "gpu"], "unknown device 'gpu'"),
        (["run", "imperfective", "--model", "smollm2", "--limit", "0"], "--limit"),
        (["run", "imperfective", "--model", "smollm2", "--limit", "ten"], "Invalid value for '--limit'"),
        (["run", "imperfective", "--model", "smollm2", "--orders", "-1"], "--orders"),
        (["run", "imperfective", "--model", "smollm2", "--max-new-tokens", "0"], "--max-new-tokens"),
        (
            ["run", "imperfective", "--model", "smollm2", "--template-arg", "thinking"],
            "--template-arg 'thinking'",
        ),
        (["judge", "nowhere"], "nowhere: no such folder"),
        (["report", "nowhere"], "nowhere: no such folder"),
    ],
)
def test_a_wrong_word_is_named(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert words in fault(*arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_data_file_at_fault_is_named(suite_file, tmp_path):
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    cut = tmp_path / "cut.jsonl"
    cut.write_text(suite_file.read_text()[:-40])
    other = tmp_path / "other.jsonl"
    other.write_text('{"schema": "other/1"}\n')
    for path in (tmp_path / "none.jsonl", empty, cut, other):
        assert path.name in fault("run", path, "--model", "smollm2")
    published = tmp_path / "published.json"
    published.write_text('[{"id": "A_001"}]')
    for path in (tmp_path / "none.json", empty, published):
        assert path.name in fault("run", "imperfective", "--model", "smollm2", "--data", path)
    assert "--data goes with one suite" in fault("run", "imperfective", suite_file, "--model", "m/x", "--data", empty)


def test_a_model_folder_without_weights_is_named(suite_file, tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    assert "no weights" in fault("run", suite_file, "--model", f"hf/{folder}", "--out", tmp_path / "s")
    assert not (tmp_path / "s").exists()


def test_an_out_that_cannot_be_written_is_named(suite_file, tmp_path, study):
    file = tmp_path / "file"
    file.write_text("")
    assert f"cannot write to {file}" in fault("run", suite_file, "--model", "smollm2", "--out", file)
    assert "/proc/study" in fault("run", suite_file, "--model", "smollm2", "--out", "/proc/study")
    inside = study.runs[0].path
    assert "is a run, not a study" in fault("run", suite_file, "--model", "smollm2", "--out", inside)


@pytest.mark.skipif(os.geteuid() != 0, reason="dropping rights needs root")
def test_a_folder_without_permission_is_named(tmp_path):
    # pytest's own folders are closed to others: this one is beside them.
    closed = Path(tempfile.mkdtemp(prefix="veridical-closed-"))
    closed.chmod(0o755)
    try:
        script = (
            "import os, sys\n"
            "from veridical.files.writing import make_folder, writable_folder\n"
            "from veridical.errors import UserError\n"
            "from pathlib import Path\n"
            "os.setgid(65534); os.setuid(65534)\n"
            "for path in (sys.argv[1], sys.argv[1] + '/new'):\n"
            "    try:\n"
            "        with writable_folder(Path(path)): pass\n"
            "    except UserError as error: print(error)\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, str(closed)], capture_output=True, text=True, check=True, cwd="/"
        )
    finally:
        closed.rmdir()
    lines = done.stdout.splitlines()
    assert len(lines) == 2
    assert all("Permission denied" in line and str(closed) in line for line in lines)


def test_a_study_of_another_suite_version_names_both(study, tmp_path):
    path = tmp_path / "toy.jsonl"
    write_suite(toy_suite(2, version="2"), path)
    line = fault("run", path, "--model", "smollm2", "--out", study.path)
    assert "version 1" in line
    assert "version 2" in line
    assert "use another --out" in line


def test_a_folder_that_is_not_a_run_is_named(tmp_path):
    for command in ("judge", "report"):
        assert f"{tmp_path} is not a run folder" in fault(command, tmp_path)


def test_a_newer_manifest_is_named(study):
    path = study.runs[0].path / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "schema": "veridical.run/9"}))
    for command in ("judge", "report"):
        assert "newer Veridical" in fault(command, study.path)


def test_sets_of_an_unknown_field_name_the_nearest(study):
    assert "did you mean 'verb_class'?" in fault("judge", study.path, "--sets", "verbclass")


@pytest.mark.slow
def test_a_disk_that_fills_is_one_line(study):
    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))

    before = (study.path / "measures.json").read_bytes()
    for command in ("judge", "report"):
        line = fault(command, study.path, preexec_fn=small_files)
        assert "cannot write" in line
        assert "File too large" in line
    assert (study.path / "measures.json").read_bytes() == before
    assert not list(study.path.rglob("*.tmp"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_standard_output_on_a_full_disk_is_one_line():
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "veridical", "suites"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["veridical: cannot write: No space left on device"]


@pytest.mark.parametrize(
    "arguments",
    [("run", "no\x1b[31msuite", "--model", "smollm2"), ("run", "imperfective", "--no\x1b[2Jflag"), ("jud\x1b]0;ge",)],
)
def test_control_characters_of_the_command_line_do_not_reach_the_terminal(arguments: tuple[str, ...]) -> None:
    assert "\x1b" not in fault(*arguments)


def test_a_second_header_in_a_suite_file_is_called_one(tmp_path, suite_file) -> None:
    twice = tmp_path / "twice.jsonl"
    twice.write_text(suite_file.read_text() * 2)
    line = fault("run", twice, "--model", "smollm2")
    header = len(suite_file.read_text().splitlines()) + 1
    assert f"line {header}: a second header" in line
