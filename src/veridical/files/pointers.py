"""Files that only point to data: Git LFS pointers and git-annex pointers, as a clone without the data has them."""

from __future__ import annotations

from pathlib import Path

from veridical.errors import UserError

LONGEST = 1024
"""Bytes of a pointer, by Git LFS's own specification; git-annex's are shorter."""
_LFS = b"version https://git-lfs.github.com/spec/v1"
_ANNEX = b"/annex/objects/"


def check_pointer(path: Path, beginning: bytes) -> None:
    """Raise UserError where a file that begins with these bytes holds no data, only a pointer to them."""
    if beginning.lstrip(b"\xef\xbb\xbf").startswith(_LFS):
        raise UserError(
            f"a Git LFS pointer, not the data themselves; run 'git lfs pull' in {path.parent}, or download the file",
            where=path,
        )
    if _ANNEX in beginning[:LONGEST].split(b"\n", 1)[0].replace(b"\\", b"/") and len(beginning) <= LONGEST:
        raise _annexed(path)


def check_pointer_file(path: Path) -> None:
    """As `check_pointer`, for a file that is read elsewhere. A file that cannot be opened is left to its reader."""
    try:
        if not path.is_file():  # to open a pipe would wait for ever
            check_link(path)
            return
        with path.open("rb") as file:
            beginning = file.read(LONGEST + 1)
    except OSError:
        check_link(path)
        return
    check_pointer(path, beginning)


def check_link(path: Path) -> None:
    """Raise UserError where a path is git-annex's link to data that this clone does not have."""
    try:
        leads_to = path.readlink().as_posix() if path.is_symlink() and not path.exists() else ""
    except (OSError, ValueError):  # a path that no file can have: its reader says so
        return
    if "annex/objects" in leads_to:
        raise _annexed(path)


def _annexed(path: Path) -> UserError:
    return UserError(
        f"a git-annex pointer, not the data themselves; run 'git annex get {path.name}' in {path.parent}", where=path
    )
