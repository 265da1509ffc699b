"""The commands as a user calls them."""

from __future__ import annotations

import json

import pytest

from tests.cli.test_bad_input import call, fault
from tests.review.making import fill, make_suite
from veridical.review.sheets import Written, write_sheets
from veridical.suites.file_writer import write_suite


@pytest.fixture
def written(tmp_path) -> Written:
    written = write_sheets(make_suite("accuracy", n_sets=4, per_set=2), raters=2, out=tmp_path / "review")
    wrong = written.key.items[0].item
    fill(
        written,
        lambda rater, item, question: "neutral" if item.item == wrong and rater == 2 else item.expected["label"][0],
    )
    return written


def test_a_review_from_sheet_to_agreement(tmp_path) -> None:
    write_suite(make_suite("accuracy"), tmp_path / "pets.jsonl")
    done = call("review", "sheet", "pets.jsonl", "--raters", "2", "--sample", "6", "--seed", "4", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "review-pets/sheets" in done.stdout
    assert "6 items, 2 raters" in done.stdout
    assert sorted(path.name for path in (tmp_path / "review-pets" / "sheets").glob("*.csv")) == [
        "rater-1.csv",
        "rater-2.csv",
    ]
    assert "no rating in" in fault("review", "agreement", "review-pets", cwd=tmp_path)
    again = fault("review", "sheet", "pets.jsonl", cwd=tmp_path)
    assert "choose another --out" in again


def test_agreement_is_printed_with_the_disagreements(written: Written) -> None:
    done = call("review", "agreement", written.folder)
    assert done.returncode == 0, done.stderr
    assert "exact agreement" in done.stdout
    assert ".875" in done.stdout
    assert "rater 1: entailment, rater 2: neutral; expected entailment" in " ".join(done.stdout.split())
    assert "premise: The dog number 0 barked." in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


def test_agreement_as_one_json_document(written: Written) -> None:
    done = call("review", "agreement", *[path for path in written.files if path.suffix == ".csv"], "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["schema"] == "veridical.agreement/1"
    (label,) = document["questions"]
    assert label["exact"]["value"] == 0.875
    assert label["raters"][1]["expected_sets"]["value"] == 0.75
    assert [found["ratings"] for found in document["disagreements"]] == [{"1": "entailment", "2": "neutral"}]


def test_a_wrong_word_is_named(tmp_path, written: Written) -> None:
    sheets = written.folder / "rater-1.csv"
    for arguments, words in (
        (["review", "sheet", "evidnce"], "did you mean 'evidence'"),
        (["review", "sheet", "evidence", "--raters", "0"], "--raters"),
        (["review", "sheet", "evidence", "--sample", "1"], "judged whole"),
        (["review", "sheet", "none.jsonl"], "none.jsonl"),
        (["review", "agreement", "none.csv"], "none.csv: no such file"),
        (["review", "agreement", sheets, "--key", "none.json"], "none.json: no such file"),
        (["review", "agreement", sheets, "--key", sheets], "not JSON"),
        (["review", "agreement", sheets, sheets, "--jsn"], "No such option: --jsn"),
    ):
        assert words in fault(*arguments, cwd=tmp_path)
    assert not (tmp_path / "review-evidence").exists()
