"""TRIP: rows of our own in the form of trip-ClozeTest.jsonl and trip-OrderTest.jsonl of sled-umich/TRIP on the hub.

Two of the four pairs have one plausible story.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import judged, of_file, published, read_jsonl, write_jsonl
from veridical.errors import UserError
from veridical.judge.chance import chance_levels
from veridical.judge.table import SuiteTable

FILE = PUBLISHED / "trip" / "trip-ClozeTest.jsonl"
ORDER = PUBLISHED / "trip" / "trip-OrderTest.jsonl"


def test_a_story_is_asked_about_by_itself() -> None:
    asked = {item.fields["story"]: pairs for item, pairs in requests(published("trip").suite)}
    context = (
        "Tom filled the kettle. Tom switched the kettle on. Tom poured hot tea.\n"
        "Could all of this happen just as it is told?\nAnswer:"
    )

    assert asked["Tom filled the kettle. Tom switched the kettle on. Tom poured hot tea."] == [
        (context, " Yes"),
        (context, " No"),
    ]


def test_the_label_says_which_story_of_the_pair_is_plausible() -> None:
    gold = {item.fields["story"]: item.gold for item in published("trip").suite.items}

    assert gold["Jane opened the door. Jane walked in. Jane shut the door."] == ("Yes",)  # label 1
    assert gold["Jane locked the door for good. Jane walked in. Jane shut the door."] == ("No",)
    assert gold["Ann ate the apple. Ann peeled the apple. Ann washed her hands."] == ("No",)


def test_pairs_are_sets_and_a_story_of_two_pairs_is_asked_once() -> None:
    suite = published("trip").suite
    sets = suite.grouping("pair").sets()

    assert len(suite.items) == 7
    assert set(sets) == {"cloze 12-C0", "cloze 12-C1", "cloze 15-C0", "order 20-O0"}
    assert {tuple(sorted(m.role for m in members)) for members in sets.values()} == {("implausible", "plausible")}


def test_what_was_changed_is_known_from_the_stories_or_the_file(tmp_path: Path) -> None:
    """Examples of both kinds may have one id; a file of both says in each story what it is."""
    rows = [row | {"example_id": "7"} for row in (*read_jsonl(FILE)[2:], *read_jsonl(ORDER))]
    both = of_file("trip", write_jsonl(tmp_path / "all.jsonl", rows)).suite

    assert set(both.grouping("pair").sets()) == {"cloze 7", "order 7"}


def test_pairs_that_share_a_story_are_resampled_together() -> None:
    table = SuiteTable(published("trip").suite)

    assert len(set(table.cluster_of_set.tolist())) == 3


def test_who_believes_every_story_is_right_on_no_pair() -> None:
    measured = judged(published("trip").suite, lambda item: "Yes")

    assert measured("accuracy").value == pytest.approx(3 / 7)
    assert measured("accuracy", role="plausible").value == 1
    assert (measured("set_accuracy").value, measured("set_accuracy").n_sets) == (0, 4)


def test_a_model_that_believes_every_story_may_know_the_plausible_one_of_each_pair() -> None:
    """The paper asks which of two stories is plausible: here yes is likelier where it is right, and likely anywhere."""
    doubts = {"Yes": 1.0, "No": 3.0}
    measured = judged(published("trip").suite, lambda item: {"Yes": -1.0, "No": -1.5 - 1 / doubts[item.gold[0]]})

    assert measured("set_accuracy").value == 0
    assert (measured("forced_choice").value, measured("forced_choice").n_sets) == (1, 4)


def test_a_uniform_guess_gets_a_half_of_stories_and_of_forced_choices_and_a_quarter_of_pairs() -> None:
    expected = {level.measure: level.value for level in chance_levels(published("trip").suite)}

    assert expected == {"accuracy": 1 / 2, "set_accuracy": 1 / 4, "pair_consistency": 1 / 4, "forced_choice": 1 / 2}


def test_a_wrong_plausible_story_costs_all_its_pairs() -> None:
    measured = judged(
        published("trip").suite,
        lambda item: "No" if item.fields["story"].startswith("Tom filled the kettle. Tom switched") else item.gold[0],
    )

    assert measured("set_accuracy").value == 0.5
    assert measured("pair_consistency", pair="plausible&implausible").value == 0.5


def test_a_pair_with_no_plausible_story_is_left_aside_and_counted(tmp_path: Path) -> None:
    rows = read_jsonl(FILE)
    rows[2]["label"] = -1
    for story in rows[2]["stories"]:
        story["plausible"] = False
    built = of_file("trip", write_jsonl(tmp_path / "trip-ClozeTest.jsonl", rows))

    assert len(built.suite.items) == 3
    assert any("1 of 3 rows" in note and "neither story is the plausible one" in note for note in built.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": 1}, r"line 1, story 1, field 'plausible': True here, but the row's label is 1"),
        ({"label": "first"}, r"line 1, field 'label': a whole number is needed"),
        ({"stories": []}, r"line 1, field 'stories': a pair of stories is needed"),
    ],
)
def test_a_row_at_fault_is_named(change: dict[str, object], message: str, tmp_path: Path) -> None:
    rows = read_jsonl(FILE)
    rows[0] |= change

    with pytest.raises(UserError, match=message):
        of_file("trip", write_jsonl(tmp_path / "trip-ClozeTest.jsonl", rows))
