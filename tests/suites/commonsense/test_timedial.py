"""TimeDial: records of our own in the form of test.json of github.com/google-research-datasets/TimeDial."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import gold_text, judged, named, of_file, published
from veridical.errors import UserError
from veridical.items import Item
from veridical.judge.chance import chance_levels

FILE = PUBLISHED / "timedial" / "test.json"


def _changed(tmp_path: Path, **values: object) -> Path:
    records = json.loads(FILE.read_text(encoding="utf-8"))
    records[0] |= values
    path = tmp_path / "test.json"
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def test_the_dialogue_is_put_with_a_gap_and_four_spans_are_scored() -> None:
    asked = {item.name: pairs for item, pairs in requests(published("timedial").suite)}
    context = (
        "A: When does the ferry leave ?\n"
        "B: At ten . The crossing takes ____ , so we shall be there for lunch .\n"
        "A: Good .\n"
        "What belongs in the gap ____?\nAnswer:"
    )

    assert sorted(asked["1"]) == [
        (context, " 3 seconds"),
        (context, " 90 minutes"),
        (context, " ten hours"),
        (context, " two hours"),
    ]


def test_two_spans_are_gold() -> None:
    items = named(published("timedial").suite)

    assert gold_text(items["1"]) == {"two hours", "90 minutes"}
    assert gold_text(items["3"]) == {"half an hour", "20 minutes"}


def test_records_with_one_right_answer_are_left_aside_and_counted() -> None:
    built = published("timedial")

    assert set(named(built.suite)) == {"1", "3", "4"}
    assert any("1 of 4 rows" in note and "one right answer only" in note for note in built.notes)


@pytest.mark.parametrize("none", ["none", "_none_", "None "])
def test_the_word_for_no_second_answer_is_known_in_each_spelling(none: str, tmp_path: Path) -> None:
    assert "1" not in named(of_file("timedial", _changed(tmp_path, correct2=none)).suite)


def _ranked(*spans: str):  # type: ignore[no-untyped-def]
    """Scores that fall in the order of the spans, for every item whose spans they are; gold first elsewhere."""

    def says(item: Item) -> dict[str, float]:
        texts = {choice.continuation: choice.label for choice in item.choices}
        order = list(spans) if set(texts) == set(spans) else sorted(texts, key=lambda t: texts[t] not in item.gold)
        return {texts[text]: -float(place) for place, text in enumerate(order)}

    return says


def test_either_right_answer_counts_and_both_must_lead_for_the_two_best() -> None:
    """Of three items one ranks a right span first and a wrong one second."""
    measured = judged(published("timedial").suite, _ranked("two hours", "ten hours", "90 minutes", "3 seconds"))

    assert measured("accuracy").value == 1
    assert measured("two_best_accuracy").value == pytest.approx(2 / 3)
    assert measured("two_best_accuracy").n_items == 3


def test_the_two_right_ones_lead_in_either_order() -> None:
    for spans in (("two hours", "90 minutes"), ("90 minutes", "two hours")):
        measured = judged(published("timedial").suite, _ranked(*spans, "3 seconds", "ten hours"))
        assert measured("two_best_accuracy").value == 1


def test_a_wrong_best_answer_is_wrong_for_both_measures() -> None:
    measured = judged(published("timedial").suite, _ranked("ten hours", "two hours", "90 minutes", "3 seconds"))

    assert measured("accuracy").value == pytest.approx(2 / 3)
    assert measured("two_best_accuracy").value == pytest.approx(2 / 3)


def test_a_uniform_guess_gets_a_half_and_a_sixth() -> None:
    """Two of four spans are right; of six pairs of spans one is the right one."""
    expected = {level.measure: level.value for level in chance_levels(published("timedial").suite)}

    assert expected == pytest.approx({"accuracy": 1 / 2, "two_best_accuracy": 1 / 6})


def test_the_right_spans_do_not_always_stand_first() -> None:
    places = {item.gold for item in published("timedial").suite.items}

    assert places != {("A", "B")}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"conversation": ["A: No gap here ."]}, r"record 1, field 'conversation': no turn has <MASK>"),
        ({"conversation": "A: <MASK>"}, r"record 1, field 'conversation': a list is needed"),
        ({"incorrect2": ""}, r"record 1, field 'incorrect2': it is blank"),
    ],
)
def test_a_record_at_fault_is_named(change: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=message):
        of_file("timedial", _changed(tmp_path, **change))
