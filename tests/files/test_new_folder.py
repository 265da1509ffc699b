"""Folders appear when they are whole; what killed writers left is removed, and what others write is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.interop.test_denominators import log, sample
from veridical.errors import UserError
from veridical.files.new_folder import all_at_once, clear_abandoned, temporary_folder
from veridical.interop.exports.folder import new_folder
from veridical.interop.imports.importing import import_logs

WRITER = (
    "import sys,time;from pathlib import Path;from veridical.files.new_folder import temporary_folder\n"
    "with temporary_folder(Path(sys.argv[1])) as folder:\n"
    "    (folder/'part').mkdir();(folder/'part'/'a').write_text('x');print(folder.name,flush=True);time.sleep(60)\n"
)


def hidden(folder):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith("."))


def interrupted(path):
    path.write_text("x")
    raise KeyboardInterrupt


def writer_to(target):
    """A process that has begun to fill a folder, and the folder's name."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(target)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_killed_import_is_cleared_by_the_next_one_and_a_living_one_is_not(tmp_path):
    living, name = writer_to(tmp_path / "run")
    killed, left = writer_to(tmp_path / "run")
    try:
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        assert hidden(tmp_path) == sorted([name, left])
        other = tmp_path / ".other.0123abcd.tmp"
        other.mkdir()
        import_logs("inspect", log(tmp_path / "logs" / "a.json", [sample(n) for n in range(4)]), tmp_path / "run")
        assert hidden(tmp_path) == sorted([name, other.name])
        assert (tmp_path / name / "part" / "a").is_file()
    finally:
        for process in (living, killed):
            process.kill()
            process.wait()


def test_a_folder_that_is_not_yet_locked_is_left_alone_while_it_is_new(tmp_path):
    path = tmp_path / ".run.0123abcd.new"
    path.mkdir()
    assert clear_abandoned(tmp_path / "run") == []
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago))
    assert clear_abandoned(tmp_path / "run") == [path]


def test_links_of_such_names_are_left_alone_and_files_go_when_they_are_old(tmp_path):
    (tmp_path / "kept").mkdir()
    (tmp_path / ".run.0123abcd.tmp").symlink_to(tmp_path / "kept")
    path = tmp_path / ".run.0123abce.tmp"
    path.write_text("x")
    assert clear_abandoned(tmp_path / "run") == []
    hour_ago = time.time() - 3600
    os.utime(path, (hour_ago, hour_ago))
    assert clear_abandoned(tmp_path / "run") == [path]
    assert (tmp_path / "kept").is_dir()


@pytest.mark.parametrize("make", [all_at_once, new_folder])
def test_a_folder_is_there_whole_or_not_at_all(tmp_path, make):
    with pytest.raises(KeyboardInterrupt), make(tmp_path / "run") as folder:
        interrupted(folder / "a")
    assert list(tmp_path.iterdir()) == []
    with make(tmp_path / "run") as folder:
        (folder / "a").write_text("x")
        assert not (tmp_path / "run").exists()
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["a"]
    assert hidden(tmp_path) == []


def test_where_nothing_can_be_written_one_line_says_so(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(UserError, match="cannot write"), temporary_folder(tmp_path / "file" / "run"):
        pass
