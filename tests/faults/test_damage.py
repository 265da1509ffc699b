"""Damaged files of every kind: no traceback, no hang, one line that names the file, no silent change of what is sealed.

`VERIDICAL_FAULTS` is the number of damaged copies of each kind; `make test-all` takes 4, `make test-faults` 300.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from veridical.cli.app import call
from veridical.errors import UserError

from .mutating import damage
from .subjects import SUBJECTS, Subject

pytestmark = pytest.mark.slow

N = int(os.environ.get("VERIDICAL_FAULTS", "4"))
SECONDS = 30
LONGEST = 1_000
"""Characters in a message: a few lines of a terminal."""


class Hang(BaseException):
    """It took too long."""


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    def late(number: int, frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def outcome(subject: Subject, folder: Path, out: Path) -> tuple[int, object, str]:
    """Exit status, what was read, and what was said."""
    if subject.read is not None:
        try:
            return 0, subject.read(folder), ""
        except UserError as error:
            return 2, None, f"veridical: {error}\n"
    assert subject.command is not None
    out.mkdir(exist_ok=True)
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        status = call([str(word) for word in subject.command(folder, out)])
    return status, printed.getvalue(), said.getvalue()


@pytest.mark.parametrize("kind", SUBJECTS)
def test_damaged_files(kind: str, tmp_path: Path, subtests: pytest.Subtests) -> None:
    subject = SUBJECTS[kind]
    source = tmp_path / "made" / "given"
    source.mkdir(parents=True)
    (source.parent / "table").mkdir()
    subject.make(source)
    status, right, said = outcome(subject, copied(source, tmp_path / "whole"), tmp_path / "out")
    assert status == 0 or kind == "recipe", said
    for number in range(N):
        moves = random.Random(f"{kind} {number}")
        folder = copied(source, tmp_path / f"{number}")
        path = damage(folder, moves)
        with subtests.test(kind=kind, number=number, file=str(path.relative_to(folder))):
            with within(SECONDS):
                status, came, said = outcome(subject, folder, tmp_path / f"out{number}")
            check(subject, path, status, came, said, right)
            if status == 0 and subject.records is not None and path.is_file():
                check_records(subject.records(folder), json.loads(str(came)), said)
        shutil.rmtree(folder.parent)
        shutil.rmtree(tmp_path / f"out{number}", ignore_errors=True)


def copied(source: Path, target: Path) -> Path:
    return Path(shutil.copytree(source.parent, target)) / source.name


def check(subject: Subject, path: Path, status: int, came: object, said: str, right: object) -> None:
    assert status in (0, 2), said
    assert "Traceback" not in said
    if status == 2:
        last = said.rstrip("\n").splitlines()[-1]
        assert last.startswith("veridical: "), said
        assert len(last) < LONGEST, last
        # A name in a file of roles that the table does not have is a fault of either.
        named = (path.name, path.stem, path.parent.name, *(["scores.csv"] if path.name == "roles.yaml" else []))
        assert any(part in last for part in named), (path.name, last)
    elif subject.sealed:
        # Draws are of a study: a run that was copied out of it is read without.
        assert comparable(came) == comparable(right) or came == [{}]


def comparable(came: object) -> object:
    """What was read, without the folders in it."""
    return json.loads(came)["measures"] if isinstance(came, str) else came


def check_records(there: int, document: dict[str, Any], said: str) -> None:
    """Every record that is there is judged, or left out with a reason."""
    imported = document["imported"]
    tasks = [task for one in imported for task in one["tasks"]]
    judged = sum(task["records"] for task in tasks)
    left_out = sum(count for task in tasks for count in task["skipped"].values())
    left_out += sum(lot["n"] for one in imported for lot in one["left_out"])
    # A line that was cut into pieces is counted by its pieces.
    assert judged + left_out >= there, (judged, left_out, there, said)
