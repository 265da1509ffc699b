"""The parts of a run folder: each is listed in the manifest with its rows and checksum, and read through this list.

Three states are kept apart. A part is *missing* where its name leads to no file, *unreadable* where the file system
refuses it, and *damaged* where its bytes are not those that were written. None of them is ever taken for an answer
that was not given. See `docs/decisions/0011-sealed-runs.md` for how the list stays true with several writers.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path, PurePosixPath

import polars as pl

from veridical.errors import UserError
from veridical.files import checksum
from veridical.files.parquet_parts import add_part, name_proves, names_in, parquet_bytes, parse_parquet
from veridical.files.writing import clear_temporary, locked, make_folder, replace
from veridical.runs.manifest import NAME, SCHEMA, Manifest, Part, read_manifest, write_manifest

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
    listed = {part.path: part for part in manifest.parts or ()}
    for name in sorted({*listed, *_there(run)}):
        part = listed.get(name)
        if manifest.parts is None:
            yield Found(name, None, State.UNCHECKED)
            continue
        state, reason = _state(run, name, part)
        yield Found(name, part.rows if part else None, state, reason)


def _there(run: Path) -> Iterator[str]:
    """The files in a run's folder that are parts, listed or not."""
    for name in FILES:
        if (run / name).is_file():
            yield name
    for folder in FOLDERS:
        with contextlib.suppress(OSError):
            yield from (f"{folder}/{path.name}" for path in (run / folder).iterdir() if path.name[0] != ".")


def _state(run: Path, name: str, part: Part | None) -> tuple[State, str]:
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


def checked(run: Path, name: str, manifest: Manifest | None = None) -> Path | None:
    """The path of a part whose bytes are those that were written; None where it neither is listed nor there.

    Raises UserError where it is listed and missing, unreadable, damaged, or there and nothing says that a run wrote it.
    """
    known = manifest or read_manifest(run)
    part = next((part for part in known.parts or () if part.path == name), None)
    path = run / name
    if known.parts is None:
        return path if path.is_file() else None
    if part is None and not _exists(path):
        return None
    state, reason = _state(run, name, part)
    if state is State.DAMAGED and manifest is None:
        # It may have been replaced between the two looks.
        part = next((part for part in read_manifest(run).parts or () if part.path == name), None)
        state, reason = _state(run, name, part)
    if state in (State.WHOLE, State.UNLISTED):
        return path
    raise UserError(_refusal(run, known, Found(name, part.rows if part else None, state, reason)))


def _exists(path: Path) -> bool:
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
    path = checked(run, name)
    if path is None:
        raise UserError(f"{run / name} is missing; {again(run, manifest)}")
    return _parsed(run, manifest, path, name, schema)


def read_tables(run: Path, kind: str, schema: pl.Schema, *, without_missing: bool = False) -> pl.DataFrame:
    """All parts of a kind of `KINDS` below each other, oldest first; no rows where there are none.

    Raises UserError where one that is listed is missing (`without_missing`: it is left out), or one that is there is
    unreadable, damaged or foreign.
    """
    manifest = read_manifest(run)
    frames = [pl.DataFrame(schema=schema)]
    for name in names(run, kind, manifest=manifest):
        if without_missing and not _exists(run / name):
            continue
        path = checked(run, name, manifest)
        if path is not None:
            frames.append(_parsed(run, manifest, path, name, schema))
    return pl.concat(frames)


def names(run: Path, folder: str, ending: str = ".parquet", manifest: Manifest | None = None) -> list[str]:
    """The parts in a folder of a run that are listed or there, by name: those that begin with a time, oldest first."""
    try:
        there = [f"{folder}/{name}" for name in names_in(run / folder, ending)]
    except OSError as error:
        raise UserError(f"cannot read {run / folder}: {error.strerror or error}") from error
    known = manifest or read_manifest(run)
    listed = [part.path for part in known.parts or () if PurePosixPath(part.path).parent.name == folder]
    return sorted({*there, *(path for path in listed if path.endswith(ending))})


def _parsed(run: Path, manifest: Manifest, path: Path, name: str, schema: pl.Schema) -> pl.DataFrame:
    try:
        frame = parse_parquet(path.read_bytes(), schema)
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise UserError(f"{path} is damaged ({error}): move it away; {again(run, manifest)}") from error
    part = next((part for part in manifest.parts or () if part.path == name), None)
    if part is not None and part.rows is not None and not part.before and frame.height != part.rows:
        raise UserError(f"{path} has {frame.height:,} rows, and {NAME} lists it with {part.rows:,}")
    return frame


class Editing:
    """A run's manifest and list of parts, open for change under the folder's lock. See `editing`."""

    def __init__(self, run: Path, manifest: Manifest) -> None:
        self.run = run
        self.manifest = manifest
        self._written: Manifest | None = None

    @property
    def parts(self) -> dict[str, Part]:
        """The list, by path."""
        return {part.path: part for part in self.manifest.parts or ()}

    def change(self, **fields: object) -> None:
        """Give fields of the manifest other values."""
        self.manifest = self.manifest.model_copy(update=fields)

    def list(self, *parts: Part) -> None:
        """Put parts into the list, in place of those of their paths."""
        found = self.parts | {part.path: part for part in parts}
        self.change(parts=tuple(found[path] for path in sorted(found)))

    def forget(self, paths: Iterable[str]) -> None:
        """Take parts off the list."""
        gone = set(paths)
        self.change(parts=tuple(part for part in self.manifest.parts or () if part.path not in gone))

    def add(self, kind: str, frame: pl.DataFrame) -> None:
        """Write a part of a kind of `KINDS` and list it."""
        path, sha256 = add_part(self.folder(kind), frame)
        self.list(Part(path=f"{kind}/{path.name}", rows=frame.height, sha256=sha256))

    def put(self, name: str, data: bytes, rows: int | None = None) -> None:
        """Write a file whole, over an earlier one, and list it.

        The list names both checksums while the file is being replaced: killed at any moment, one of them is right.
        """
        path = self.folder(str(PurePosixPath(name).parent)) / PurePosixPath(name).name
        new, old = checksum.of_bytes(data), self.parts.get(name)
        if old is not None and old.sha256 != new:
            self.list(Part(path=name, rows=None, sha256=new, before=old.sha256))
            self.save()
        replace(path, data, follow=False)
        self.list(Part(path=name, rows=rows, sha256=new))

    def put_table(self, name: str, frame: pl.DataFrame) -> None:
        """Write a table whole, over an earlier one, and list it."""
        self.put(name, parquet_bytes(frame), frame.height)

    def remove(self, name: str) -> None:
        """Remove a file, and take it off the list."""
        self.forget([name])
        self.save()
        (self.run / name).unlink(missing_ok=True)

    def folder(self, name: str) -> Path:
        """A folder of the run, made if it is not there. Raises UserError where it is a link."""
        path = self.run / name
        if path != self.run and path.is_symlink():
            raise UserError(f"{path} is a link: nothing is written through links in a run folder; put the folder here")
        make_folder(path)
        return path

    def save(self) -> None:
        """Write the manifest, where it has changed."""
        if self.manifest != self._written:
            write_manifest(self.run, self.manifest)
            self._written = self.manifest

    def repair(self) -> tuple[Part, ...]:
        """Make the list true of what is there; gives the parts that were lost.

        Those that a killed writer did not list are listed, those that are missing are taken off (what they held is
        asked again), and temporary files that it left are removed.
        """
        for folder in (self.run, *(self.run / name for name in FOLDERS)):
            clear_temporary(folder)
        there, listed = set(_there(self.run)), self.parts
        for name in sorted(there - set(listed)):
            if _state(self.run, name, None)[0] is State.UNLISTED:
                self.list(_described(self.run, name))
        lost = tuple(part for name, part in listed.items() if name not in there and not _exists(self.run / name))
        self.forget(part.path for part in lost)
        if lost:
            self.change(lost=(*self.manifest.lost, *lost))
        return lost


def _described(run: Path, name: str) -> Part:
    """A file as it is now. Raises UserError where it cannot be read."""
    path = run / name
    try:
        sha256 = checksum.of_file(path)
        rows = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item()) if _is_table(name) else None
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error
    except pl.exceptions.PolarsError as error:
        raise UserError(f"{path} is damaged: {str(error).splitlines()[0]}; move it away") from error
    return Part(path=name, rows=rows, sha256=sha256)


def _is_table(name: str) -> bool:
    return name.endswith(".parquet")


def as_they_are(run: Path) -> tuple[Part, ...]:
    """The parts of a folder as they are now: for one that was just written, or is of a version that lists none."""
    return tuple(_described(run, name) for name in sorted(_there(run)))


@contextlib.contextmanager
def editing(run: Path, begun_as: Manifest | None = None) -> Iterator[Editing]:
    """Change a run's manifest and parts while no other process does; `begun_as` is the manifest of a new run.

    What is listed when the block ends, by an error too, is written. A run of 0.1.0 is sealed by it.
    """
    with locked(run):
        if begun_as is not None and not (run / NAME).is_file():
            edit = Editing(run, begun_as.model_copy(update={"parts": ()}))
        else:
            edit = Editing(run, read_manifest(run))
            edit._written = edit.manifest
        if edit.manifest.parts is None:
            edit.change(parts=as_they_are(run), sealed_later=True, schema_=SCHEMA)
        try:
            yield edit
        finally:
            edit.save()
