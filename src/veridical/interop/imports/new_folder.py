"""Folders that are there when they are whole, and of which nothing is left where making them fails."""

from __future__ import annotations

import contextlib
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from veridical.files.writing import make_folder, unwritable


@contextlib.contextmanager
def all_at_once(target: Path) -> Iterator[Path]:
    """A folder next to `target` that takes its place where the block succeeds, and is gone where it does not."""
    folder = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
    make_folder(folder)
    try:
        yield folder
        if target.is_dir():
            target.rmdir()
        folder.rename(target)
    except OSError as error:
        raise unwritable(target, error) from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def nothing_left(target: Path) -> Iterator[None]:
    """Remove what was made at `target`, and the folders above it that were made for it, where the block fails."""
    existed = target.exists()
    above = [folder for folder in target.parents if not folder.exists()]
    try:
        yield
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        if existed:
            target.mkdir(exist_ok=True)
        for folder in above:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise
