"""Suite files written as their items come: memory does not grow with their number.

The bytes are those of `veridical.suites.files.write_suite` for the same suite.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from veridical.errors import UserError
from veridical.files.targets import regular_target
from veridical.files.writing import hidden_sibling
from veridical.items import Item, Suite
from veridical.suites.file_writer import Membership, header_record, item_record, json_line, usual_choices


def _unwritable(path: Path, error: OSError) -> UserError:
    return UserError(f"cannot write {path}: {error.strerror or error}; choose another file")


def try_writing(path: Path) -> None:
    """Raise UserError where no file can be written at `path`: checked before the work rather than after it."""
    trial = hidden_sibling(path)
    try:
        trial.open("x").close()
        trial.unlink()
    except OSError as error:
        raise _unwritable(path, error) from error


class SuiteWriter:
    """Writes a suite file whole or not at all: the items go to a temporary file next to it until the number of them is
    known.

    A context: leaving it without `finish` leaves nothing behind. Links are followed. Raises UserError where the files
    cannot be written, and where `path` exists and is not a regular file.
    """

    def __init__(self, path: Path, frame: Suite, groupings: Sequence[str]) -> None:
        self._path = path = regular_target(path)
        self._frame = frame
        self._groupings = list(groupings)
        self._usual = usual_choices(frame.labels)
        self._stem = hidden_sibling(path).stem
        self._count = 0

    def __enter__(self) -> Self:
        self._items = self._open("items")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._items.close()
        for part in ("items", "tmp"):
            with contextlib.suppress(OSError):
                self._sibling(part).unlink(missing_ok=True)

    def write(self, item: Item, memberships: Sequence[Membership]) -> None:
        """One item, with its places in sets in the order of the groupings."""
        self._items.write(json_line(item_record(item, self._usual, memberships)))
        self._count += 1

    def finish(self) -> None:
        """Put the header before the items, and the file in its place."""
        try:
            self._items.close()
            with self._open("tmp") as file, self._sibling("items").open(encoding="utf-8", newline="") as items:
                file.write(json_line(header_record(self._frame, self._groupings, self._count)))
                shutil.copyfileobj(items, file)
                file.flush()
                os.fsync(file.fileno())
            self._sibling("tmp").replace(self._path)
        except OSError as error:
            raise _unwritable(self._path, error) from error

    def _sibling(self, part: str) -> Path:
        return self._path.with_name(f"{self._stem}.{part}")

    def _open(self, part: str) -> IO[str]:
        try:
            return self._sibling(part).open("x", encoding="utf-8", newline="\n")
        except OSError as error:
            raise _unwritable(self._path, error) from error
