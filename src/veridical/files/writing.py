"""Writing files so that a killed writer or a full disk leaves nothing half-written.

Bytes go to a hidden file next to the target, reach the disk, and only then get their name.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock

from veridical.errors import UserError, shown_path
from veridical.files.targets import regular_target

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FORBIDDEN = {errno.EROFS, errno.EACCES, errno.EPERM}


class ReadOnlyError(UserError):
    """A place that may be read and not written to; `problem` is the message without the advice."""

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem}; choose another --out")
        self.problem = problem


def unwritable(path: Path, error: OSError) -> UserError:
    """The one line for a file that could not be written."""
    problem = f"cannot write {path}: {error.strerror or error}"
    if error.errno in _FULL:
        return UserError(
            f"{problem}; what was stored before is kept: make room, then run the same command with the same --out "
            "to go on"
        )
    return ReadOnlyError(problem) if error.errno in _FORBIDDEN else UserError(f"{problem}; choose another --out")


def check_path(path: Path) -> None:
    """Raise UserError for a path that no file can have, or that may not be looked at."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError) as error:
        raise UserError(f"cannot use {shown_path(path)}: {getattr(error, 'strerror', None) or error}") from error


def slug(name: str, length: int = 48) -> str:
    """A name as part of a folder's name: its last `length` characters, those that no file system minds."""
    return re.sub(r"[^A-Za-z0-9._]+", "-", name).strip("-.")[-length:].lstrip("-.") or "model"


def hidden_sibling(path: Path) -> Path:
    """A hidden, unused name next to `path`, under which it can be made before it gets its own."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}.tmp")


@contextlib.contextmanager
def temporary_for(path: Path) -> Iterator[Path]:
    """A hidden path next to `path` to write to; it is removed afterwards unless it was renamed."""
    if not path.name:
        raise UserError(f"cannot write {path}: a folder; name a file")
    temporary = hidden_sibling(path)
    try:
        yield temporary
    except OSError as error:
        raise unwritable(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_through(path: Path, data: bytes) -> None:
    """Write a new file and wait until it has reached the disk."""
    with path.open("xb") as file:
        lock_descriptor(file.fileno())  # so that `clear_temporary` sees that its writer lives
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until a folder's names have reached the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some network file systems cannot sync a folder; the file itself is safe by then.
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace(path: Path, data: bytes, *, follow: bool = True) -> None:
    """Write a file whole, over an older one of its name; a link is followed to the file that it leads to.

    Without `follow` a link is replaced, and what it leads to stays as it is: for files in run folders, whose names
    no user gave. Raises UserError where the disk refuses, and where the path exists and is not a regular file.
    """
    path = regular_target(path) if follow or not path.is_symlink() else path
    with temporary_for(path) as temporary:
        write_through(temporary, data)
        temporary.replace(path)
        sync_folder(path.parent)


def without_link(path: Path) -> Path:
    """A path at which a file is about to be written; a link there goes, so that what it leads to stays as it is."""
    if path.is_symlink():
        try:
            path.unlink()
        except OSError as error:
            raise unwritable(path, error) from error
    return path


def make_folder(path: Path) -> list[Path]:
    """Make a folder and those above it; gives those that were not there, innermost first.

    Raises UserError where that is not possible.
    """
    try:
        missing = [folder for folder in (path, *path.parents) if not folder.exists()]
        path.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:
        raise UserError(f"cannot write to {path}: a file, not a folder; choose another --out") from error
    except OSError as error:
        raise unwritable(path, error) from error
    return missing


_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{8}\.tmp")
_STILL_WRITTEN = 2.0
"""Seconds after its last change for which a temporary file is left alone whatever its lock says."""


def clear_temporary(folder: Path) -> list[Path]:
    """Remove the temporary files that killed writers left in a folder; gives those removed.

    A writer at work holds a lock on its file. Where the file system has no locks, nothing is removed.
    """
    removed = []
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if _TEMPORARY.fullmatch(path.name) and path.is_file() and not path.is_symlink() and is_abandoned(path):
            with contextlib.suppress(OSError):
                path.unlink()
                removed.append(path)
    return removed


def is_abandoned(path: Path, age: float = _STILL_WRITTEN) -> bool:
    """Whether nobody writes to a temporary file or folder any more: it is `age` seconds old, and nobody holds its
    lock."""
    try:
        if time.time() - path.stat().st_mtime < age:
            return False
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return lock_descriptor(descriptor)
    finally:
        os.close(descriptor)


def lock_descriptor(descriptor: int) -> bool:
    """Lock an open file until it is closed; whether that was possible."""
    try:
        import fcntl
    except ImportError:  # Windows
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


@contextlib.contextmanager
def writable_folder(folder: Path) -> Iterator[None]:
    """Make a folder and try a small file in it, so that a refusal comes before the work.

    Folders that were made here and are still empty at the end are taken away again.
    """
    made = make_folder(folder)
    try:
        with temporary_for(folder / "check") as temporary:
            write_through(temporary, b"veridical")
        yield
    finally:
        with contextlib.suppress(OSError):
            for path in made:
                path.rmdir()


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run folder's lock while one of its files is read, changed and replaced.

    Without lock support (some network file systems) two writers at one moment are not kept apart.
    """
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire()
    except NotImplementedError:
        pass
    except OSError as error:
        raise unwritable(folder / ".lock", error) from error
    try:
        yield
    finally:
        lock.release()


def json_bytes(value: object) -> bytes:
    """Strict JSON (a NaN raises ValueError), readable, ending in a newline."""
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode()


def put_if_absent(temporary: Path, path: Path) -> None:
    """Give a file its name, never over another. Raises FileExistsError where one stands there."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno in _FULL:
            raise
        # A file system without hard links: the name is unique, so a rename meets no other file.
        temporary.replace(path)
