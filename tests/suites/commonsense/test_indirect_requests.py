"""Indirect Requests: rows of our own with the columns of data/raw/ir.csv of github.com/seantrott/open_llm_tom.

As there, some rows have no question and no utterance, and one scenario has the same text in two conditions.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import judged, named, of_file, published, read_csv, write_csv
from veridical.errors import UserError

FILE = PUBLISHED / "indirect-requests" / "ir.csv"


def test_the_question_is_put_after_the_utterance() -> None:
    asked = {item.name: pairs for item, pairs in requests(published("indirect-requests").suite)}
    context = (
        "You and Nora are in the shed.\n \nYou both saw the lamp fall and break.\n\n"
        'Nora looks up and says, "It is rather dark in here."\n\n'
        "Do you think she is making a request?\n\nAnswer:"
    )

    assert asked["1 aware implicit"] == [(context, " Yes"), (context, " No")]


def test_a_blank_question_is_filled_in() -> None:
    item = named(published("indirect-requests").suite)["2 aware explicit"]

    assert item.fields["question"] == "Is this a request?"


def test_rows_without_an_utterance_are_left_aside_and_counted() -> None:
    built = published("indirect-requests")

    assert {item.name.split()[0] for item in built.suite.items} == {"1", "2"}
    assert any("2 of 8 rows" in note and "no critical_utterance" in note for note in built.notes)


def test_a_text_that_two_conditions_share_is_asked_once_and_stands_in_both_sets() -> None:
    suite = published("indirect-requests").suite
    sets = suite.grouping("knowledge").sets()
    shared = named(suite)["1 unaware explicit"]

    assert len(suite.items) == 5
    assert {name: len(members) for name, members in sets.items()} == {"1 explicit": 2, "1 implicit": 2, "2 explicit": 2}
    assert {name for name, members in sets.items() if shared.id in {m.item for m in members}} == {
        "1 explicit",
        "1 implicit",
    }
    assert shared.factors == {"speaker": "unaware"}  # explicit in one row and implicit in the other


def test_who_hears_a_request_in_everything_is_right_on_no_set() -> None:
    measured = judged(published("indirect-requests").suite, lambda item: "Yes")

    assert measured("accuracy").value == pytest.approx(2 / 5)
    assert measured("accuracy", speaker="unaware").value == 1
    assert (measured("set_accuracy").value, measured("set_accuracy").n_sets) == (0, 3)
    assert measured("pair_consistency", pair="aware&unaware").value == 0


def test_a_wrong_answer_to_a_shared_text_costs_both_its_sets() -> None:
    measured = judged(
        published("indirect-requests").suite,
        lambda item: "No" if item.name == "1 unaware explicit" else item.gold[0],
    )

    assert measured("set_accuracy").value == pytest.approx(1 / 3)


def test_an_unknown_answer_is_named(tmp_path: Path) -> None:
    rows = read_csv(FILE)
    rows[4]["critical_a"] = "Perhaps"

    with pytest.raises(UserError, match=r"ir\.csv, line \d+, field 'critical_a': unknown label 'Perhaps'"):
        of_file("indirect-requests", write_csv(tmp_path / "ir.csv", rows))
