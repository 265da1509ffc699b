"""The parts of a run folder: each is listed in the manifest with its rows and checksum, and read through this list.

Three states are kept apart. A part is *missing* where its name leads to no file, *unreadable* where the file system
refuses it, and *damaged* where its bytes are not those that were written. None of them is ever taken for an answer
that was not given. See `docs/decisions/0011-sealed-runs.md` for how the list stays true with several writers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import polars as pl

from veridical.errors import UserError
from veridical.files import checksum
from veridical.files.parquet_parts import name_proves, names_in, parse_parquet
from veridical.runs.manifest import NAME, Manifest, Part, read_manifest

KINDS = ("requests", "responses")
"""Folders to which parts are added. Any other part is a file that is replaced as a whole."""
FOLDERS = (*KINDS, "hidden", "readouts")
FILES = ("items.parquet", "scores.parquet")


class State(StrEnum):
    """How a part is found."""

    WHOLE = "whole"
    MISSING = "missing"
    UNREADABLE = "unreadable"
    DAMAGED = "damaged"
    UNLISTED = "not listed"
    """It is there, and whole by its own name: its writer was killed before it was listed, or is at work."""
    FOREIGN = "foreign"
    """It is there, and nothing says that a run wrote it."""
    UNCHECKED = "unchecked"
    """It is there, and the run is not sealed: there is nothing to check it against."""


@dataclass(frozen=True, slots=True)
class Found:
    """A part, its state and, where it is not whole, why."""

    path: str
    rows: int | None
    state: State
    reason: str = ""


def again(run: Path, manifest: Manifest) -> str:
    """What brings back the content of a part that is lost."""
    if manifest.imported is not None:
        return "import the log again, into another folder"
    return f"the same 'veridical run' with --out {run.parent} asks what is lost again"


def inspect(run: Path, manifest: Manifest) -> Iterator[Found]:
    """Every part that is listed or there, and its state. Every byte is read."""
    known = manifest.listed()
    for name in sorted({*known, *parts_there(run)}):
        if manifest.parts is None:
            yield Found(name, None, State.UNCHECKED)
        else:
            yield _found(run, name, manifest, known)


def parts_there(run: Path) -> Iterator[str]:
    """The files in a run's folder that are parts, listed or not."""
    for name in FILES:
        if (run / name).is_file():
            yield name
    for folder in FOLDERS:
        with contextlib.suppress(OSError):
            yield from (f"{folder}/{path.name}" for path in (run / folder).iterdir() if path.name[0] != ".")


def state_of(run: Path, name: str, part: Part | None) -> tuple[State, str]:
    """How a part is found and, where it is not whole, why; `part` is its entry in the list, None where it has none."""
    path = run / name
    try:
        found = checksum.of_file(path)
    except FileNotFoundError:
        return State.MISSING, "no such file"
    except OSError as error:
        return State.UNREADABLE, error.strerror or str(error)
    if part is None:
        return (State.UNLISTED if name_proves(path.name, found) else State.FOREIGN), ""
    if found in (part.sha256, part.before):
        return State.WHOLE, ""
    return State.DAMAGED, "its checksum is not the one that the manifest lists"


def _found(run: Path, name: str, manifest: Manifest, known: Mapping[str, Part]) -> Found:
    """A part of a sealed run; `known` are those that its manifest lists."""
    part = known.get(name)
    state, reason = state_of(run, name, part)
    if state is State.UNLISTED and manifest.imported is not None:
        # An imported run is listed whole before it is put in place: what it does not list is another run's.
        state = State.FOREIGN
    return Found(name, part.rows if part else None, state, reason)


def checked(run: Path, name: str, manifest: Manifest | None = None) -> Path | None:
    """The path of a part whose bytes are those that were written; None where it neither is listed nor there.

    Raises UserError where it is listed and missing, unreadable, damaged, or there and nothing says that a run wrote it.
    """
    manifest = manifest or read_manifest(run)
    return _checked(run, name, manifest, manifest.listed())


def _checked(run: Path, name: str, manifest: Manifest, known: Mapping[str, Part]) -> Path | None:
    path = run / name
    if manifest.parts is None:
        return path if path.is_file() else None
    if name not in known and not exists(path):
        return None
    found = _found(run, name, manifest, known)
    if found.state is State.DAMAGED:
        # It may have been replaced between the look at the list and the look at the file.
        manifest = read_manifest(run)
        found = _found(run, name, manifest, manifest.listed())
    if found.state in (State.WHOLE, State.UNLISTED):
        return path
    raise UserError(_refusal(run, manifest, found))


def exists(path: Path) -> bool:
    """Whether a name leads to anything. Raises UserError where that cannot be found out."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    return True


def _refusal(run: Path, manifest: Manifest, found: Found) -> str:
    path = run / found.path
    if found.state is State.MISSING:
        rows = f" with {found.rows:,} rows" if found.rows is not None else ""
        return f"{path} is missing: {NAME} lists it{rows}; {again(run, manifest)}"
    if found.state is State.UNREADABLE:
        return f"cannot read {path}: {found.reason}"
    if found.state is State.DAMAGED:
        return f"{path} is damaged ({found.reason}): move it away; {again(run, manifest)}"
    return f"{path} is not a part of this run: {NAME} does not list it; move it away"


def read_table(run: Path, name: str, schema: pl.Schema) -> pl.DataFrame:
    """A table that is a part of its own, as `items.parquet`.

    Raises UserError where it is missing, unreadable, damaged or has other columns or rows.
    """
    manifest = read_manifest(run)
    path = checked(run, name, manifest)
    if path is None:
        raise UserError(f"{run / name} is missing; {again(run, manifest)}")
    return _parsed(run, manifest, path, manifest.listed().get(name), schema)


def read_tables(run: Path, kind: str, schema: pl.Schema, *, without_missing: bool = False) -> pl.DataFrame:
    """All parts of a kind of `KINDS` below each other, oldest first; no rows where there are none.

    Raises UserError where one that is listed is missing (`without_missing`: it is left out), or one that is there is
    unreadable, damaged or foreign.
    """
    manifest = read_manifest(run)
    known = manifest.listed()
    frames = [pl.DataFrame(schema=schema)]
    for name in names(run, kind, manifest=manifest):
        if without_missing and not exists(run / name):
            continue
        path = _checked(run, name, manifest, known)
        if path is not None:
            frames.append(_parsed(run, manifest, path, known.get(name), schema))
    return pl.concat(frames)


def names(run: Path, folder: str, ending: str = ".parquet", manifest: Manifest | None = None) -> list[str]:
    """The parts in a folder of a run that are listed or there, by name: those that begin with a time, oldest first."""
    try:
        there = [f"{folder}/{name}" for name in names_in(run / folder, ending)]
    except OSError as error:
        raise UserError(f"cannot read {run / folder}: {error.strerror or error}") from error
    listed = (manifest or read_manifest(run)).listed()
    return sorted({*there, *(name for name in listed if name.startswith(f"{folder}/") and name.endswith(ending))})


def _parsed(run: Path, manifest: Manifest, path: Path, part: Part | None, schema: pl.Schema) -> pl.DataFrame:
    try:
        frame = parse_parquet(path.read_bytes(), schema)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}): move it away; {again(run, manifest)}") from error
    if part is not None and part.rows is not None and not part.before and frame.height != part.rows:
        raise UserError(f"{path} has {frame.height:,} rows, and {NAME} lists it with {part.rows:,}")
    return frame
