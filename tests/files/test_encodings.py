"""One rule of encodings for all that is read: the mark's, else UTF-8, else Windows-1252 where nothing is UTF-8."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.files.encodings import decode_text
from veridical.files.tables import open_table
from veridical.interop.imports.records import read_document
from veridical.suites.commonsense.rows import read_rows
from veridical.validity.reading import read_raw

TEXT = "name,said\na,café “x”\n"
READ = {
    "utf-8": "utf-8",
    "utf-8-sig": "utf-8-sig",
    "cp1252": "cp1252",
    "utf-16": "utf-16",
    "utf-32": "utf-32",
}


def said(path: Path) -> list[str]:
    """The cell as each reader of tables has it."""
    table = next(open_table(path).rows()).values["said"]
    return [table, read_rows(path)[0].values["said"], read_raw(path).texts("said")[0]]


@pytest.mark.parametrize("encoding", READ)
def test_every_reader_reads_every_encoding(encoding, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(TEXT.encode(encoding))
    assert decode_text(path.read_bytes()) == (TEXT, READ[encoding])
    assert said(path) == ["café “x”"] * 3
    log = tmp_path / "a.json"
    log.write_bytes('{"said": "café"}'.encode(encoding))
    assert read_document(log) == {"said": "café"}


@pytest.mark.parametrize("reader", [open_table, read_rows, read_raw])
@pytest.mark.parametrize("data", [TEXT.encode()[:-5] + b"\xe2\x80", TEXT.encode() + b"b,caf\xe9\n"])
def test_a_text_that_is_partly_utf8_is_damaged_and_not_of_another_encoding(reader, data, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(UserError, match="UTF-8"):
        reader(path)


@pytest.mark.parametrize("reader", [open_table, read_rows, read_raw])
@pytest.mark.parametrize("data", [b"a,b\n1,\0\n", b"\xff\xfea,b", b"a,\x81\x8d\n"])
def test_what_is_no_text_is_refused(reader, data, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(data)
    with pytest.raises(UserError):
        reader(path)
