"""BLiMP: rows of our own in the form of data/wh_island.jsonl of github.com/alexwarstadt/blimp, and the real pairs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from tests.suites.commonsense.planted import REAL, gold_text, judged, named, of_file, published, read_jsonl, write_jsonl
from veridical.errors import UserError
from veridical.items import Suite
from veridical.suites.commonsense.tasks.blimp import PARADIGMS

REAL_FILE = REAL / "blimp" / "blimp_first100_per_paradigm.jsonl"


@pytest.fixture(scope="module")
def real() -> Suite:
    if not REAL_FILE.is_file():
        pytest.skip("the public BLiMP pairs are not beside the checkout")
    return of_file("blimp", REAL_FILE).suite


def test_a_pair_is_one_item_with_two_sentences_after_no_context() -> None:
    asked = {item.name: pairs for item, pairs in requests(published("blimp").suite)}

    assert len(asked) == 4
    assert sorted(asked["wh_island 1"]) == [
        ("", " What had the tailor asked who mended?"),
        ("", " What had the tailor hoped to mend?"),
    ]


def test_the_acceptable_sentence_is_gold() -> None:
    items = named(published("blimp").suite)

    assert gold_text(items["anaphor_number_agreement 0"]) == {"The two sailors dried themselves."}
    assert gold_text(items["wh_island 0"]) == {"Who might the baker wonder about?"}


def test_every_file_of_the_folder_is_read_and_accuracy_is_given_by_paradigm() -> None:
    suite = published("blimp").suite
    measured = judged(suite, lambda item: item.gold[0] if item.factors["paradigm"] == "wh_island" else _wrong(item))

    assert measured("accuracy").value == 0.5
    assert measured("accuracy", paradigm="wh_island").value == 1
    assert measured("accuracy", phenomenon="anaphor_agreement").value == 0


def test_other_names_of_the_pair_id_are_read(tmp_path: Path) -> None:
    """The hub's nyu-mll/blimp calls it `pair_id`."""
    rows = read_jsonl(PUBLISHED / "blimp" / "wh_island.jsonl")
    for row in rows:
        row["pair_id"] = int(row.pop("pairID"))

    assert set(named(of_file("blimp", write_jsonl(tmp_path / "a.jsonl", rows)).suite)) == {"wh_island 0", "wh_island 1"}


def test_a_row_without_its_second_sentence_is_named(tmp_path: Path) -> None:
    rows = read_jsonl(PUBLISHED / "blimp" / "wh_island.jsonl")
    rows[1]["sentence_bad"] = " "
    path = write_jsonl(tmp_path / "a.jsonl", rows)

    with pytest.raises(UserError, match=r"a\.jsonl, line 2, field 'sentence_bad': it is blank"):
        of_file("blimp", path)


def test_the_67_paradigms_of_the_real_file_have_100_pairs_each(real: Suite) -> None:
    counts = Counter(item.factors["paradigm"] for item in real.items)

    assert len(real.items) == 6700
    assert counts == dict.fromkeys(PARADIGMS, 100)


def test_the_two_spellings_of_one_field_are_one(real: Suite) -> None:
    """`syntax_semantics` 1,300 times and `syntax/semantics` 100 times in the file."""
    assert Counter(item.factors["field"] for item in real.items) == {
        "syntax": 2600,
        "morphology": 1800,
        "syntax_semantics": 1400,
        "semantics": 900,
    }


def test_gold_of_every_real_pair_is_its_acceptable_sentence(real: Suite) -> None:
    lines = [json.loads(line) for line in REAL_FILE.read_text(encoding="utf-8").splitlines()]
    acceptable = {f"{line['UID']} {line['pairID']}": line["sentence_good"] for line in lines}

    assert len(acceptable) == 6700
    assert all(gold_text(item) == {acceptable[item.name]} for item in real.items)


def test_neither_place_holds_the_acceptable_sentence_of_the_real_pairs_more_often_than_by_chance(real: Suite) -> None:
    first = sum(item.gold == ("A",) for item in real.items)

    assert abs(first - 3350) < 4 * (6700 / 4) ** 0.5


def test_real_pairs_are_sets_of_their_own_and_of_their_paradigm(real: Suite) -> None:
    assert len(real.grouping("pair").sets()) == 6700
    assert {len(members) for members in real.grouping("paradigm").sets().values()} == {100}


def test_the_order_of_the_file_changes_nothing(tmp_path: Path) -> None:
    rows = read_jsonl(PUBLISHED / "blimp" / "wh_island.jsonl")
    one = of_file("blimp", write_jsonl(tmp_path / "a.jsonl", rows)).suite
    other = of_file("blimp", write_jsonl(tmp_path / "b.jsonl", rows[::-1])).suite

    assert one.content_hash == other.content_hash


def _wrong(item) -> str:  # type: ignore[no-untyped-def]
    return next(label for label in item.labels if label not in item.gold)
