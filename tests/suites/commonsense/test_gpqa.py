"""GPQA-Diamond: rows of our own with the columns of gpqa_diamond.csv (github.com/idavidrein/gpqa), a part of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import judged, named, of_file, published, read_csv, write_csv
from veridical.errors import UserError

FILE = PUBLISHED / "gpqa-diamond" / "gpqa_diamond.csv"


def test_the_question_is_put_with_its_four_answers_and_the_letters_are_scored() -> None:
    item, pairs = {item.name: (item, pairs) for item, pairs in requests(published("gpqa-diamond").suite)}["recOurs03"]
    context = pairs[0][0]
    head, *listed = context.split("\n")

    assert head == "What is the correct answer to this question:Which cell carries oxygen in the blood?"
    assert listed[0] == "Choices:"
    assert sorted(line[4:] for line in listed[1:5]) == [
        "A platelet",
        "A red cell. The erythrocyte",  # lm-eval's cleaning: " [title]" becomes ". "
        "A stem cell",
        "A white cell",
    ]
    assert [line[:4] for line in listed[1:5]] == ["(A) ", "(B) ", "(C) ", "(D) "]
    assert listed[5:] == ["Answer:"]
    assert [text for _, text in pairs] == [" (A)", " (B)", " (C)", " (D)"]
    assert listed["ABCD".index(item.gold[0]) + 1].endswith("A red cell. The erythrocyte")


def test_white_space_of_an_answer_is_cleaned_as_in_the_harness() -> None:
    fields = named(published("gpqa-diamond").suite)["recOurs01"].fields

    assert "A litre of brine" in {fields[letter] for letter in "ABCD"}
    assert fields["question"].endswith("temperature?\nTake one litre of each.")


def test_the_order_of_the_answers_does_not_depend_on_the_columns(tmp_path: Path) -> None:
    rows = read_csv(FILE)
    for row in rows:
        row["Incorrect Answer 1"], row["Incorrect Answer 3"] = row["Incorrect Answer 3"], row["Incorrect Answer 1"]
    swapped = of_file("gpqa-diamond", write_csv(tmp_path / "gpqa_diamond.csv", rows)).suite

    assert swapped.content_hash == published("gpqa-diamond").suite.content_hash


def test_the_right_answer_is_not_always_at_one_place(tmp_path: Path) -> None:
    rows = [read_csv(FILE)[0] | {"Question": f"Which is heavier, case {number}?"} for number in range(40)]
    suite = of_file("gpqa-diamond", write_csv(tmp_path / "gpqa_diamond.csv", rows)).suite

    assert {item.gold[0] for item in suite.items} == set("ABCD")


def test_accuracy_is_given_by_domain() -> None:
    measured = judged(published("gpqa-diamond").suite, lambda item: item.gold[0])

    assert measured("accuracy", domain="Physics").value == 1
    assert measured("accuracy", domain="Physics").n_items == 1


def test_a_missing_column_is_named(tmp_path: Path) -> None:
    rows = [{name: cell for name, cell in row.items() if name != "Incorrect Answer 2"} for row in read_csv(FILE)]

    with pytest.raises(UserError, match=r"gpqa_diamond\.csv, line 3, field 'Incorrect Answer 2': there is no such"):
        of_file("gpqa-diamond", write_csv(tmp_path / "gpqa_diamond.csv", rows))
