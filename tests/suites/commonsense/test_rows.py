"""The reader of rows: one row whatever the format, and one line for whatever is wrong with a file."""

from __future__ import annotations

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


def test_a_byte_order_mark_and_blank_lines_are_no_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("﻿goal,label\r\nboil,1\r\n,\r\n\r\nfry,2\r\n".encode())
    assert [dict(row.values) for row in read_rows(path)] == [
        {"goal": "boil", "label": "1"},
        {"goal": "fry", "label": "2"},
    ]


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("rows.jsonl", '{"a": 1}\n{"a": \n', "rows.jsonl, line 2, column .*not JSON"),
        ("rows.jsonl", '{"a": 1}\n{"a": 1', "line 2.*is the file cut off"),
        ("rows.jsonl", '{"a": NaN}\n', "line 1, field 'a': NaN is no JSON number"),
        ("rows.jsonl", "[1]\n", "line 1: an object with fields is needed, this is a list"),
        ("rows.json", "[1, 2]", "record 1: an object with fields is needed, this is a whole number"),
        ("rows.json", '{"a": [}', "line 1, column 8: not JSON"),
        ("rows.csv", "a,b\n1\n", "line 2: 1 cells for 2 columns"),
        ("rows.csv", "a,a\n1,2\n", "line 1: two columns are called 'a'"),
        ("rows.csv", 'a,b\n1,"2\n3,4\n', "is a quotation mark left open"),
        ("rows.csv", "a,b\n", "no rows"),
        ("rows.parquet", "not parquet", "not a Parquet file"),
        ("rows.arrow", "not arrow", "not an Arrow stream"),
        ("rows.xlsx", "x", r"unknown kind of file '.xlsx'; these are read: .jsonl, .json, .csv, .tsv, .parquet"),
        ("rows.jsonl", "", "the file is empty"),
    ],
)
def test_a_file_at_fault_is_told_in_one_line(name: str, content: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(UserError, match=told) as error:
        read_rows(path)
    assert "\n" not in str(error.value)
    assert str(path) in str(error.value)


def test_cp1252_is_told_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_bytes("goal\nplain\ncafé\n".encode("cp1252"))
    with pytest.raises(UserError, match=r"line 3: not UTF-8 text"):
        read_rows(path)


def test_a_missing_or_blank_field_is_told_with_file_line_and_field(tmp_path: Path) -> None:
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


def test_labels_beside_go_with_the_rows_in_order(tmp_path: Path) -> None:
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


def test_a_text_in_the_place_of_a_label_is_not_told_whole() -> None:
    row = Row({"label": "word " * 4000}, "file", "line 1")
    with pytest.raises(UserError, match=r"^file, line 1, field 'label': a whole number is needed, .* … ") as told:
        row.whole("label")
    assert len(str(told.value)) < 400
