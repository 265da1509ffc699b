"""The reader of rows: one row whatever the format, and one line for whatever is wrong with a file."""

from __future__ import annotations

import bz2
import gzip
import lzma
from pathlib import Path

import polars as pl
import pytest

from veridical.errors import UserError
from veridical.suites.commonsense.rows import Row, read_rows, read_values, with_values

ROWS = [
    {"goal": "dry shoes, fast", "n": "1", "ends": '["a", "b"]'},
    {"goal": 'say "hi"\nto Zoë', "n": "2", "ends": '["c"]'},
]


def write(folder: Path, ending: str) -> Path:
    path = folder / f"rows{ending}"
    frame = pl.DataFrame(ROWS)
    match ending:
        case ".jsonl":
            frame.write_ndjson(path)
        case ".json":
            frame.write_json(path)
        case ".csv":
            frame.write_csv(path)
        case ".tsv":
            frame.write_csv(path, separator="\t")
        case ".parquet":
            frame.write_parquet(path)
        case ".arrow":
            frame.write_ipc_stream(path)
    return path


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow"])
def test_every_format_gives_the_same_rows(ending: str, tmp_path: Path) -> None:
    rows = read_rows(write(tmp_path, ending))
    assert [dict(row.values) for row in rows] == ROWS
    assert [row.number for row in rows] == [0, 1]
    assert rows[1].text("goal") == 'say "hi"\nto Zoë'
    assert rows[0].whole("n") == 1
    assert rows[0].texts("ends") == ("a", "b")


def test_json_lines_may_be_called_json(tmp_path: Path) -> None:
    path = write(tmp_path, ".jsonl").rename(tmp_path / "rows.json")
    assert [dict(row.values) for row in read_rows(path)] == ROWS


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ('{"data": [{"a": 1}]}', [{"a": 1}]),
        ('{"s1": {"a": 1}, "s2": {"a": 2}}', [{"id": "s1", "a": 1}, {"id": "s2", "a": 2}]),
        ('{"a": 1, "b": [2]}', [{"a": 1, "b": [2]}]),
    ],
)
def test_a_json_document_holds_its_records_as_a_list_or_by_their_ids(text: str, values: object, tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(text)
    assert [dict(row.values) for row in read_rows(path)] == values


def test_a_byte_order_mark_and_blank_lines_are_not_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("﻿goal,label\r\nboil,1\r\n,\r\n\r\nfry,2\r\n".encode())
    assert [dict(row.values) for row in read_rows(path)] == [
        {"goal": "boil", "label": "1"},
        {"goal": "fry", "label": "2"},
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("rows.jsonl", '{"a": 1}\n{"a": \n', "rows.jsonl, line 2, column .*not JSON"),
        ("rows.jsonl", '{"a": 1}\n{"a": 1', "line 2.*is the file cut off"),
        ("rows.jsonl", '{"a": NaN}\n', "line 1, field 'a': NaN is not a JSON number"),
        ("rows.jsonl", "[1]\n", "line 1: an object with fields is needed, this is a list"),
        ("rows.json", "[1, 2]", "record 1: an object with fields is needed, this is a whole number"),
        ("rows.json", '{"a": [}', "line 1, column 8: not JSON"),
        ("rows.csv", "a,b\n1\n", "line 2: 1 cells for 2 columns"),
        ("rows.csv", "a,a\n1,2\n", "line 1: two columns are called 'a'"),
        ("rows.csv", 'a,b\n1,"2\n3,4\n', "line 3: not a table: a quotation mark is left open"),
        ("rows.csv", "a,b\n", "no rows"),
        ("rows.parquet", "not parquet", "not a Parquet file"),
        ("rows.arrow", "not arrow", "not an Arrow stream"),
        ("rows.xlsx", "x", r"unknown kind of file '.xlsx'; these are read: .jsonl, .json, .csv, .tsv, .parquet"),
        ("rows.jsonl", "", "the file is empty"),
    ],
)
def test_a_file_at_fault_is_reported_in_one_line(name: str, content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(UserError, match=message) as error:
        read_rows(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_a_table_that_is_not_utf8_is_read_as_cp1252_and_said(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("goal\nplain\ncafé “x”\n".encode("cp1252"))
    notes: list[str] = []
    assert [row.values["goal"] for row in read_rows(path, notes)] == ["plain", "café “x”"]
    assert notes == [f"{path}: not UTF-8; read as cp1252"]


def test_utf8_that_is_damaged_is_not_taken_for_cp1252(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("goal\ncafé\n".encode() + "naïve".encode()[:3])
    with pytest.raises(UserError, match=r"line 3: not UTF-8 text"):
        read_rows(path)


def test_json_lines_that_are_not_utf8_are_refused_with_their_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes('{"goal": "plain"}\n{"goal": "café"}\n'.encode("cp1252"))
    with pytest.raises(UserError, match=r"line 2: not UTF-8 text"):
        read_rows(path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("name", ["rows.csv", "rows.tsv"])
@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_a_table_is_read_whatever_separates_its_cells(
    delimiter: str, name: str, ends: str, encoding: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    lines = ["goal|label|why", '"boil; or fry, it|x"|1|', "fry|2|café", ""]
    table = ends.join(line if '"' in line else line.replace("|", delimiter) for line in lines).replace(
        '"|1|', f'"{delimiter}1{delimiter}'
    )
    path.write_bytes(table.encode(encoding))
    assert [dict(row.values) for row in read_rows(path)] == [
        {"goal": "boil; or fry, it|x", "label": "1", "why": ""},
        {"goal": "fry", "label": "2", "why": "café"},
    ]


def test_a_first_line_may_name_the_delimiter(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("sep=;\ngoal;label\na, b;1\n")
    assert [dict(row.values) for row in read_rows(path)] == [{"goal": "a, b", "label": "1"}]


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".zst"])
def test_compressed_files_are_read(ending: str, tmp_path: Path) -> None:
    text = b'{"goal": "boil it"}\n{"goal": "caf\xc3\xa9"}\n'
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
    if ending == ".zst":
        pyarrow = pytest.importorskip("pyarrow")
        data = pyarrow.compress(text, codec="zstd", asbytes=True)
    else:
        data = compress[ending](text)
    path = tmp_path / f"rows.jsonl{ending}"
    path.write_bytes(data)
    assert [row.values["goal"] for row in read_rows(path)] == ["boil it", "café"]
    path.write_bytes(data[:20])
    with pytest.raises(UserError, match=f"not a {ending} file"):
        read_rows(path)


def test_arrow_files_are_read_as_arrow_streams_are(tmp_path: Path) -> None:
    path = tmp_path / "rows.arrow"
    pl.DataFrame(ROWS).write_ipc(path)
    assert [dict(row.values) for row in read_rows(path)] == ROWS


LFS = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4d7a2146' * 8}\nsize 12345\n"


@pytest.mark.parametrize("ending", [".jsonl", ".json", ".csv", ".tsv", ".parquet", ".arrow", ".jsonl.gz"])
def test_a_pointer_of_git_lfs_is_named_with_the_way_to_the_file(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"rows{ending}"
    path.write_text(LFS)
    with pytest.raises(UserError, match=r"a Git LFS pointer, not the data themselves; run 'git lfs pull' in"):
        read_rows(path)


def test_pointers_of_git_annex_are_named_with_the_way_to_the_file(tmp_path: Path) -> None:
    path, link = tmp_path / "rows.csv", tmp_path / "link.csv"
    path.write_text("/annex/objects/SHA256E-s1234--abcdef.csv\n")
    link.symlink_to(".git/annex/objects/f8/x9/SHA256E-s1234--abcdef.csv/SHA256E-s1234--abcdef.csv")
    for one in (path, link):
        with pytest.raises(UserError, match=rf"a git-annex pointer, .*'git annex get {one.name}'"):
            read_rows(one)


@pytest.mark.parametrize(
    "cell", ["['a b', \"it's\"]", "['a b' \"it's\"]", '["a b", "it\'s"]', "['a b'\n \"it's\"]", "['a b', 'it\\'s']"]
)
def test_lists_are_read_as_json_and_as_python_writes_them(cell: str) -> None:
    assert Row({"choices": cell}, "f", "line 1").texts("choices") == ("a b", "it's")


@pytest.mark.parametrize("cell", ["[1, 2]", "['a', 2]", "a, b", "{'a': 1}", "[" * 10_000])
def test_what_is_not_a_list_of_texts_is_refused(cell: str) -> None:
    with pytest.raises(UserError, match="a list"):
        Row({"choices": cell}, "f", "line 1").texts("choices")


def test_a_missing_or_blank_field_is_reported_with_file_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text("goal,label\n ,x\n")
    row = read_rows(path)[0]
    with pytest.raises(
        UserError, match=r"rows.csv, line 2, field 'sol1': there is no such field; the row has goal, label"
    ):
        row.text("sol1")
    with pytest.raises(UserError, match=r"rows.csv, line 2, field 'goal': it is blank"):
        row.text("goal")
    assert row.maybe("goal") == row.maybe("sol1") == ""
    with pytest.raises(UserError, match=r"field 'label': a whole number is needed, this is 'x'"):
        row.whole("label")
    with pytest.raises(UserError, match=r"field 'label': a list is needed, this is text"):
        row.texts("label")


@pytest.mark.parametrize(("written", "number"), [(1, 1), ("1", 1), (1.0, 1), (" 2 ", 2), (-1, -1)])
def test_whole_numbers_are_read_however_they_are_written(written: object, number: int) -> None:
    assert Row({"label": written}, "file", "line 1").whole("label") == number


def test_labels_next_to_go_with_the_rows_in_order(tmp_path: Path) -> None:
    labels = tmp_path / "labels.lst"
    labels.write_text("0\r\n1\r\n\n")
    rows = [Row({"a": "x"}, "file", "line 1"), Row({"a": "y"}, "file", "line 2")]
    assert [row.values for row in with_values(rows, labels, "label")] == [
        {"a": "x", "label": "0"},
        {"a": "y", "label": "1"},
    ]
    with pytest.raises(UserError, match=r"labels.lst: 2 labels for 1 rows of file: are they of one split"):
        with_values(rows[:1], labels, "label")
    labels.write_text("0\n\n1\n")
    with pytest.raises(UserError, match=r"line 2: the label is blank"):
        with_values([*rows, rows[0]], labels, "label")


def test_a_list_is_one_value_a_line_or_json(tmp_path: Path) -> None:
    (tmp_path / "ids.txt").write_text("3\n14 \n")
    (tmp_path / "ids.json").write_text("[3, 14]")
    assert read_values(tmp_path / "ids.txt") == read_values(tmp_path / "ids.json") == ["3", "14"]


def test_a_text_in_the_place_of_a_label_is_not_reported_whole() -> None:
    row = Row({"label": "word " * 4000}, "file", "line 1")
    with pytest.raises(UserError, match=r"^file, line 1, field 'label': a whole number is needed, .* … ") as message:
        row.whole("label")
    assert len(str(message.value)) < 400
