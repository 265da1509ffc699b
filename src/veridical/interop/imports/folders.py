"""The files of a folder that somebody else wrote."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from veridical.errors import UserError

MOST_FILES = 100_000
"""Files looked at in a folder: a log folder has some hundreds. Our choice."""


def files_in(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    """The files in a folder and in those below it with these suffixes, by path.

    Links that lead out of the folder are not followed, and hidden folders are not looked into. Raises UserError for a
    folder with more than `MOST_FILES` files.
    """
    top = folder.resolve()
    found: list[Path] = []
    seen = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(names)
        if seen > MOST_FILES:
            raise UserError(f"{folder} holds more than {MOST_FILES:,} files: name the folder of one evaluation")
        for name in names:
            path = Path(parent, name)
            if path.suffix in suffixes and not name.startswith(".") and _is_within(path, top):
                found.append(path)
    return sorted(found)


def _is_within(path: Path, top: Path) -> bool:
    try:
        real = path.resolve()
    except (OSError, RuntimeError):
        return False
    return real.is_file() and real.is_relative_to(top)
