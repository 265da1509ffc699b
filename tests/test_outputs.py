"""Nothing but a regular file is written over, and a link is followed to the file that it leads to."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.variation.planted import problems
from veridical.errors import UserError
from veridical.files.targets import keep_apart, regular_target
from veridical.files.writing import replace
from veridical.suites.file_writer import write_suite
from veridical.variation.seeds import SEED_GROUPING
from veridical.variation.writer import SuiteWriter

FRAME = problems(("A dog sleeps.", "The dog rests.")).frame


def _stream(path: Path) -> None:
    with SuiteWriter(path, FRAME, [SEED_GROUPING]) as writer:
        writer.finish()


WRITERS: dict[str, Callable[[Path], None]] = {
    "replace": lambda path: replace(path, b"new"),
    "write_suite": lambda path: write_suite(FRAME, path),
    "SuiteWriter": _stream,
}


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(path))


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize(
    ("make", "message"),
    [(Path.mkdir, "a folder"), (_fifo, "a named pipe"), (_socket, "a socket")],
    ids=["folder", "fifo", "socket"],
)
@pytest.mark.parametrize("linked", [False, True])
def test_what_is_not_a_regular_file_is_left_as_it_is(
    tmp_path: Path,
    write: Callable[[Path], None],
    make: Callable[[Path], None],
    message: str,
    linked: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path may be 100 bytes long
    there = Path("there")
    make(there)
    before = there.stat()
    target = there
    if linked:
        target = Path("link")
        target.symlink_to("there")
    with pytest.raises(UserError, match=message):
        write(target)
    after = there.lstat()
    assert (after.st_ino, stat.S_IFMT(after.st_mode)) == (before.st_ino, stat.S_IFMT(before.st_mode))
    assert sorted(path.name for path in Path().iterdir()) == (["link", "there"] if linked else ["there"])


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("exists", [False, True])
def test_a_link_stays_and_its_file_is_written(tmp_path: Path, write: Callable[[Path], None], exists: bool) -> None:
    (tmp_path / "folder").mkdir()
    file = tmp_path / "folder" / "file"
    if exists:
        file.write_bytes(b"old")
    (tmp_path / "second").symlink_to(Path("folder") / "file")
    (tmp_path / "first").symlink_to("second")
    write(tmp_path / "first")
    assert (tmp_path / "first").is_symlink()
    assert (tmp_path / "second").is_symlink()
    assert not file.is_symlink()
    assert file.read_bytes() not in (b"", b"old")
    assert [path.name for path in (tmp_path / "folder").iterdir()] == ["file"]


@pytest.mark.parametrize("path", ["", ".", "..", "loop", "x" * 300, "a\0b"])
def test_a_path_that_names_no_file_is_one_line(tmp_path: Path, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop").symlink_to("loop")
    with pytest.raises(UserError, match="cannot write"):
        regular_target(Path(path))


@pytest.mark.parametrize(
    ("output", "given", "fits"),
    [
        ("file", "file", False),
        ("link", "file", False),
        ("file", "link", False),
        ("hard", "file", False),
        ("folder/../file", "file", False),
        ("folder/new", "folder", False),
        ("other", "file", True),
        ("folder/new", "file", True),
        ("new", "missing", True),
    ],
)
def test_an_output_is_not_an_input_under_another_name(
    tmp_path: Path, output: str, given: str, fits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("file").write_text("x", encoding="utf-8")
    Path("link").symlink_to("file")
    os.link("file", "hard")
    if fits:
        keep_apart([Path(output)], [Path(given)])
        return
    with pytest.raises(UserError, match="which is read"):
        keep_apart([Path(output)], [Path(given)])
