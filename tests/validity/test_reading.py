"""Tables as programs write them, and the place in the file of what is at fault."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from tests.validity.test_table import ROLES, changed, rows
from veridical.errors import UserError
from veridical.validity.quality import quality
from veridical.validity.roles import Roles
from veridical.validity.table import ScoreTable
from veridical.validity.table_reading import read_table


def text(table: list[dict[str, str]], separator: str = ",") -> str:
    return "\n".join([separator.join(table[0]), *(separator.join(row.values()) for row in table)]) + "\n"


def same(one: ScoreTable, other: ScoreTable) -> bool:
    return one.models == other.models and np.array_equal(one.scores, other.scores) and one.families == other.families


@pytest.fixture
def expected(tmp_path: Path) -> ScoreTable:
    (tmp_path / "plain.csv").write_text(text(rows()))
    return read_table(tmp_path / "plain.csv", ROLES)


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("mark.csv", text(rows()).encode("utf-8-sig")),
        ("wide.csv", text(rows()).encode("utf-16")),
        ("semicolons.csv", text(rows(), ";").encode()),
        ("tabs.csv", text(rows(), "\t").encode()),
        ("windows.csv", text(rows()).replace("\n", "\r\n").encode()),
        ("gaps.csv", text(rows()).replace("\nm4", "\n\n\nm4").encode()),
        # R writes quotation marks around all text, in tables with tabs too.
        ("quoted.tsv", text([{f'"{k}"': v for k, v in row.items()} for row in rows()], "\t").encode()),
    ],
)
def test_tables_as_programs_write_them(tmp_path, expected, name, written) -> None:
    (tmp_path / name).write_bytes(written)
    assert same(read_table(tmp_path / name, ROLES), expected)


def test_a_table_that_is_not_unicode_is_read_as_windows_writes_it(tmp_path) -> None:
    (tmp_path / "a.csv").write_bytes(text(changed(model="modèle")).encode("cp1252"))
    assert read_table(tmp_path / "a.csv", ROLES).models[2] == "modèle"


def test_bytes_that_are_not_text_name_no_option_that_is_not_there(tmp_path) -> None:
    (tmp_path / "a.csv").write_bytes(b"model,family\nm,\x81\n")
    with pytest.raises(UserError, match="line 2: neither UTF-8 nor cp1252; save it as UTF-8") as wording:
        read_table(tmp_path / "a.csv", ROLES)
    assert "--encoding" not in str(wording.value)


def test_a_place_is_the_line_in_the_file_whatever_stands_before_it(tmp_path) -> None:
    lines = text(changed(bench="good")).splitlines()
    (tmp_path / "a.csv").write_text("\n".join([lines[0], "", "", *lines[1:]]))
    with pytest.raises(UserError, match=r"line 6 \(m2\), column 'bench'"):
        read_table(tmp_path / "a.csv", ROLES)


LONG = [
    {"model": row["model"], "family": row["family"], "size": row["size"], "task": name, "score": row[name]}
    for row in rows()
    for name in ("bench", "check", "goal")
]


@pytest.mark.parametrize(
    ("row", "cells", "wording"),
    [
        (7, {"score": "bad"}, r"line 9 \(m2\), column 'check': 'bad' is not a number"),
        (7, {"size": "99"}, r"line 9: model 'm2' has '99' under 'size', and '3' in line 8"),
        (7, {"task": ""}, "line 9: every row of a long table names a 'model' and a 'task'"),
        (7, {"task": "bench"}, r"line 9: model 'm2' has a second score on 'bench' \(the first: line 8\)"),
        (7, {"task": "size"}, "'size' is a benchmark and a column"),
    ],
)
def test_the_place_of_a_fault_in_a_long_table(tmp_path, row, cells, wording) -> None:
    table = [dict(one) for one in LONG]
    table[row] |= cells
    (tmp_path / "a.csv").write_text(text(table))
    with pytest.raises(UserError, match=wording):
        read_table(tmp_path / "a.csv", ROLES)


@pytest.mark.parametrize(
    ("cell", "wording"),
    [
        ("0,45", "write 0.45, with a point"),
        ("45 %", "write 45, without the sign"),
        ("1_000", "leave the cell empty where there is no score"),
        ("-Infinity", "is not a finite number"),
        ("1e999", "is not a finite number"),
    ],
)
def test_what_to_write_instead_of_a_score_is_said(tmp_path, cell, wording) -> None:
    (tmp_path / "a.csv").write_text(text(changed(bench=cell), ";"))
    with pytest.raises(UserError, match=wording):
        read_table(tmp_path / "a.csv", ROLES)


@pytest.mark.parametrize("cell", ["NA", "n/a", "#N/A", "NaN", "null", " "])
def test_a_cell_may_say_that_there_is_no_score(tmp_path, cell) -> None:
    (tmp_path / "a.csv").write_text(text(changed(bench=cell)))
    assert np.isnan(read_table(tmp_path / "a.csv", ROLES).column("bench")[2])


def test_a_comma_in_a_size_groups_thousands_and_is_not_a_decimal_point(tmp_path) -> None:
    table = [row | {"size": f"{int(row['size']) * 1_000_000_000:,}"} for row in rows()]
    (tmp_path / "a.csv").write_text(text(table, ";"))
    assert read_table(tmp_path / "a.csv", ROLES).size[2] == 3e9
    (tmp_path / "b.csv").write_text(text(changed(size="1,5"), ";"))
    with pytest.raises(UserError, match=r"'1,5' is not a size; write 1\.5, with a point"):
        read_table(tmp_path / "b.csv", ROLES)


@pytest.mark.parametrize(
    ("document", "wording"),
    [
        ('[{"model": "m", "bench": NaN}]', "NaN is not a JSON number; write null"),
        ('[{"model": "m", "model": "n"}]', "'model' is given twice"),
        ('[{"model": "m", "bench": [1]}]', "row 1, column 'bench': a list or an object"),
        ('[{"model": "m", "bench": ' + "9" * 5_000 + "}]", "too long"),
        ("[" * 3_000 + "]" * 3_000, "nested too deeply"),
        ('[{"model":', "line 1: no JSON"),
        ("[]", "no rows"),
        ("{}", "list of records"),
        ("3", "list of records"),
    ],
)
def test_json_that_is_not_a_table(tmp_path, document, wording) -> None:
    (tmp_path / "a.json").write_text(document)
    with pytest.raises(UserError, match=wording) as error:
        read_table(tmp_path / "a.json", ROLES)
    assert len(str(error.value)) < 300


def test_json_lines_are_a_table(tmp_path, expected) -> None:
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows()))
    assert same(read_table(tmp_path / "a.jsonl", ROLES), expected)


def test_a_column_of_lists_is_not_a_column_of_scores(tmp_path) -> None:
    frame = pl.DataFrame(rows()).with_columns(pl.concat_list("bench").alias("bench"))
    frame.write_parquet(tmp_path / "a.parquet")
    with pytest.raises(UserError, match="column 'bench': neither text nor numbers"):
        read_table(tmp_path / "a.parquet", ROLES)
    (tmp_path / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(UserError, match="no Parquet file"):
        read_table(tmp_path / "b.parquet", ROLES)


def test_numbers_of_rows_are_not_a_benchmark_and_what_is_taken_for_one_is_said(tmp_path) -> None:
    table = [{"": str(place)} | row | {"note": "fine"} for place, row in enumerate(rows())]
    (tmp_path / "a.csv").write_text(text(table))
    found = read_table(tmp_path / "a.csv", Roles(outcomes={"goal": ""}))
    assert found.roles.benchmarks == ("bench", "check")
    (note,) = [note for note in quality(found) if note.kind == "benchmarks"]
    assert note.where == ("bench", "check")
    assert not [note for note in quality(read_table(tmp_path / "a.csv", ROLES)) if note.kind == "benchmarks"]


def test_families_of_one_name_but_for_case_are_reported(tmp_path) -> None:
    (tmp_path / "a.csv").write_text(text(changed(family="F-2")))
    (note,) = [note for note in quality(read_table(tmp_path / "a.csv", ROLES)) if note.kind == "same family"]
    assert note.where == ("F-2", "f2")


def test_a_benchmark_that_is_the_outcome_in_another_unit_is_refused(tmp_path) -> None:
    table = [row | {"bench": f"{100 * float(row['goal']):.2f}"} for row in rows()]
    (tmp_path / "a.csv").write_text(text(table))
    with pytest.raises(UserError, match="bench is goal in another unit: it predicts goal because it is made of it"):
        read_table(tmp_path / "a.csv", ROLES)


def test_two_benchmarks_that_are_one_in_another_unit_are_reported(tmp_path) -> None:
    table = [row | {"check": f"{100 * float(row['bench']):.2f}"} for row in rows()]
    (tmp_path / "a.csv").write_text(text(table))
    (note,) = [note for note in quality(read_table(tmp_path / "a.csv", ROLES)) if note.kind == "same column"]
    assert note.message == "bench, check hold the same scores but for their unit"


def test_sizes_that_are_all_one_are_reported(tmp_path) -> None:
    (tmp_path / "a.csv").write_text(text([row | {"size": "7B"} for row in rows()]))
    (note,) = [note for note in quality(read_table(tmp_path / "a.csv", ROLES)) if note.kind == "constant"]
    assert "size predicts nothing" in note.message


def test_controls_without_a_score_do_not_spoil_the_look_at_their_units(tmp_path) -> None:
    table = [row | {"other": "", "check": f"{100 * float(row['check']):.0f}"} for row in rows()]
    (tmp_path / "a.csv").write_text(text(table))
    assert read_table(tmp_path / "a.csv", replace(ROLES, controls=("check", "other"))).roles.controls[1] == "other"
