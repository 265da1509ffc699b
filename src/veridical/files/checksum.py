"""SHA-256 of files, read once for as long as they stay as they are."""

from __future__ import annotations

import errno
import hashlib
import stat
from pathlib import Path

_known: dict[tuple[str, int, int, int], str] = {}


def of_bytes(data: bytes) -> str:
    """The SHA-256 of `data`, in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def of_file(path: Path) -> str:
    """The SHA-256 of a file's content; a file that has not changed since is not read again.

    Raises OSError where the file cannot be read; so does a pipe or a device, since reading it may never end.
    """
    if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        state = path.stat()
        key = (str(path), state.st_ino, state.st_size, state.st_mtime_ns)
        if key not in _known:
            _known[key] = hashlib.file_digest(file, "sha256").hexdigest()
    return _known[key]
