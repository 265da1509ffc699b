"""Text files of a user: UTF-8, and a fault is reported with its place."""

from __future__ import annotations

from pathlib import Path

from veridical.errors import UserError


def unreadable(path: Path, error: OSError) -> UserError:
    """The one line for a file of the user's that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return UserError(f"{path}: no such file; check the path")
    if isinstance(error, IsADirectoryError):
        return UserError(f"{path}: a folder, not a file; give a file in it")
    return UserError(f"{path}: cannot be read: {error.strerror or error}")


def read_text(path: Path) -> str:
    """A text file's content. Raises UserError where it is missing, a folder, empty or not UTF-8."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    if not data.strip():
        raise UserError(f"{path}: the file is empty")
    if (nul := data.find(b"\0")) >= 0:
        line = data.count(b"\n", 0, nul) + 1
        raise UserError(f"{path}, line {line}: a NUL byte, which no text has; save the file as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        cut = error.reason == "unexpected end of data"
        advice = "is the file cut off?" if cut else "save the file as UTF-8"
        raise UserError(f"{path}, line {line}: not UTF-8 text; {advice}") from error
