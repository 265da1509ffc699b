"""Folders that are there when they are whole, and of which nothing is left where making them fails.

A folder is filled under a hidden name next to its target. What a killed writer left there is removed by the next one
with the same target; a writer at work holds a lock on its folder.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from veridical.files.writing import hidden_sibling, is_abandoned, lock_descriptor, make_folder, unwritable


@contextlib.contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """A new, hidden folder next to `target` to fill; it is removed afterwards unless it was renamed.

    Raises UserError where it cannot be made.
    """
    clear_abandoned(target)
    folder = hidden_sibling(target)
    unlocked = folder.with_suffix(".new")
    make_folder(unlocked)
    try:
        with _held(unlocked):
            unlocked.rename(folder)  # only now may others look whether it is abandoned
            yield folder
    finally:
        for path in (unlocked, folder):
            shutil.rmtree(path, ignore_errors=True)


def clear_abandoned(target: Path) -> list[Path]:
    """Remove the folders and files that killed writers to `target` left next to it; gives those removed.

    Where the file system has no locks, nothing is removed.
    """
    own = re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}\.(?:tmp|new)")
    removed = []
    with contextlib.suppress(OSError):
        for path in sorted(target.parent.iterdir()):
            if not own.fullmatch(path.name) or path.is_symlink():
                continue
            if path.is_dir() and (is_abandoned(path, 0) if path.suffix == ".tmp" else is_abandoned(path)):
                shutil.rmtree(path, ignore_errors=True)
                removed.append(path)
            elif path.is_file() and is_abandoned(path):
                path.unlink()
                removed.append(path)
    return removed


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Hold a lock on a folder, where the system has such locks."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:  # Windows opens no folder
        yield
        return
    try:
        lock_descriptor(descriptor)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def all_at_once(target: Path) -> Iterator[Path]:
    """A folder next to `target` that takes its place where the block succeeds, and is gone where it does not."""
    with temporary_folder(target) as folder:
        try:
            yield folder
            if target.is_dir():
                target.rmdir()
            folder.rename(target)
        except OSError as error:
            raise unwritable(target, error) from error


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
