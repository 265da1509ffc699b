"""Changing a run: parts are written and listed, under the lock of its folder."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath

import polars as pl

from veridical.errors import UserError
from veridical.files import checksum
from veridical.files.parquet_parts import add_part, parquet_bytes
from veridical.files.writing import clear_temporary, locked, make_folder, replace
from veridical.runs.manifest import NAME, SCHEMA, Manifest, Part, read_manifest, write_manifest
from veridical.runs.parts import FOLDERS, State, exists, parts_there, state_of


class Editing:
    """A run's manifest and list of parts, open for change under the folder's lock. See `editing`."""

    def __init__(self, run: Path, manifest: Manifest) -> None:
        self.run = run
        self.manifest = manifest
        self._written: Manifest | None = None

    def change(self, **fields: object) -> None:
        """Give fields of the manifest other values."""
        self.manifest = self.manifest.model_copy(update=fields)

    def list(self, *parts: Part) -> None:
        """Put parts into the list, in place of those of their paths."""
        found = self.manifest.listed() | {part.path: part for part in parts}
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
        new, old = checksum.of_bytes(data), self.manifest.listed().get(name)
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
        there, listed = set(parts_there(self.run)), self.manifest.listed()
        for name in sorted(there - set(listed)):
            if state_of(self.run, name, None)[0] is State.UNLISTED:
                self.list(_described(self.run, name))
        lost = tuple(part for name, part in listed.items() if name not in there and not exists(self.run / name))
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
        raise UserError(f"{path} is not a Parquet file, or is cut off; move it away") from error
    return Part(path=name, rows=rows, sha256=sha256)


def _is_table(name: str) -> bool:
    return name.endswith(".parquet")


def as_they_are(run: Path) -> tuple[Part, ...]:
    """The parts of a folder as they are now: for one that was just written, or is of a version that lists none."""
    return tuple(_described(run, name) for name in sorted(parts_there(run)))


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
