"""Text files of a user: UTF-8, and a fault is reported with its place."""

from __future__ import annotations

from pathlib import Path

from veridical.errors import UserError
from veridical.files.binary_file import read_bytes


def read_text(path: Path) -> str:
    """A text file's content. Raises UserError where it is missing, a folder, empty or not UTF-8."""
    return decoded(path, read_bytes(path))


def decoded(path: Path, data: bytes) -> str:
    """The text that a file's content is. Raises UserError where it is empty or not UTF-8."""
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
