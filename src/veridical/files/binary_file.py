"""The bytes of a user's file, decompressed where its name says that it is compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from veridical.errors import UserError
from veridical.files.pointers import check_link, check_pointer

_ZSTANDARD = ".zst"
_DECOMPRESS: Mapping[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".bz2": bz2.decompress,
    ".xz": lzma.decompress,
}
ENDINGS = (*_DECOMPRESS, _ZSTANDARD)


def unreadable(path: Path, error: OSError) -> UserError:
    """The one line for a file of the user's that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return UserError(f"{path}: no such file; check the path")
    if isinstance(error, IsADirectoryError):
        return UserError(f"{path}: a folder, not a file; give a file in it")
    return UserError(f"{path}: cannot be read: {error.strerror or error}")


def plain_name(path: PurePath) -> PurePath:
    """The file's path without the ending that says how it is compressed: `dev.jsonl` of `dev.jsonl.gz`."""
    return path.with_suffix("") if path.suffix.lower() in ENDINGS else path


def read_bytes(path: Path) -> bytes:
    """A file's content. Raises UserError where it cannot be read, is damaged, or only points to data (Git LFS)."""
    check_link(path)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from error
    check_pointer(path, data)
    ending = path.suffix.lower()
    if ending == _ZSTANDARD:
        return _zstandard(path, data)
    if ending not in _DECOMPRESS or not data:
        return data
    try:
        return _DECOMPRESS[ending](data)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise UserError(f"{path}: not a {ending} file, or cut off: {error}") from error


def _zstandard(path: Path, data: bytes) -> bytes:
    # Python has no reader before 3.14; polars has one for texts, and data sets are published as texts.
    import polars as pl

    reader = getattr(pl, "read_lines", None)
    if reader is None:
        raise UserError(f"{path}: this version of polars reads no {_ZSTANDARD} files; decompress it with 'zstd -d'")
    try:
        lines = reader(data).to_series().to_list()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{path}: not a {_ZSTANDARD} file of UTF-8 text, or cut off: {error}") from error
    return "\n".join([*lines, ""]).encode()
