"""Cells that a spreadsheet program would run are kept from it, and come back as they were."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from veridical.files.csv_text import csv_text, plain_cell, safe_cell
from veridical.studies.validity import validity
from veridical.validity.reading import read_raw

RUN = ("=1+1", "+1", "-1", "@x", "\t=1", "\r=1", "=cmd|' /C calc'!A0", "\N{FULLWIDTH EQUALS SIGN}1")


@pytest.mark.parametrize("text", RUN)
def test_what_would_be_run_is_text(text) -> None:
    assert safe_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["", "a=1", "org/net-1", "'quoted'", "5", " =1", "don't"])
def test_other_texts_stay(text) -> None:
    assert safe_cell(text) == text == plain_cell(text)


@given(st.text(alphabet="'=+-@\t\r ab1", max_size=8))
def test_every_text_comes_back(text) -> None:
    assert plain_cell(safe_cell(text)) == text
    assert safe_cell(text)[:1] not in tuple("=+-@\t\r")


def test_every_cell_is_quoted_and_numbers_stay() -> None:
    text = csv_text([("model", "gain"), ("=x", -0.5), ('say "a"', None)])
    assert text == '"model","gain"\n"\'=x","-0.5"\n"say ""a""",""\n'
    assert next(csv.reader(io.StringIO(text))) == ["model", "gain"]


def test_a_table_that_was_written_is_read_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(csv_text([("model", "=bench"), *((f"-m{i}", -float(i)) for i in range(9))]))
    raw = read_raw(path)
    assert raw.frame.columns == ["model", "=bench"]
    assert raw.texts("model")[3] == "-m3"
    assert raw.texts("=bench")[3] == "-3.0"


def test_models_whose_names_look_like_formulas_are_suggested_and_found_again(tmp_path: Path) -> None:
    scores, models = tmp_path / "s.csv", tmp_path / "models.csv"
    scores.write_text("model,a,b\n" + "".join(f"@net{i}-{i + 1}b,{i}.5,{9 - i}.25\n" for i in range(9)))
    with pytest.raises(Exception, match="is written: families and sizes are suggestions"):
        validity(scores, models=models)
    assert models.read_text().splitlines()[:2] == ['"model","family","size"', '"\'@net0-1b","\'@net0-1b","1000000000"']
    assert validity(scores, models=models, draws=99).table.models[2] == "@net2-3b"
