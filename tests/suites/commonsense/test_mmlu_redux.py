"""MMLU-Redux: rows of our own with the fields of edinburgh-dawg/mmlu-redux-2.0 on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import judged, of_file, published, read_jsonl, write_jsonl
from veridical.errors import UserError
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy

VIROLOGY = PUBLISHED / "mmlu-redux" / "virology.jsonl"


def test_the_question_is_put_as_the_harness_puts_mmlu() -> None:
    asked = {item.fields["question"]: pairs for item, pairs in requests(published("mmlu-redux").suite)}

    assert asked["Which of these is not alive by most definitions?"] == [
        (
            "The following are multiple choice questions (with answers) about virology.\n\n"
            "Which of these is not alive by most definitions?\n"
            "A. A bacterium\nB. A yeast\nC. A virus\nD. An alga\nAnswer:",
            f" {letter}",
        )
        for letter in "ABCD"
    ]


def test_only_questions_found_sound_are_asked_and_the_others_are_counted_by_what_is_wrong() -> None:
    built = published("mmlu-redux")

    assert {item.fields["question"]: item.gold for item in built.suite.items} == {
        "Which of these is not alive by most definitions?": ("C",),
        "Who ratifies treaties?": ("A",),
        "Who appoints ambassadors?": ("B",),
    }
    expected = next(note for note in built.notes if "left aside" in note)
    assert "3 of 6 rows" in expected
    for reason in ("wrong_groundtruth", "bad_question_clarity", "multiple_correct_answers"):
        assert reason in expected


def test_the_subject_is_the_files_name_or_the_rows_own(tmp_path: Path) -> None:
    rows = [row | {"subject": "virology"} for row in read_jsonl(VIROLOGY)]
    suite = of_file("mmlu-redux", write_jsonl(tmp_path / "all.jsonl", rows)).suite

    assert {item.factors["subject"] for item in suite.items} == {"virology"}
    assert judged(published("mmlu-redux").suite, lambda item: "A")("accuracy", subject="us_foreign_policy").value == 0.5


def test_the_hubs_own_files_are_read_by_subject(tmp_path: Path) -> None:
    """edinburgh-dawg/mmlu-redux-2.0 has <subject>/data-00000-of-00001.arrow."""
    for subject in ("virology", "us_foreign_policy"):
        folder = tmp_path / "mmlu-redux-2.0" / subject
        folder.mkdir(parents=True)
        rows = read_jsonl(PUBLISHED / "mmlu-redux" / f"{subject}.jsonl")
        pl.DataFrame(rows).write_ipc_stream(folder / "data-00000-of-00001.arrow")
    suite = benchmark(TASKS["mmlu-redux"], Copy(folder=tmp_path)).suite

    assert {item.id for item in suite.items} == {item.id for item in published("mmlu-redux").suite.items}


def test_a_file_of_no_known_subject_is_refused(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "part1.jsonl", read_jsonl(VIROLOGY))

    with pytest.raises(UserError, match=r"part1\.jsonl, line 1: of which subject\?"):
        of_file("mmlu-redux", path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"error_type": "fine"}, r"line 1, field 'error_type': unknown error type 'fine'"),
        ({"choices": ["one", "two", "three"]}, r"line 1, field 'choices': four choices are needed, these are 3"),
        ({"answer": "C"}, r"line 1, field 'answer': a whole number is needed"),
        ({"answer": 4}, r"line 1.*out of range"),
    ],
)
def test_a_row_at_fault_is_named(change: dict[str, object], message: str, tmp_path: Path) -> None:
    rows = read_jsonl(VIROLOGY)
    rows[0] |= change

    with pytest.raises(UserError, match=message):
        of_file("mmlu-redux", write_jsonl(tmp_path / "virology.jsonl", rows))
