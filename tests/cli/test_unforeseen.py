"""What nothing foresaw is one line with the path of a log, and messages fit a screen."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.cli.test_bad_input import call
from veridical.cli import app
from veridical.errors import LONGEST, UserError, unknown

FAULTS = {
    "ValueError": ValueError("odd\nthing \x1b[31m"),
    "MemoryError": MemoryError(),
    "RecursionError": RecursionError("maximum recursion depth exceeded"),
    "AssertionError": AssertionError(),
    "PanicException": type("PanicException", (BaseException,), {})("called `Option::unwrap()`"),
    "OSError": OSError(5, "Input/output error"),
}


@pytest.mark.parametrize("kind", FAULTS)
@pytest.mark.parametrize("debug", ["", "1"])
def test_an_unforeseen_error_is_one_line_and_a_log(kind, debug, monkeypatch, capsys, tmp_path: Path) -> None:
    def fail(**options: object) -> int:
        raise FAULTS[kind]

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.setenv("VERIDICAL_DEBUG", debug)
    monkeypatch.setattr(app, "app", fail)
    assert app.call(["suites"]) == 70
    printed = capsys.readouterr()
    assert printed.out == ""
    *shown, last = printed.err.splitlines()
    assert bool(shown) is bool(debug)
    assert "\x1b" not in last
    assert last.startswith("veridical: an error in Veridical itself")
    assert ("out of memory" if kind == "MemoryError" else kind) in last
    log = Path(last.split("the details are in ")[1])
    assert log.is_relative_to(tmp_path)
    assert "Traceback" in log.read_text()


@pytest.mark.parametrize("debug", ["", "1"])
def test_what_a_library_said_of_a_users_file_is_shown_on_request(debug, monkeypatch, capsys) -> None:
    def fail(**options: object) -> int:
        try:
            raise ValueError("the library's words")
        except ValueError as error:
            raise UserError("in our words") from error

    monkeypatch.setenv("VERIDICAL_DEBUG", debug)
    monkeypatch.setattr(app, "app", fail)
    assert app.call(["suites"]) == 2
    printed = capsys.readouterr().err
    assert printed.endswith("veridical: in our words\n")
    assert ("ValueError: the library's words" in printed) is bool(debug)


def test_no_place_for_a_log_is_said(monkeypatch, capsys) -> None:
    def fail(**options: object) -> int:
        raise ValueError("odd")

    monkeypatch.setattr(app, "app", fail)
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: (_ for _ in ()).throw(OSError("full")))
    assert app.call(["suites"]) == 70
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("columns", ["0", "-3", "1", "abc", "99999999999999999999"])
def test_any_width_of_the_terminal_prints(columns) -> None:
    done = call("suites", env={**os.environ, "COLUMNS": columns})
    assert done.returncode == 0
    assert done.stderr == ""
    assert "imperfective" in done.stdout


@pytest.mark.parametrize("text", ["x" * 100_000, "word " * 50_000, "\x1b" * 100_000])
def test_no_message_is_longer_than_a_screen(text) -> None:
    messages = [
        str(UserError(f"file.csv, line 3: {text!r} is no number; leave it out")),
        str(unknown("suite", text, ["imperfective", *(f"name{i}" for i in range(500))])),
    ]
    for message in messages:
        assert len(message) <= LONGEST
    assert messages[0].startswith("file.csv, line 3: ")
    assert messages[0].endswith("is no number; leave it out")
    assert re.search(r"and \d+ more$", messages[1])


def test_a_long_argument_is_not_repeated_whole() -> None:
    done = call("run", "y" * 20_000, "--model", "smollm2")
    assert done.returncode == 2
    assert len(done.stderr) <= LONGEST + 20
