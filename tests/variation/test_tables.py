"""Tables of users' files: encodings, separators, quotation marks, and faults reported with their line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.files.tables import open_table

HEADER = "premise\thypothesis\tlabel\n"


def written(folder: Path, content: str | bytes, name: str = "t.tsv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
    return path


def cells(path: Path, encoding: str | None = None) -> list[list[str]]:
    return [list(row.values.values()) for row in open_table(path, encoding).rows()]


@pytest.mark.parametrize(
    ("encoding", "found"),
    [("utf-8", "utf-8"), ("utf-8-sig", "utf-8-sig"), ("cp1252", "cp1252"), ("utf-16", "utf-16"), ("utf-32", "utf-32")],
)
def test_an_encoding_is_detected_and_no_character_changes(tmp_path: Path, encoding: str, found: str) -> None:
    row = ["The café “Zoë” charged £5 – or €6.", "A café", "neutral"]
    path = written(tmp_path, HEADER + "\t".join(row) + "\n", encoding=encoding)
    table = open_table(path)
    assert (table.encoding, table.declared, table.columns) == (found, False, ("premise", "hypothesis", "label"))
    assert cells(path) == [row]


def test_a_declared_encoding_is_used(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER + "žába\tžába\tneutral\n", encoding="iso8859-2")
    assert cells(path, "latin2") == [["žába", "žába", "neutral"]]


def test_a_character_across_two_blocks_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("veridical.files.tables._BLOCK", 1)
    path = written(tmp_path, HEADER + "naïve\tnaïve\tneutral\n")
    assert open_table(path).encoding == "utf-8"


def test_a_table_that_is_in_no_encoding_we_guess_names_the_line(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER.encode() + b"caf\xe9 \x81\tx\tneutral\n")
    with pytest.raises(UserError, match=r"line 2: neither UTF-8 nor cp1252.*--encoding"):
        open_table(path)


@pytest.mark.parametrize(
    ("content", "encoding", "words"),
    [
        (HEADER + "a\tb\tc\n", "utf-9", "unknown encoding 'utf-9'"),
        (HEADER + "a\tb\tc\n", "hex", "unknown encoding 'hex'"),
        (HEADER.encode() + b"a\tb\tc\nd\xe9\te\tf\n", "utf-8", "line 3: not text in the encoding 'utf-8'"),
        (HEADER + "a\0\tb\tc\n", None, "line 2"),
        ("", None, "the file is empty"),
        ("only one column\nx\n", None, "line 1: no table"),
        ('[{"premise": "a"}]', None, "line 1: a JSON list"),
        ("a\tb\ta\n", None, "names a column twice: 'a'"),
        (HEADER + "a\tb\tc\td\n", None, "line 2: 4 cells under 3 columns"),
        ('{"a": "b"}\n{"a": \n', None, "line 2: not one JSON object a line"),
        ('{"a": "b"}\n[1]\n', None, "line 2: a JSON object is needed"),
        ('{"a": "b"}\n{"a": "\\ud800"}\n', None, "line 2: a: half of a character"),
        ('a,b\n"open,x\n', None, "no CSV"),
    ],
)
def test_faults_are_reported_with_their_line(
    tmp_path: Path, content: str | bytes, encoding: str | None, words: str
) -> None:
    path = written(tmp_path, content)
    with pytest.raises(UserError) as message:
        list(open_table(path, encoding).rows())
    assert words in str(message.value)
    assert str(path) in str(message.value) or "unknown encoding" in words


@pytest.mark.parametrize("name", ["missing.tsv", "."])
def test_what_is_not_a_file_is_reported(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match=r"no such file|a folder"):
        open_table(tmp_path / name)


def test_quotation_marks_are_text_in_tsv_and_quote_in_csv(tmp_path: Path) -> None:
    tabs = written(tmp_path, HEADER + '"Go," he said.\t"Go"\tneutral\r\n')
    assert cells(tabs) == [['"Go," he said.', '"Go"', "neutral"]]
    commas = written(tmp_path, 'premise,hypothesis,label\n"""Go,"" he\nsaid.",Go,neutral\n', "t.csv")
    assert cells(commas) == [['"Go," he\nsaid.', "Go", "neutral"]]
    semicolons = written(tmp_path, "premise;hypothesis;label\nA, b;c;neutral\n", "t.csv")
    assert cells(semicolons) == [["A, b", "c", "neutral"]]


def test_separators_that_only_unicode_knows_end_no_row(tmp_path: Path) -> None:
    row = ["one\u2028two\x85three", "four\x0bfive", "neutral"]
    assert cells(written(tmp_path, HEADER + "\t".join(row) + "\n")) == [row]
    line = json.dumps({"premise": row[0], "label": 2}, ensure_ascii=False)
    assert cells(written(tmp_path, line + "\n\n", "t.jsonl")) == [[row[0], "2"]]


@pytest.mark.parametrize(
    "name", ["utf-8", "UTF8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32-le", "gb18030"]
)
@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl"])
def test_a_byte_order_mark_is_not_text_in_a_declared_encoding(tmp_path: Path, name: str, ending: str) -> None:
    row = {"premise": "A café", "hypothesis": "café", "label": "neutral"}
    separator = "\t" if ending == "tsv" else ","
    text = f"{separator.join(row)}\n{separator.join(row.values())}\n" if ending != "jsonl" else f"{json.dumps(row)}\n"
    codec = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le"}.get(name, name)
    path = written(tmp_path, ("\ufeff" + text).encode(codec), f"t.{ending}")
    table = open_table(path, name)
    assert table.columns == ("premise", "hypothesis", "label")
    assert [dict(found.values) for found in table.rows()] == [row]


def test_null_is_an_empty_cell_and_lists_and_objects_are_marked(tmp_path: Path) -> None:
    path = written(tmp_path, '{"a": null, "b": ["x"], "c": {}, "d": 1.5, "e": true, "f": "null"}\n', "t.jsonl")
    (row,) = open_table(path).rows()
    assert row.values["a"] == ""
    assert [row.values[name] for name in "def"] == ["1.5", "true", "null"]
    assert row.nested == {"b", "c"}


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_lines_end_as_any_spreadsheet_program_ends_them(tmp_path: Path, separator: str, end: str) -> None:
    rows = (("premise", "hypothesis", "label"), ("A dog", "dogs", "neutral"), ("A cat", "cats", "neutral"))
    path = written(tmp_path, "".join(separator.join(row) + end for row in rows))
    assert cells(path) == [list(row) for row in rows[1:]]


def test_a_carriage_return_in_a_cell_ends_no_row(tmp_path: Path) -> None:
    row = ["one\rtwo", "three", "neutral"]
    assert cells(written(tmp_path, HEADER + "\t".join(row) + "\n")) == [row]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_line_that_names_the_separator_is_not_a_header(tmp_path: Path, separator: str, end: str) -> None:
    lines = (f"sep={separator}", separator.join(("premise", "label")), separator.join(("A dog", "neutral")))
    table = open_table(written(tmp_path, "".join(line + end for line in lines)))
    assert table.columns == ("premise", "label")
    assert [(row.line, dict(row.values)) for row in table.rows()] == [(3, {"premise": "A dog", "label": "neutral"})]
