"""The files of a folder that somebody else wrote."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from veridical.errors import UserError
from veridical.files.links import real_path
from veridical.runs.provenance import LeftOut

MOST_FILES = 100_000
"""Files looked at in a folder: a log folder has some hundreds. Our choice."""


def files_in(folder: Path, suffixes: Sequence[str], odd: list[LeftOut] | None = None) -> list[Path]:
    """The files in a folder and in those below it with these suffixes, by path.

    Links that lead out of the folder are not followed, and hidden folders are not looked into. What is called as such
    a file and is none (a folder, a link that leads nowhere or out, a pipe) is added to `odd`. Raises UserError for a
    folder with more than `MOST_FILES` files.
    """
    top = real_path(folder)
    found: list[Path] = []
    seen = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += len(names)
        if seen > MOST_FILES:
            raise UserError(f"{folder} holds more than {MOST_FILES:,} files: name the folder of one evaluation")
        for name in (*names, *folders):
            path = Path(parent, name)
            if path.suffix not in suffixes or name.startswith("."):
                continue
            if not (reason := why_no_file(path, top)):
                found.append(path)
            elif odd is not None:
                odd.append(LeftOut(what=str(path), reason=reason))
    return sorted(found)


def not_read(odd: Sequence[LeftOut]) -> str:
    """What of a folder could not be read, and why, for the message that nothing else is there."""
    named = "; ".join(f"{one.what}: {one.reason}" for one in odd[:4])
    more = f"; and {len(odd) - 4:,} more" if len(odd) > 4 else ""
    return f" (not read: {named}{more})" if odd else ""


def check_new(target: Path) -> None:
    """Raise UserError where an import would go into what is there already; an empty folder counts as new."""
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise UserError(f"{target} exists already: an import goes into a new folder; choose another --out")


def check_leads_somewhere(path: Path) -> None:
    """Raise UserError for a link to what is not there."""
    if path.is_symlink() and not path.exists():
        raise UserError(f"{path}: a link to {path.readlink()}, which is not there; name the file or folder itself")


def why_no_file(path: Path, top: Path) -> str:
    """Why a path is not a file to be read; empty where it is one."""
    real = real_path(path)
    if real.is_symlink():  # what no link leads out of
        return "it is a link that leads in a circle"
    if path.is_symlink() and not real.exists():
        return "it is a link to what is not there"
    if real.is_dir():
        return "it is a folder, where a file of that name is expected"
    if not real.is_file():
        return "it is a pipe or a device, not a file"
    return "" if real.is_relative_to(top) else "it is a link that leads out of the folder"
