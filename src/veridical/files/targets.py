"""Where a file that is written goes: links are followed, and nothing but a regular file is written over."""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from veridical.errors import UserError, shown_path
from veridical.files.links import real_path
from veridical.files.sources import KINDS


def regular_target(path: Path) -> Path:
    """The file that writing to `path` makes or replaces: at the end of its links, where it is one.

    A file is put in place by renaming another over it, which would do away with a link, a pipe or a device. Raises
    UserError where the path exists and is not a regular file, and for a path that no file can have.
    """
    try:
        # Of the path as given: what a link under /proc leads to has no name to be looked up by.
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        mode = stat.S_IFREG
    except (OSError, ValueError) as error:
        raise UserError(f"cannot write {shown_path(path)}: {getattr(error, 'strerror', None) or error}") from error
    if not stat.S_ISREG(mode):
        raise UserError(f"cannot write {path}: {KINDS.get(stat.S_IFMT(mode), 'no regular file')}; name a file")
    # A link of which another follows is resolved whole, also one that leads to no file yet.
    return real_path(path)


def same_file(path: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by name or by a hard link; neither has to exist."""
    try:
        return real_path(path) == real_path(other) or path.samefile(other)
    except (OSError, ValueError):
        return False


def keep_apart(outputs: Iterable[Path], inputs: Iterable[Path]) -> None:
    """Raise UserError where an output is one of the inputs, or lies in one that is a folder."""
    inputs = tuple(inputs)
    for output in outputs:
        for given in inputs:
            if same_file(output, given):
                raise UserError(f"--out would write over {given}, which is read; choose another file")
            if given.is_dir() and real_path(output).is_relative_to(real_path(given)):
                raise UserError(f"--out would write {output} into {given}, which is read; choose another folder")
