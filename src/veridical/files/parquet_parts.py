"""Parquet files: whole ones, and folders of uniquely named parts that many writers may add to."""

from __future__ import annotations

import time
import uuid
from io import BytesIO
from pathlib import Path

import polars as pl

from veridical.errors import UserError
from veridical.files.writing import make_folder, put_if_absent, sync_folder, temporary_for, write_through


def parquet_bytes(frame: pl.DataFrame) -> bytes:
    """A frame as the bytes of a Parquet file."""
    buffer = BytesIO()
    frame.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def add_part(folder: Path, frame: pl.DataFrame) -> Path:
    """Add a uniquely named part to a folder of parts: never over another, whole or not at all."""
    make_folder(folder)
    data = parquet_bytes(frame)
    path = folder / f"{time.time_ns():020d}-{uuid.uuid4().hex[:8]}.parquet"
    with temporary_for(path) as temporary:
        write_through(temporary, data)
        put_if_absent(temporary, path)
        sync_folder(folder)
    return path


def read_parts(folder: Path, schema: pl.Schema) -> pl.DataFrame:
    """All parts of a folder, oldest first. What a killed writer left behind has no part's name."""
    parts = sorted(p for p in folder.glob("*.parquet") if not p.name.startswith("."))
    return pl.concat([pl.DataFrame(schema=schema), *(read_part(part, schema) for part in parts)])


ASKED_AGAIN = "move that file away and run again: its questions are asked again"


def read_part(path: Path, schema: pl.Schema, remedy: str = ASKED_AGAIN) -> pl.DataFrame:
    """One Parquet file with these columns. Raises UserError naming the file, and `remedy`, where it is not one."""
    try:
        frame = pl.read_parquet(path.read_bytes(), columns=list(schema))
        return frame.select(pl.col(name).cast(kind) for name, kind in schema.items())
    except (OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).splitlines()[0]
        raise UserError(f"cannot read {path}: {reason}; {remedy}") from error
