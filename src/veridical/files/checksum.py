"""SHA-256 of files, read once for as long as they stay as they are."""

from __future__ import annotations

import hashlib
from pathlib import Path

_known: dict[tuple[str, int, int, int], str] = {}


def of_bytes(data: bytes) -> str:
    """The SHA-256 of `data`, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def of_file(path: Path) -> str:
    """The SHA-256 of a file's content; a file that has not changed since is not read again.

    Raises OSError where the file cannot be read.
    """
    with path.open("rb") as file:
        state = path.stat()
        key = (str(path), state.st_ino, state.st_size, state.st_mtime_ns)
        if key not in _known:
            _known[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return _known[key]
