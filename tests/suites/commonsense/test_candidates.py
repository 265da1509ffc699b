"""Rows with a choice that stands twice, folders with several files that could be read, and long texts in messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.suites.commonsense.asking import PUBLISHED
from tests.suites.commonsense.planted import of_file, write_jsonl
from veridical.errors import UserError
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy

PIQA = {"goal": "keep a lid shut", "sol1": "tie it", "sol2": "paint it", "label": 0}
HELLASWAG = {
    "ind": 1,
    "activity_label": "Rowing",
    "ctx_a": "A man sits in a boat.",
    "ctx_b": "he",
    "endings": ["rows.", "sings [title] loudly.", "sleeps.", "swims."],
    "label": 0,
    "source_id": "a",
}
BLIMP = {"sentence_good": "Ann sings.", "sentence_bad": "Ann sing.", "UID": "agreement", "pairID": "1"}
WINOGRANDE = {"sentence": "Ann thanked Eva as _ had helped.", "option1": "Ann", "option2": "Eva", "answer": "2"}


def three(row: dict[str, Any], field: str, twice: object) -> list[dict[str, Any]]:
    """Three rows that differ in `field`, and one more with a choice that stands twice."""
    sound = [{**row, field: f"{row[field]} {number}"} for number in range(3)]
    return [*sound, {**row, **twice}]  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("name", "rows"),
    [
        ("piqa", three(PIQA, "goal", {"sol2": "tie it "})),
        ("hellaswag", three(HELLASWAG, "ctx_a", {"endings": ["rows.", "sleeps.", "[step] sleeps.", "swims."]})),
        ("blimp", three({**BLIMP, "sentence_bad": "Ann sing now."}, "sentence_bad", {"sentence_bad": "Ann sings."})),
        ("winogrande", three(WINOGRANDE, "sentence", {"option2": "Ann"})),
    ],
)
def test_a_row_with_a_choice_that_stands_twice_is_left_out_and_said(
    name: str, rows: list[dict[str, Any]], tmp_path: Path
) -> None:
    path = write_jsonl(tmp_path / "rows.jsonl", rows)
    found = of_file(name, path)
    assert len(found.suite.items) == 3
    said = [note for note in found.notes if "a choice that stands twice (1)" in note]
    assert len(said) == 1
    assert said[0].startswith(f"{name}: 1 of 4 rows cannot be asked")
    assert f"{path}, line 4" in said[0]


def test_equal_options_that_letters_tell_apart_are_asked_as_published(tmp_path: Path) -> None:
    row = {"question": "Which?", "choices": ["one", "two", "two", "three"], "answer": 0, "error_type": "ok"}
    path = write_jsonl(tmp_path / "virology.jsonl", [row])
    (item,) = of_file("mmlu-redux", path).suite.items
    assert item.gold == ("A",)
    assert [item.fields[letter] for letter in "ABCD"] == row["choices"]


def test_the_file_that_is_read_is_said_and_the_others_are_named_once(tmp_path: Path) -> None:
    for name in ("valid.jsonl", "dev.jsonl", "piqa.csv.jsonl", "notes.jsonl"):
        (tmp_path / name).write_text(json.dumps(PIQA) + "\n")
    (note,) = benchmark(TASKS["piqa"], Copy(folder=tmp_path)).notes
    assert note == f"piqa: of several files in {tmp_path} valid.jsonl is read; not read: dev.jsonl"


def test_a_file_called_like_the_benchmark_is_said_before_the_published_names(tmp_path: Path) -> None:
    for name in ("piqa.jsonl", "valid.jsonl", "valid-labels.lst"):
        (tmp_path / name).write_text(json.dumps(PIQA) + "\n")
    (note,) = benchmark(TASKS["piqa"], Copy(folder=tmp_path)).notes
    assert note == f"piqa: of several files in {tmp_path} piqa.jsonl is read; not read: valid.jsonl"


def test_one_file_and_the_parts_of_one_are_read_without_a_word(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "adjunct_island.jsonl", [BLIMP])
    write_jsonl(tmp_path / "causative.jsonl", [{**BLIMP, "sentence_good": "Eva sings."}])
    assert benchmark(TASKS["blimp"], Copy(folder=tmp_path)).notes == ()


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("social-iqa-filtered.txt", LONG),
        ("piqa.csv", f"{LONG},{LONG}\n1,2\n"),
        ("piqa.jsonl", f'{{"{LONG}": NaN}}\n'),
        ("piqa.jsonl", f'{{"{LONG}": 1}}\n'),
        ("piqa.json", f'{{"{LONG}": {{"a": 1}}}}'),
    ],
)
def test_a_message_does_not_repeat_a_long_text_of_the_file(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "dev.jsonl").write_text((PUBLISHED / "social-iqa" / "dev.jsonl").read_text("utf-8"))
    (tmp_path / "dev-labels.lst").write_text((PUBLISHED / "social-iqa" / "dev-labels.lst").read_text("utf-8"))
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(UserError) as error:
        of_file(path.stem, path)
    assert str(path) in str(error.value)
    assert len(str(error.value)) < 300 + 2 * len(str(tmp_path))
