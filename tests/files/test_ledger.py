"""Everything that is read is used or left out for a reason, and this is shown: tables of scores, sheets, data files."""

from __future__ import annotations

import pytest

from tests.review.making import GRAMMAR, make_key
from tests.validity.test_table import ROLES, rows, write
from veridical.files.ledger import Ledger, account
from veridical.report.validity_tables import render
from veridical.review.agreement import measured
from veridical.review.reading import read_ratings
from veridical.validity.analysis import analyse
from veridical.validity.roles import Roles
from veridical.validity.table_reading import read_table


def test_an_account_is_a_line():
    ledger = Ledger(read=3, used=3)
    assert account(ledger, "rows read", "models") == "3 rows read, all models"
    ledger.take(2)
    ledger.leave("empty", 2)
    assert account(ledger, "rows read", "models") == "5 rows read = 3 models + 2 left out (2 empty)"


# Tables of scores


def roles(duplicates: str = "refuse") -> Roles:
    return Roles(benchmarks=ROLES.benchmarks, controls=ROLES.controls, outcomes=ROLES.outcomes, duplicates=duplicates)


def test_rows_of_a_wide_table_are_accounted_for(tmp_path):
    """9 models, one of them twice with the same cells and once with others; 2 of 27 cells are empty."""
    table = rows()
    table[2]["bench"], table[5]["goal"] = "", "-"
    table += [dict(table[0]), {**table[1], "bench": "0.99"}]
    found = read_table(write(tmp_path / "a.csv", table), roles("first"))
    assert found.account == (
        "11 rows read = 9 models + 2 left out (1 identical second row; 1 further row of a model, the first is used); "
        "25 of 27 cells hold a score"
    )
    assert read_table(write(tmp_path / "b.csv", rows()), roles()).account == (
        "9 rows read, all models; 27 of 27 cells hold a score"
    )


@pytest.mark.parametrize("duplicates", ["first", "mean"])
def test_rows_of_a_long_table_are_accounted_for(tmp_path, duplicates):
    """9 x 3 scores and 9 on a benchmark that nobody named; one empty, one given twice."""
    long = [
        {"model": row["model"], "family": row["family"], "size": row["size"], "benchmark": name, "score": score}
        for row in rows()
        for name, score in {**{part: row[part] for part in ("bench", "check", "goal")}, "other": "0.5"}.items()
    ]
    long[4]["score"] = ""
    long.append({**long[0], "score": "0.9"})
    found = read_table(write(tmp_path / "a.csv", long), roles(duplicates))
    rule = "the first is used" if duplicates == "first" else "the mean is used"
    assert found.account.startswith("37 rows read = 26 scores + 11 left out (9 on a benchmark without a role; ")
    assert f"1 further score of a model on a benchmark, {rule}" in found.account
    assert "1 without a score" in found.account


def test_the_account_stands_in_the_document_and_in_the_terminal(tmp_path):
    record = analyse(read_table(write(tmp_path / "a.csv", rows()), ROLES), draws=99).record
    assert record.account == "9 rows read, all models; 27 of 27 cells hold a score"
    lines = [str(part) for part in render(record).renderables[:2]]  # type: ignore[attr-defined]
    assert lines[1] == f"{record.account}."


# Sheets


def test_rows_of_sheets_are_accounted_for(tmp_path):
    """Of three rows handed out to the one rater there are two, one without a rating."""
    path = tmp_path / "sheet.csv"
    path.write_text("id,grammar,comment\nr1i0,4,\nr1i1,,later\n")
    ratings = read_ratings([path], make_key([GRAMMAR], ["x", "y", "z"]))
    found = measured(ratings, draws=9)
    assert found.account == (
        "2 rows in the sheets = 1 rated + 1 left out (1 without a rating); "
        "1 more handed out to these raters is not there"
    )
