"""Which files are read: regular ones up to a stated size. A pipe would wait for ever, and a device has no end."""

from __future__ import annotations

import stat
from pathlib import Path

from veridical.errors import UserError, excerpt

LARGEST = 2 << 30
"""Bytes of a file that is read, and of what it holds decompressed."""
KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
}


def unreadable(path: Path, error: OSError | ValueError) -> UserError:
    """The one line for a file of the user's that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return UserError(f"{excerpt(path)}: no such file; check the path")
    if isinstance(error, IsADirectoryError):
        return UserError("a folder, not a file; give a file in it", where=excerpt(path))
    return UserError(f"{excerpt(path)}: cannot be read: {getattr(error, 'strerror', None) or error}")


def check_source(path: Path) -> None:
    """Raise UserError where a path leads to no file, to a folder, a pipe or a device, or to more than `LARGEST` bytes.

    To be called before a file is opened: to open a pipe waits until somebody writes to it.
    """
    try:
        found = path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from error
    if stat.S_ISDIR(found.st_mode):
        raise UserError("a folder, not a file; give a file in it", where=excerpt(path))
    _check_kind(path, found.st_mode, "save what it gives to a file, and name that")
    if found.st_size > LARGEST:
        size = f"{found.st_size / (1 << 30):,.1f} GiB"
        raise UserError(
            f"{size}, and files up to {LARGEST >> 30} GiB are read; divide it, or take a part of it",
            where=excerpt(path),
        )


def check_folder(folder: Path) -> None:
    """Raise UserError where an entry of a folder that a library is to read is a pipe or a device."""
    for path in sorted(folder.iterdir()):
        try:
            mode = path.stat().st_mode
        except OSError:  # a link that leads nowhere: its reader says so, if it has one
            continue
        if not stat.S_ISDIR(mode):
            _check_kind(path, mode, "move it away, or put the file in its place")


def _check_kind(path: Path, mode: int, advice: str) -> None:
    if not stat.S_ISREG(mode):
        kind = KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise UserError(f"{kind}, not a file; {advice}", where=excerpt(path))
