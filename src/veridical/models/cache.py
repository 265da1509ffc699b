"""Files that are made once a machine: converted GGUF weights, and hashes of weights."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from platformdirs import user_cache_path

from veridical.errors import UserError
from veridical.files.links import real_path


def cache_folder() -> Path:
    """`$VERIDICAL_CACHE`, else the user's cache folder of this platform."""
    named = os.environ.get("VERIDICAL_CACHE")
    return Path(named) if named else user_cache_path("veridical")


def file_hash(path: Path) -> str:
    """SHA-256 of a file, remembered by its path, size and time of change, since weights are large."""
    stat = path.stat()
    key = hashlib.sha256(f"{real_path(path)}|{stat.st_size}|{stat.st_mtime_ns}".encode()).hexdigest()
    entry = cache_folder() / "hashes" / f"{key}.json"
    try:
        return str(json.loads(entry.read_text())["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    try:
        put(entry, lambda temporary: temporary.write_text(json.dumps({"sha256": sha256})))
    except OSError:
        return sha256  # a cache that cannot be written costs time, not the run
    return sha256


def check_writable(folder: Path) -> None:
    """Make a folder of the cache. Raises UserError, naming the variable that moves it, where it cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".making-"):
            pass
    except OSError as error:
        raise UserError(
            f"the cache folder {cache_folder()} cannot be written ({error.strerror or error}): set VERIDICAL_CACHE to "
            "a folder that can"
        ) from error


def put(target: Path, make: Callable[[Path], object]) -> None:
    """Have `make` write a file or folder next to `target`, then move it there whole.

    Where another process was faster, its result stays: both made the same.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    holder = Path(tempfile.mkdtemp(dir=target.parent, prefix=".making-"))
    try:
        make(holder / target.name)
        try:
            (holder / target.name).rename(target)
        except OSError:
            if not target.exists():
                raise
    finally:
        shutil.rmtree(holder, ignore_errors=True)
