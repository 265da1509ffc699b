"""False Beliefs: rows of our own with the columns of data/raw/fb.csv of github.com/seantrott/open_llm_tom.

Two stories: one whole, one with blank cells.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import gold_text, judged, named, of_file, published, read_csv, write_csv
from veridical.errors import UserError
from veridical.items import Item

FILE = PUBLISHED / "false-beliefs" / "fb.csv"


def test_the_story_breaks_off_before_the_place_and_the_two_places_are_scored() -> None:
    asked = {item.name: pairs for item, pairs in requests(published("false-beliefs").suite)}
    story = (
        "Ines lays the letter in the drawer and her gloves in the basket. She goes out. Omar moves the letter from the "
        "drawer to the basket. Ines comes back. Ines goes to get the letter from the"
    )

    assert asked["1_fb_1_s_e_im"] == [(story, " drawer"), (story, " basket")]


def test_who_did_not_see_the_move_takes_the_thing_to_be_where_it_was() -> None:
    items = named(published("false-beliefs").suite)

    assert (items["1_fb_1_s_e_ex"].gold, gold_text(items["1_fb_1_s_e_ex"])) == (("start",), {"drawer"})
    assert (items["1_tb_1_s_e_ex"].gold, gold_text(items["1_tb_1_s_e_ex"])) == (("end",), {"basket"})


def test_conditions_are_sets_of_the_two_beliefs_within_their_story() -> None:
    suite = published("false-beliefs").suite
    names = {item.id: item.name for item in suite.items}
    sets = suite.grouping("belief").sets()

    assert {(names[m.item], m.role) for m in sets["1 explicit start end"]} == {
        ("1_fb_1_s_e_ex", "false belief"),
        ("1_tb_1_s_e_ex", "true belief"),
    }
    assert {m.cluster for members in sets.values() for m in members} == {"1", "2"}
    assert {name: len(members) for name, members in suite.grouping("story").sets().items()} == {"1": 4, "2": 3}


def _reports_the_world(item: Item) -> str:
    """Answers with where the thing is, whatever anyone believes."""
    return "end"


def test_an_answerer_without_beliefs_is_right_on_true_ones_and_on_no_set() -> None:
    measured = judged(published("false-beliefs").suite, _reports_the_world)

    assert measured("accuracy", belief="true belief").value == 1
    assert measured("accuracy", belief="false belief").value == 0
    assert measured("set_accuracy").value == 0
    assert measured("pair_consistency", pair="false belief&true belief").value == 0


def test_a_believer_is_right_on_every_set() -> None:
    measured = judged(published("false-beliefs").suite, lambda item: item.gold[0])

    assert (measured("set_accuracy").value, measured("set_accuracy").n_sets) == (1, 3)
    assert measured("worst_of_set").value == pytest.approx(1 / (1 + 2.718281828**-1))


def test_forced_choice_compares_the_two_beliefs_of_a_wording() -> None:
    """A model that always prefers the end, less so where the move was not seen. (The fourth set has one item.)"""
    shift = {"start": -0.5, "end": -2.0}
    measured = judged(published("false-beliefs").suite, lambda item: {"end": -0.1, "start": shift[item.gold[0]]})

    assert measured("set_accuracy").value == 0
    assert (measured("forced_choice").value, measured("forced_choice").n_sets) == (1, 3)


def test_a_set_is_wrong_where_one_of_its_beliefs_is() -> None:
    wrong = "1_tb_1_s_e_im"
    measured = judged(published("false-beliefs").suite, lambda item: "start" if item.name == wrong else item.gold[0])

    assert measured("set_accuracy").value == pytest.approx(2 / 3)
    assert measured("accuracy").value == pytest.approx(6 / 7)


def test_a_blank_answer_is_filled_from_the_condition() -> None:
    assert named(published("false-beliefs").suite)["2_fb_1_s_e_ex"].gold == ("start",)


def test_a_blank_passage_is_put_together_from_its_parts() -> None:
    assert named(published("false-beliefs").suite)["2_tb_1_s_e_ex"].fields["passage"] == (
        "Pavel leans the ladder in the barn. He helps Rosa carry it to the cellar. Then he sleeps, and wakes. "
        "Pavel thinks the ladder is in the"
    )


def test_a_blank_condition_is_not_a_factor_nor_a_role() -> None:
    suite = published("false-beliefs").suite
    item = next(item for item in suite.items if item.fields["passage"].endswith("goes to get the ladder from the"))
    (member,) = suite.grouping("belief").sets()["2 implicit start end"]

    assert "belief" not in item.factors
    assert item.gold == ("end",)
    assert (member.item, member.role) == (item.id, "")


def test_a_row_with_no_passage_is_left_aside_and_counted() -> None:
    built = published("false-beliefs")

    assert len(built.suite.items) == 7
    assert any("1 of 8 rows" in note and "no passage" in note for note in built.notes)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"critical_a": "attic"}, r"line 2, field 'critical_a': 'attic' is neither start nor end: drawer, basket"),
        ({"condition": "No Belief"}, r"line 2, field 'condition': unknown condition 'no belief'"),
        ({"passage": "Ines thinks."}, r"line 2, field 'passage': there is no \[MASK\] in it"),
    ],
)
def test_a_row_at_fault_is_named(change: dict[str, str], message: str, tmp_path: Path) -> None:
    rows = read_csv(FILE)
    rows[0] |= change

    with pytest.raises(UserError, match=message):
        of_file("false-beliefs", write_csv(tmp_path / "fb.csv", rows))


def test_a_masked_place_without_its_article_is_cut_where_it_stands(tmp_path: Path) -> None:
    """Some published rows end in `from [MASK].`, without `the`."""
    rows = read_csv(FILE)
    rows[0]["passage"] = rows[0]["passage"].replace("is in the [MASK].", "is in [MASK].")
    item = named(of_file("false-beliefs", write_csv(tmp_path / "fb.csv", rows)).suite)["1_fb_1_s_e_ex"]

    assert item.fields["passage"].endswith("Ines thinks the letter is in")


def test_white_space_around_a_place_is_not_scored(tmp_path: Path) -> None:
    row = {**read_csv(FILE)[0], "start": " drawer ", "end": "basket  "}
    ((_, pairs),) = requests(of_file("false-beliefs", write_csv(tmp_path / "fb.csv", [row])).suite)
    assert [text for _, text in pairs] == [" drawer", " basket"]
