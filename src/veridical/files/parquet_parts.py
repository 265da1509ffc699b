"""Parquet files: whole ones, and folders of uniquely named parts that many writers may add to.

A part's name ends in the first digits of its SHA-256, so that a part proves itself without any list.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import uuid
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import polars as pl

from veridical.files import checksum
from veridical.files.writing import make_folder, put_if_absent, sync_folder, temporary_for, write_through

_DIGITS = 16
_PROVING = re.compile(rf"\d{{20}}-[0-9a-f]{{8}}-([0-9a-f]{{{_DIGITS}}})\.parquet")
_ASIDE = (KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError)


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as the bytes of a Parquet file."""
    buffer = BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def add_part(folder: Path, frame: pl.DataFrame) -> tuple[Path, str]:
    """Add a uniquely named part to a folder of parts: never over another, whole or not at all.

    Gives its path and the SHA-256 of its bytes.
    """
    make_folder(folder)
    data = parquet_bytes(frame)
    digest = checksum.of_bytes(data)
    path = folder / f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}-{digest[:_DIGITS]}.parquet"
    with temporary_for(path) as temporary:
        write_through(temporary, data)
        put_if_absent(temporary, path)
        sync_folder(folder)
    return path, digest


def name_proves(name: str, sha256: str) -> bool:
    """Whether a file's name is that of a part with this checksum."""
    found = _PROVING.fullmatch(name)
    return found is not None and sha256.startswith(found[1])


def names_in(folder: Path, ending: str = ".parquet") -> list[str]:
    """The names in a folder that have an ending, sorted (parts: oldest first); none where there is no folder.

    What a killed writer left behind begins with a dot. Raises OSError where the folder cannot be read.
    """
    try:
        names = [path.name for path in folder.iterdir()]
    except FileNotFoundError:
        return []
    return sorted(name for name in names if name.endswith(ending) and not name.startswith("."))


def parse_parquet(data: bytes, schema: pl.Schema) -> pl.DataFrame:
    """Parquet bytes with these columns. Raises ValueError, with what is wrong in words, where they are not that."""
    fault = "it is not a Parquet file, or is cut off"
    try:
        with _without_panic_messages():
            there = pl.read_parquet_schema(BytesIO(data))
            if lacking := [name for name in schema if name not in there]:
                fault = f"it has no column {lacking[0]!r}"
            frame = pl.read_parquet(data, columns=list(schema))
            fault = f"its columns are not of the types {', '.join(f'{name} {kind}' for name, kind in schema.items())}"
            return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
    except _ASIDE:
        raise
    except BaseException as error:  # Polars' panics do not derive from Exception
        raise ValueError(fault) from error


@contextlib.contextmanager
def _without_panic_messages() -> Iterator[None]:
    """Rust writes of a panic to the process's standard error before Python hears of it."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)
