"""One log of Inspect's as its header and its samples, in plain JSON values."""

from __future__ import annotations

import importlib.util
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.ledger import Ledger
from veridical.files.pointers import check_pointer_file
from veridical.files.sources import check_source
from veridical.interop.imports.answer import held, listed
from veridical.interop.imports.records import LARGEST, parse_document, read_document, source_of
from veridical.runs.provenance import SourceFile

MOST_BYTES = 8 << 30
"""Bytes that all members of a `.eval` may come to. Our choice: larger ones are archives of something else."""
MOST_EXPANSION = 400
"""How many times its size in the archive a member of more than a megabyte may be: JSON shrinks 5 to 50 times."""

NO_SAMPLE = "a sample that is not an object"
DAMAGED = "a sample that is damaged or cut off"

InspectSample = Mapping[str, Any]


class UnsupportedError(UserError):
    """Members are whole, and not to be read here."""


@dataclass
class Log:
    """A log: `samples` reads them one after another."""

    path: Path
    header: Mapping[str, Any]
    n_samples: int
    samples: Callable[[], Iterator[InspectSample]]
    notes: list[str] = field(default_factory=list)
    ledger: Ledger = field(default_factory=Ledger)
    """The samples, and those that could not be read: complete once they are."""

    @property
    def status(self) -> str:
        """What the log says of the evaluation: `success`, `error`, `cancelled`, `started`."""
        return str(self.header.get("status", "not given"))

    def source(self) -> SourceFile:
        """The file, as a manifest names it."""
        return source_of(self.path)


def read_log(path: Path) -> Log:
    """The log in a file. Raises UserError where it is not one, or where its archive is not safe to read."""
    if not path.exists():
        raise UserError("no such file or folder", where=path)
    check_source(path)
    check_pointer_file(path)
    zipped = zipfile.is_zipfile(path)
    installed = importlib.util.find_spec("inspect_ai") is not None
    try:
        log = _archive(path) if zipped else _object(path)
    except UnsupportedError:  # its members have been checked; newer releases of Inspect compress by Zstandard
        whole = _by_inspect(path, Log(path, {}, 0, lambda: iter(()))) if installed else None
        if whole is None or not whole.header:
            raise
        return whole
    return _by_inspect(path, log) if installed else log


def _by_inspect(path: Path, log: Log) -> Log:
    """The same log through Inspect's own reader; what that cannot read stays as its documented form has it."""
    from inspect_ai.log import read_eval_log

    try:
        document = read_eval_log(str(path)).model_dump(mode="json")
    except Exception:  # an unfinished or broken log: whatever Inspect raises, the documented form is still there
        return log
    samples = document.pop("samples", None) or []
    if len(samples) < log.n_samples:
        return log
    return _of_samples(path, document, samples, log.notes)


def _of_samples(path: Path, header: Mapping[str, Any], held_samples: Sequence[Any], notes: list[str]) -> Log:
    """A log whose samples are all at hand; those that are not objects are left out."""
    samples = [sample for sample in held_samples if isinstance(sample, dict)]
    ledger = Ledger(read=len(held_samples))
    ledger.leave_unreadable(NO_SAMPLE, len(held_samples) - len(samples))
    return Log(path, header, len(samples), lambda: iter(samples), notes, ledger)


def _object(path: Path) -> Log:
    document = read_document(path)
    if not isinstance(document.get("eval"), dict):
        raise UserError("not a log of Inspect's: it has no 'eval'", where=path)
    held_samples = listed(document.pop("samples", None))
    notes: list[str] = []
    if not any(isinstance(sample, dict) for sample in held_samples):
        reduced = [dict(sample) for sample in _of_reductions(document)]
        if reduced:
            notes.append("samples: only the score of each is in it, so that item sets can be made of nothing")
        held_samples += reduced
    return _of_samples(path, document, held_samples, notes)


def _of_reductions(document: Mapping[str, Any]) -> Iterator[InspectSample]:
    """Samples of which the log has nothing but their scores."""
    for reduction in map(held, listed(document.get("reductions"))):
        for score in listed(reduction.get("samples")):
            if isinstance(score, dict):
                name, identity = str(reduction.get("scorer", "score")), score.get("sample_id")
                yield {"id": identity, "input": f"sample {identity}", "scores": {name: score}}


def _archive(path: Path) -> Log:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            _check(path, members)
            names = [member.filename for member in members]
            if "header.json" in names:
                header = _member(path, archive, "header.json")
            elif "_journal/start.json" in names:
                header = {**_member(path, archive, "_journal/start.json"), "status": "started"}
            else:
                raise UserError("not a log of Inspect's: the archive has no header.json", where=path)
    except (zipfile.BadZipFile, OSError) as error:
        raise UserError(f"cannot be read as an archive: {error}; was it copied whole?", where=path) from error
    samples = sorted(name for name in names if name.startswith("samples/") and name.endswith(".json"))
    ledger = Ledger()
    return Log(path, header, len(samples), lambda: _members(path, samples, ledger), ledger=ledger)


def _members(path: Path, names: list[str], ledger: Ledger) -> Iterator[InspectSample]:
    """The samples that can be read; the others are counted."""
    ledger.begin(len(names))
    with zipfile.ZipFile(path) as archive:
        for name in names:
            try:
                sample = _member(path, archive, name)
            except UnsupportedError:
                raise
            except UserError as error:
                ledger.leave_unreadable(DAMAGED, fault=error.reason)
                continue
            yield sample


def _member(path: Path, archive: zipfile.ZipFile, name: str) -> dict[str, Any]:
    try:
        data = archive.read(name)
    except NotImplementedError as error:
        raise UnsupportedError(
            f"{name} is compressed in a way that Python cannot read: install inspect_ai", where=path
        ) from error
    except (zipfile.BadZipFile, zlib.error, RuntimeError, EOFError, OSError, ValueError) as error:
        raise UserError(f"{name} is damaged ({error})", where=path) from error
    try:
        document = parse_document(data, name)
    except UserError as error:
        raise UserError(f"{name}: {error.reason}", where=path) from error
    if not isinstance(document, dict):
        raise UserError(f"{name} is not a JSON object", where=path)
    return document


def _check(path: Path, members: list[zipfile.ZipInfo]) -> None:
    """Raise UserError for an archive that is not what Inspect writes: members that lead out of it, or that swell."""
    for member in members:
        parts = Path(member.filename.replace("\\", "/")).parts
        if ".." in parts or member.filename.startswith(("/", "\\")) or ":" in parts[0:1]:
            raise UserError(f"the archive has a member {member.filename!r} that leads out of it; not read", where=path)
        if member.file_size > LARGEST:
            raise UserError(f"{member.filename} would be {member.file_size >> 20:,} MB; not read", where=path)
        if member.file_size > max(member.compress_size, 1) * MOST_EXPANSION and member.file_size > 1 << 20:
            raise UserError(
                f"{member.filename} would swell from {member.compress_size:,} to {member.file_size:,} bytes; not read",
                where=path,
            )
    if (total := sum(member.file_size for member in members)) > MOST_BYTES:
        raise UserError(f"{total >> 30:,} GB when read; not read", where=path)
