"""Records from a JSON file, one after another: JSON Lines whatever the file is called, or one array.

A file is read as a stream. A line that is not valid JSON is left out and counted; so is what a cut-off file ends in.
"""

from __future__ import annotations

import codecs
import hashlib
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

from veridical.errors import UserError
from veridical.files.encodings import FALLBACK, marked_encoding
from veridical.files.ledger import Ledger, reasons
from veridical.files.pointers import check_pointer_file
from veridical.interop.imports.json_values import NOT_JSON, ObjectReader, objects_in
from veridical.runs.provenance import LeftOut, SourceFile

CP1252 = "not UTF-8, read as Windows-1252"

_CHUNK = 1 << 20
LARGEST = 256 << 20
"""Bytes of one record, or of a document that is read whole. Our choice: logs have records of kilobytes."""

Record = dict[str, Any]


@dataclass
class RecordFile:
    """A file of records. Once they are read, `ledger` counts them and `notes` what was odd; `source` describes it."""

    path: Path
    ledger: Ledger = field(default_factory=Ledger)
    notes: Counter[str] = field(default_factory=Counter)
    source: SourceFile | None = None

    def estimate(self) -> int:
        """About how many records there are: the lines."""
        with _opened(self.path) as file:
            return sum(data.count(b"\n") for data in iter(lambda: file.read(_CHUNK), b""))

    def begins_as_json(self) -> bool:
        """Whether the file begins as an object or an array does."""
        with _opened(self.path) as file:
            head = file.read(1 << 16)
        return head.decode(_encoding(head), errors="replace").lstrip("\ufeff \t\r\n")[:1] in ("{", "[")

    def __iter__(self) -> Iterator[Record]:
        sha = hashlib.sha256()
        with _opened(self.path) as file:
            stream = _Hashed(file, sha)
            yield from self._records(stream)
            while stream.read(_CHUNK):
                pass
        self.source = SourceFile(name=self.path.name, bytes=stream.size, sha256=sha.hexdigest())

    def _records(self, stream: _Hashed) -> Iterator[Record]:
        head = stream.peek()
        encoding = _encoding(head)
        start = head.decode(encoding, errors="replace").lstrip("\ufeff \t\r\n")
        # An array, or objects that are spread over lines.
        if start[:1] == "[" or start.partition("\n")[0].strip() == "{":
            pieces = _pieces(stream, encoding, self.notes)
            yield from map(whole_characters, ObjectReader(pieces, self.ledger, LARGEST))
        else:
            yield from self._lines(stream, encoding)

    def _lines(self, stream: _Hashed, encoding: str) -> Iterator[Record]:
        broken: list[Ledger] = []
        for number, line in enumerate(stream.lines() if encoding == "utf-8" else _recoded(stream, encoding), 1):
            if not line.strip():
                continue
            for lost in broken:  # not the last line: nothing was cut off at the end of the file
                self.ledger.take(lost.read)
                self.ledger.leave_unreadable(NOT_JSON, lost.left_out.total(), lost.first_fault)
            broken.clear()
            record = self._parsed(line)
            if isinstance(record, dict):
                self.ledger.take()
                yield record
                continue
            if record is not None and not (isinstance(record, list) and any(isinstance(one, dict) for one in record)):
                lost = Ledger(read=1)
                lost.leave_unreadable(NOT_JSON, fault=f"line {number}: a value, not an object")
                broken.append(lost)
                continue
            lost = Ledger()
            for one in objects_in(self._text(line), lost, f"line {number}"):
                self.ledger.take()
                lost.take(-1)
                yield whole_characters(one)
            broken.append(lost)
        for lost in broken:
            self.ledger.add(lost)

    def _parsed(self, line: bytes) -> object:
        try:
            return from_json(line)
        except ValueError:
            pass
        try:
            # Python's reader takes half of a character (\ud800), which is then written as a question mark.
            return whole_characters(json.loads(self._text(line, note=True)))
        except (ValueError, RecursionError):
            return None

    def _text(self, line: bytes, *, note: bool = False) -> str:
        try:
            return line.decode()
        except UnicodeDecodeError:
            self.notes[CP1252] += note
            return line.decode(FALLBACK, errors="replace")


class _Hashed:
    """A binary file whose bytes are hashed as they are read."""

    def __init__(self, file: BinaryIO, sha: Any) -> None:
        self._file, self._sha = file, sha
        self._head = b""
        self.size = 0

    def peek(self) -> bytes:
        self._head = self._head or self._take(_CHUNK)
        return self._head

    def _take(self, size: int) -> bytes:
        data = self._file.read(size)
        self._sha.update(data)
        self.size += len(data)
        return data

    def read(self, size: int) -> bytes:
        if self._head:
            data, self._head = self._head, b""
            return data
        return self._take(size)

    def lines(self) -> Iterator[bytes]:
        """Lines without a byte order mark. A line beyond `LARGEST` raises UserError."""
        rest = b""
        first = True
        while data := self.read(_CHUNK):
            if first:
                data, first = data.removeprefix(codecs.BOM_UTF8), False
            parts = (rest + data).split(b"\n") if rest else data.split(b"\n")
            rest = parts.pop()
            if len(rest) > LARGEST:
                raise UserError(f"a line of {self._file.name} has more than {LARGEST >> 20} MB: no log of a harness")
            yield from parts
        if rest:
            yield rest


def _opened(path: Path) -> BinaryIO:
    try:
        if path.is_dir():
            raise UserError(f"{path} is a folder where a file is expected")
        if path.exists() and not path.is_file():
            raise UserError(f"{path} is a pipe or a device where a file is expected; save what it gives to a file")
        check_pointer_file(path)
        return path.open("rb")
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror or error}") from error


def _encoding(head: bytes) -> str:
    # UTF-8's own mark is taken off where lines and values are read.
    return marked_encoding(head).removesuffix("-sig") or "utf-8"


def _recoded(stream: _Hashed, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    rest = ""
    while data := stream.read(_CHUNK):
        *lines, rest = (rest + decoder.decode(data)).split("\n")
        yield from (line.encode(errors="replace") for line in lines)
    if rest:
        yield rest.encode(errors="replace")


def _pieces(stream: _Hashed, encoding: str, notes: Counter[str]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="strict")
    while data := stream.read(_CHUNK):
        try:
            yield decoder.decode(data)
        except UnicodeDecodeError:
            notes[CP1252] += 1
            decoder = codecs.getincrementaldecoder(FALLBACK)(errors="replace")
            yield decoder.decode(data)


def whole_characters(value: Any) -> Any:
    """The value with a question mark for every half of a character, which none of the files written here could hold."""
    if isinstance(value, str):
        return value if value.isprintable() else value.encode(errors="replace").decode()
    if isinstance(value, dict):
        return {whole_characters(key): whole_characters(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [whole_characters(inner) for inner in value]
    return value


def read_document(path: Path) -> Record:
    """A JSON object that is one file, read whole. Raises UserError where it is not one, or is larger than any log."""
    with _opened(path) as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise UserError(f"more than {LARGEST >> 20} MB in one JSON object: too large to be read whole", where=path)
    document = parse_document(data, str(path))
    if not isinstance(document, dict):
        raise UserError("a JSON list or value where an object is expected", where=path)
    return document


def parse_document(data: bytes, named: str) -> Any:
    """A JSON value from bytes in any of the encodings. Raises UserError, naming it, where it is none."""
    encoding = _encoding(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(FALLBACK, errors="replace")
    try:
        return whole_characters(json.loads(text.removeprefix("\ufeff")))
    except RecursionError as error:
        raise UserError("nested too deeply", where=named) from error
    except ValueError as error:
        raise UserError(_why_no_json(data, error), where=named) from error


def _why_no_json(data: bytes, error: ValueError) -> str:
    if not data.strip():
        return "empty; was it copied whole?"
    if data.startswith(b"PK"):
        return "an archive without its end, cut off; copy it again"
    if not isinstance(error, json.JSONDecodeError):
        return f"not valid JSON ({error})"
    if error.msg == "Extra data":
        return f"more than one JSON value (line {error.lineno}), as in JSON Lines, where one is expected"
    cut = "" if error.pos == 0 else "; is the file cut off?"
    return f"not valid JSON (line {error.lineno}: {error.msg}){cut}"


def source_of(path: Path) -> SourceFile:
    """A file's description."""
    with _opened(path) as file:
        sha, size = hashlib.sha256(), 0
        while data := file.read(_CHUNK):
            sha.update(data)
            size += len(data)
    return SourceFile(name=path.name, bytes=size, sha256=sha.hexdigest())


def lost_records(path: Path, ledger: Ledger) -> list[LeftOut]:
    """What of a file's records belongs to no task, as its run's manifest has it."""
    if not (lost := ledger.left_out):
        return []
    n = lost.total()
    what = f"{n:,} of {ledger.read:,} records of {path}"
    return [LeftOut(what=what, reason=reasons(lost), n=n, records=dict(lost))]
