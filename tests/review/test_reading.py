"""Sheets in the dialects of spreadsheet programs are read, and what is wrong is named with file and line."""

from __future__ import annotations

import json

import pytest

from tests.review.making import GRAMMAR, LABEL, make_key
from veridical.errors import UserError
from veridical.review.key import find_key, read_key, write_key
from veridical.review.questions import Question
from veridical.review.reading import read_ratings, sheet_files

KEY = make_key([GRAMMAR], ["x", "y", "z"])
PLAIN = 'id,premise,grammar,comment\nr1i0,"one, two",4,\nr1i1,x,,fine\nr1i2,"a ""b""",1,\n'
GIVEN = {"r1i0": "4", "r1i2": "1"}


def read(tmp_path, data: str | bytes, key=KEY, name: str = "sheet.csv"):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return read_ratings([path], key)


DIALECTS = {
    "as it is": PLAIN.encode(),
    "utf-8 with its mark": PLAIN.encode("utf-8-sig"),
    "utf-16, as Unicode text is saved": PLAIN.replace("one, two", "é").replace(",", "\t").encode("utf-16"),
    "semicolons": PLAIN.replace("one, two", "one; two").replace(",", ";").encode(),
    "semicolons, with a comma in a heading": b'id;"as, given";grammar;comment\nr1i0;"a;b";4;\nr1i1;;;fine\nr1i2;;1;\n',
    "a line that names the delimiter": b"sep=;\r\nid;grammar;comment\r\nr1i0;4;\r\nr1i1;;fine\r\nr1i2;1;\r\n",
    "tabs": b"id\tgrammar\tcomment\nr1i0\t4\t\nr1i1\t\tfine\nr1i2\t1\t\n",
    "line ends of Windows": PLAIN.replace("\n", "\r\n").encode(),
    "line ends of old": PLAIN.replace("\n", "\r").encode(),
    "line breaks in quotes": PLAIN.replace('"one, two"', '"one\r\ntwo\n\nthree"').encode(),
    "everything in quotes": b'"id","grammar","comment"\n"r1i0","4",""\n"r1i1","","fine"\n"r1i2","1",""\n',
    "a Western code page": PLAIN.replace("one, two", "café").encode("cp1252"),
    "numbers with decimals": PLAIN.replace(",4,", ",4.0,").encode(),
    "numbers with a decimal comma": b"id;grammar;comment\nr1i0;4,0;\nr1i1;;fine\nr1i2;1,00;\n",
    "columns in another order, and one more": b"mine,comment,GRAMMAR , Id\n1,,4,r1i0\n2,fine,,r1i1\n3,, 1 ,r1i2\n",
    "blank lines and blank rows": b"\n\nid,grammar,comment\nr1i0,4,\n,,\n\nr1i1,,fine\nr1i2,1,\n,,\n",
    "rows without their last cells": b"id,grammar,comment\nr1i0,4\nr1i1,,fine\nr1i2,1\n",
    "no line end at the end": PLAIN.rstrip("\n").encode(),
}


@pytest.mark.parametrize("data", DIALECTS.values(), ids=DIALECTS)
def test_a_sheet_says_the_same_in_every_dialect(tmp_path, data: bytes) -> None:
    ratings = read(tmp_path, data)
    assert ratings.raters == (1,)
    assert ratings.codes["grammar"].tolist() == [[3], [-1], [0]]
    assert ratings.comments == {(1, 1): "fine"}


def test_labels_are_read_whatever_their_case_and_labels_that_differ_by_case_are_not_confused(tmp_path) -> None:
    data = "id,label\nr1i0,TRUE\nr1i1,false\n"
    booleans = Question(name="label", text="?", values=("True", "False"))
    assert read(tmp_path, data, make_key([booleans], ["x", "y"])).codes["label"].tolist() == [[0], [1]]
    letters = Question(name="label", text="?", values=("a", "A"))
    assert read(tmp_path, "id,label\nr1i0,A\n", make_key([letters], ["x"])).codes["label"].tolist() == [[1]]


FAULTS = {
    "an id of no sheet": (PLAIN.replace("r1i1", "r9i9"), "sheet.csv, line 3: unknown id 'r9i9'"),
    "an id twice": (PLAIN + "r1i0,x,5,\n", "sheet.csv, line 5: id 'r1i0' stands already in .*sheet.csv, line 2"),
    "a value beyond the scale": (
        PLAIN.replace(",4,", ",6,"),
        "sheet.csv, line 2: grammar '6': give one of 1, 2, 3, 4, 5",
    ),
    "a value between": (PLAIN.replace(",4,", ",4.5,"), "sheet.csv, line 2: grammar '4.5'"),
    "a word for a number": (PLAIN.replace(",4,", ",good,"), "sheet.csv, line 2: grammar 'good'"),
    "a fault after a line break in quotes": (
        'id,premise,grammar\nr1i0,"one\n\ntwo",4\nr1i1,x,9\n',
        "sheet.csv, line 5: grammar '9'",
    ),
    "a rating without an id": ("id,grammar\n,4\n", "sheet.csv, line 2: no id"),
    "no column for a question": ("id,grammer\nr1i0,4\n", "sheet.csv, line 1: no column 'grammar'"),
    "no column for ids": ("row,grammar\nr1i0,4\n", "sheet.csv, line 1: no column 'id'"),
    "a column twice": ("id,grammar,Grammar\nr1i0,4,5\n", "sheet.csv, line 1: two columns are called 'grammar'"),
    "nothing": ("", "sheet.csv: no headings"),
    "nothing filled in": ("id,grammar\nr1i0,\n", "no rating in .*sheet.csv"),
    "cut off within quotes": ('id,premise,grammar\nr1i0,x,4\nr1i1,"y', "sheet.csv, line 3: not CSV"),
    "another kind of file": (b"PK\x03\x04\x00\x00\x00\xff\xfe", "sheet.csv: not a text file"),
}


@pytest.mark.parametrize(("data", "message"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_named_with_file_and_line(tmp_path, data: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(tmp_path, data)


def test_an_id_in_two_files_is_refused_even_where_one_is_empty(tmp_path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.csv"
    one.write_text("id,grammar\nr1i0,4\n")
    two.write_text("id,grammar\nr2i0,5\nr1i0,\n")
    with pytest.raises(UserError, match=r"two.csv, line 3: id 'r1i0' stands already in .*one.csv, line 2"):
        read_ratings([one, two], KEY)


def test_raters_are_reported_by_ids_not_by_files(tmp_path) -> None:
    ratings = read(tmp_path, "id,grammar\nr2i2,5\nr1i0,4\nr2i0,3\n", name="whatever.csv")
    assert ratings.raters == (1, 2)
    assert ratings.codes["grammar"].tolist() == [[3, 2], [-1, -1], [-1, 4]]


def test_files_are_named_by_folders_too_and_each_once(tmp_path) -> None:
    folder = tmp_path / "sheets"
    folder.mkdir()
    for name in ("b.csv", "a.csv", "notes.txt"):
        (folder / name).write_text("id\n")
    names = [path.name for path in sheet_files([tmp_path, folder / "a.csv"])]
    assert names == ["a.csv", "b.csv"]
    with pytest.raises(UserError, match="no such file"):
        sheet_files([tmp_path / "none.csv"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="no CSV file in it"):
        sheet_files([tmp_path / "empty"])


def test_the_key_is_sought_next_to_the_sheets_and_above(tmp_path) -> None:
    folder = tmp_path / "review" / "sheets"
    folder.mkdir(parents=True)
    sheet = folder / "rater-1.csv"
    with pytest.raises(UserError, match="--key FILE"):
        find_key([sheet])
    write_key(tmp_path / "review" / "key.json", KEY)
    assert find_key([sheet, folder / "rater-2.csv"]) == tmp_path / "review" / "key.json"
    write_key(tmp_path / "key.json", KEY)
    with pytest.raises(UserError, match="several keys"):
        find_key([sheet, tmp_path / "rater-3.csv"])
    assert read_key(tmp_path / "key.json") == KEY


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema": "veridical.suite/1"}, "not the key of review sheets: its schema is 'veridical.suite/1', not"),
        ({"schema": None}, "not the key of review sheets: it has no field 'schema'.*--key FILE"),
        ({"questions": []}, "field 'questions'"),
        ({"ids": {"bcdfgh": [3, 0]}}, "id 'bcdfgh' stands for rater 3 and item 0, which do not exist"),
        ({"raters": "two"}, "field 'raters'"),
    ],
)
def test_a_key_at_fault_is_named(tmp_path, change, message) -> None:
    path = tmp_path / "key.json"
    write_key(path, make_key([LABEL], ["x"]))
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(UserError, match=rf"key\.json.*{message}"):
        read_key(path)
