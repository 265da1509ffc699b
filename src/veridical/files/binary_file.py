"""The bytes of a user's file, decompressed where its name says that it is compressed."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Mapping
from io import BufferedIOBase, BytesIO
from pathlib import Path, PurePath

from veridical.errors import UserError
from veridical.files.pointers import check_link, check_pointer
from veridical.files.sources import LARGEST, check_source, unreadable

_ZSTANDARD = ".zst"
_DECOMPRESS: Mapping[str, Callable[[BytesIO], BufferedIOBase]] = {
    ".gz": lambda file: gzip.GzipFile(fileobj=file),
    ".bz2": bz2.BZ2File,
    ".xz": lzma.LZMAFile,
}
_BLOCK = 1 << 22
ENDINGS = (*_DECOMPRESS, _ZSTANDARD)


def plain_name(path: PurePath) -> PurePath:
    """The file's path without the ending that says how it is compressed: `dev.jsonl` of `dev.jsonl.gz`."""
    return path.with_suffix("") if path.suffix.lower() in ENDINGS else path


def read_bytes(path: Path) -> bytes:
    """A file's content, decompressed.

    Raises UserError where it cannot be read, is not a regular file of at most `LARGEST` bytes (also when decompressed),
    is damaged, or only points to data (Git LFS).
    """
    check_link(path)
    check_source(path)
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
        with _DECOMPRESS[ending](BytesIO(data)) as opened:
            return _limited(path, opened)
    except (OSError, EOFError, ValueError, lzma.LZMAError, zlib.error) as error:
        raise UserError(f"{path}: not a {ending} file, or cut off; copy it again") from error


def _limited(path: Path, opened: BufferedIOBase) -> bytes:
    blocks, size = [], 0
    while block := opened.read(_BLOCK):
        blocks.append(block)
        size += len(block)
        if size > LARGEST:
            raise UserError(f"{path}: more than {LARGEST >> 30} GiB decompressed; divide it, or take a part of it")
    return b"".join(blocks)


def _zstandard(path: Path, data: bytes) -> bytes:
    # Python has no reader before 3.14; polars has one for texts, and data sets are published as texts.
    import polars as pl

    reader = getattr(pl, "read_lines", None)
    if reader is None:
        raise UserError(f"{path}: this version of polars reads no {_ZSTANDARD} files; decompress it with 'zstd -d'")
    try:
        lines = reader(data).to_series().to_list()
    except (OSError, pl.exceptions.PolarsError) as error:
        raise UserError(f"{path}: not a {_ZSTANDARD} file of UTF-8 text, or cut off; copy it again") from error
    return "\n".join([*lines, ""]).encode()
