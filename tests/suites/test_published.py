"""The published form, on a few rows of our own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from veridical.errors import UserError
from veridical.items import Suite
from veridical.suites.imperfective.prompts import PROMPTS
from veridical.suites.imperfective.published import read_published
from veridical.suites.registry import load

Row = dict[str, Any]


KEYS = ("id", "group", "verb_class", "verb", "premise", "hypothesis", "label")


def row(*values: str) -> Row:
    return dict(zip(KEYS, values, strict=True))


ACCOMPLISHMENT = ("Creation", "whittle")
ACTIVITY = ("Activity", "loiter")
ROWS = (
    row(
        "A_001", "A_Interrupted_Accomplishment", *ACCOMPLISHMENT,
        "Odile was whittling a flute, but the wood split beyond use.", "Odile whittled a flute.", "False",
    ),
    row(
        "B_001", "B_Interrupted_Activity", *ACTIVITY,
        "Ravi was loitering, but a guard sent him off.", "Ravi loitered.", "True",
    ),
    row(
        "C_001", "C_Ambiguous_Accomplishment", *ACCOMPLISHMENT,
        "Odile was whittling a flute.", "Odile whittled a flute.", "Unknown",
    ),
    row("D_001", "D_Ambiguous_Activity", *ACTIVITY, "Ravi was loitering.", "Ravi loitered.", "True"),
)  # fmt: skip


def written(folder: Path, rows: object) -> Path:
    path = folder / "data.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return path


def changed(position: int, **values: Any) -> list[Row]:
    return [{**row, **values} if i == position else row for i, row in enumerate(ROWS)]


def fault(path: Path) -> str:
    with pytest.raises(UserError) as caught:
        read_published(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path)).lstrip(":, ")


@pytest.fixture
def suite(tmp_path: Path) -> Suite:
    return read_published(written(tmp_path, ROWS))


def test_it_is_the_suite_of_that_name_with_the_same_prompts(suite: Suite, tmp_path: Path) -> None:
    assert (suite.name, suite.measures, suite.prompts) == ("imperfective", "imperfective", PROMPTS)
    assert suite.labels == ("True", "False", "Unknown")
    assert load("imperfective", tmp_path / "data.json") == suite


def test_its_items_have_the_factors_and_inputs_of_our_own(suite: Suite) -> None:
    own = load("imperfective")
    names = {"group", "telicity", "condition", "verb_class", "verb"}
    assert all(names <= set(item.factors) for item in (*suite.items, *own.items))
    for name in ("group", "telicity", "condition"):
        assert {i.factors[name] for i in suite.items} <= {i.factors[name] for i in own.items}
    assert suite.inputs == own.inputs
    assert suite.grouping().name == own.grouping().name == "verb"
    assert {m.role for m in suite.grouping().members} <= {m.role for m in own.grouping().members}


def test_a_row_becomes_an_item(suite: Suite) -> None:
    first = suite.items[0]
    assert first.name == "A_001"
    assert first.gold == ("False",)
    assert first.labels == ("True", "False", "Unknown")
    assert dict(first.fields) == {"premise": ROWS[0]["premise"], "hypothesis": "Odile whittled a flute."}
    assert dict(first.factors) == {
        "group": "A",
        "telicity": "telic",
        "condition": "interrupted",
        "verb_class": "Creation",
        "verb": "whittle",
        "n_words": 11,
    }


def test_a_set_is_a_verb_in_two_contexts(suite: Suite) -> None:
    names = {item.id: item.name for item in suite.items}
    sets = {
        name: {member.role: names[member.item] for member in members}
        for name, members in suite.grouping().sets().items()
    }
    assert sets == {
        "whittle-AC001": {"A": "A_001", "C": "C_001"},
        "loiter-BD001": {"B": "B_001", "D": "D_001"},
    }


def test_its_version_comes_from_the_rows_and_not_from_their_layout(suite: Suite, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("\ufeff" + json.dumps(ROWS, indent=4), encoding="utf-8")
    assert read_published(other).version == suite.version
    assert len(suite.version) == len("published-") + 8
    assert read_published(written(tmp_path, ROWS[:3])).version != suite.version


def test_a_part_of_the_file_is_taken_with_what_is_there(tmp_path: Path) -> None:
    part = read_published(written(tmp_path, ROWS[1:]))
    assert [item.name for item in part.items] == ["B_001", "C_001", "D_001"]
    assert [len(members) for members in part.grouping().sets().values()] == [2, 1]


def test_a_file_in_another_form_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.json"
    assert fault(path) == "no such file; check the path"
    assert fault(tmp_path) == "a folder, not a file; give a file in it"
    assert "is one JSON list of rows" in fault(written(tmp_path, {"rows": ROWS}))
    assert fault(written(tmp_path, [])) == "an empty list: no rows to ask"
    assert fault(written(tmp_path, [ROWS[0], "x"])).startswith("row 2: an object with the keys id, group")
    path.write_text("\n".join(map(json.dumps, ROWS)))
    assert fault(path).startswith("line 2: JSONL; the published file is one JSON list")
    path.write_text(json.dumps(ROWS, indent=1)[:-40])
    assert fault(path).endswith("is the file cut off?")
    path.write_text(json.dumps(ROWS, indent=1)[:-3])
    assert fault(path).endswith("is the file cut off?")
    path.write_text("")
    assert fault(path) == "the file is empty"
    path.write_bytes(json.dumps(ROWS).encode() + b"\xff]")
    assert fault(path).startswith("line 1: not UTF-8")


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_needed_as_a_text(tmp_path: Path, key: str) -> None:
    rows = changed(2)
    del rows[2][key]
    assert f"row 3{'' if key == 'id' else ' (C_001)'}, field {key!r}: missing" in fault(written(tmp_path, rows))
    for value in (None, 3, " ", ["x"]):
        assert f"field {key!r}: text is needed" in fault(written(tmp_path, changed(2, **{key: value})))


FAULTS = [
    (3, {"group": "D_Ambigous_Activity"}, "row 4 (D_001), field 'group': unknown group 'D_Ambigous_Activity': did"),
    (2, {"label": "unknown"}, "row 3 (C_001), field 'label': unknown label 'unknown': did you mean 'Unknown'?"),
    (2, {"label": "True"}, "row 3 (C_001), field 'label': 'True', but the gold of group C is 'Unknown'"),
    (2, {"id": "17"}, "row 3 (17), field 'id': a group's letter and a number of at most nine digits"),
    (2, {"id": "A_002"}, "row 3 (A_002), field 'id': 'A_002' is of another group than 'C_Ambiguous_Accomplishment'"),
    (2, {"verb": "carve"}, "row 3 (C_001), field 'verb': 'carve', but its pair A_001 (row 1) has 'whittle'"),
    (2, {"verb_class": "Consumption"}, "row 3 (C_001), field 'verb_class': 'Consumption', but its pair A_001"),
    (2, {"verb_class": "Activity"}, "row 3 (C_001), field 'verb_class': in group C, unknown verb class 'Activity'"),
    (0, {"verb_class": "Creaton"}, "row 1 (A_001), field 'verb_class': in group A, unknown verb class 'Creaton': did "),
    (3, {"verb_class": "Creation"}, "row 4 (D_001), field 'verb_class': in group D, unknown verb class 'Creation'; kn"),
    (1, {"verb_class": "activity"}, "row 2 (B_001), field 'verb_class': in group B, unknown verb class 'activity': di"),
    (2, {"premise": "Odile was whittling a pipe."}, "row 3 (C_001), field 'premise': its pair is A_001 (row 1): the "),
    (1, {"premise": "Ravi loitered, but left."}, "row 4 (D_001), field 'premise': its pair is B_001 (row 2): the pre"),
    (0, {"id": "A_٠٠١"}, "row 1 (A_٠٠١), field 'id': a group's letter and a number"),
    (0, {"id": "A_²"}, "row 1 (A_²), field 'id': a group's letter and a number"),
    (0, {"id": "A_" + "1" * 5000}, f"row 1 (A_{'1' * 37}…), field 'id': a group's letter and a number"),
    (3, {"hypothesis": "He ran."}, "row 4 (D_001), field 'hypothesis': 'He ran.', but its pair B_001 (row 2)"),
]


@pytest.mark.parametrize(("position", "values", "says"), FAULTS, ids=[str(case[1]) for case in FAULTS])
def test_a_row_that_contradicts_its_group_or_its_pair_is_refused(
    tmp_path: Path, position: int, values: Row, says: str
) -> None:
    assert fault(written(tmp_path, changed(position, **values))).startswith(says)


def test_a_misspelt_key_is_pointed_out(tmp_path: Path) -> None:
    rows = changed(0, hypotesis="x")
    del rows[0]["hypothesis"]
    assert fault(written(tmp_path, rows)) == "row 1 (A_001), field 'hypothesis': missing ('hypotesis' is there)"


def test_duplicates_are_refused_with_both_rows(tmp_path: Path) -> None:
    assert fault(written(tmp_path, [*ROWS, ROWS[0]])) == "row 5 (A_001), field 'id': used on row 1 too; take one out"
    twin = {**ROWS[3], "id": "D_002"}
    assert fault(written(tmp_path, [*ROWS, twin])).startswith("row 5 (D_002), field 'premise': premise and hypothesis ")


def test_a_premise_may_lack_its_full_stop(tmp_path: Path) -> None:
    rows = changed(2, premise="Odile was whittling a flute")
    assert len(read_published(written(tmp_path, rows)).items) == 4


KINDS = [(3, "a whole number"), (2.5, "a number"), (None, "null"), (True, "true"), (["x"], "a list"), ({}, "an object")]


@pytest.mark.parametrize(("value", "words"), [*KINDS, (" ", "empty")], ids=str)
def test_what_stands_there_is_reported_in_words(tmp_path: Path, value: object, words: str) -> None:
    assert fault(written(tmp_path, changed(0, verb=value))).endswith(f"field 'verb': text is needed, this is {words}")


@pytest.mark.parametrize(("value", "words"), [kind for kind in KINDS if kind[1] != "a list"], ids=str)
def test_what_is_not_a_list_is_reported_in_words(tmp_path: Path, value: object, words: str) -> None:
    assert fault(written(tmp_path, value)).startswith(f"{words}; the published file is one JSON list of rows")


FIRST = json.dumps(ROWS[0])
UNASKABLE = [
    (FIRST[:-1] + ', "verb": "carve"}', "row 2, field 'verb': the key 'verb' is given twice"),
    (FIRST.replace("wood", "\\ud83d"), "row 2, field 'premise': half of a character (a lone surrogate"),
    (FIRST[:-1] + ', "n": 1e999}', "row 2, field 'n': 1e999 is too large a number"),
    (FIRST[:-1] + ', "n": NaN}', "row 2, field 'n': NaN is not a JSON number"),
    (FIRST[:-1] + f', "n": {"7" * 5000}}}', "row 2, field 'n': a number that is too long"),
    ("[" * 500 + "]" * 500, "row 2, field '[0]': nested too deeply"),
    ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
    ("7" * 5000, "row 2: a number that is too long"),
]


@pytest.mark.parametrize(("row", "says"), UNASKABLE, ids=[case[1][:30] for case in UNASKABLE])
def test_a_value_that_cannot_be_asked_is_named_with_its_row(tmp_path: Path, row: str, says: str) -> None:
    path = tmp_path / "data.json"
    path.write_text(f"[{json.dumps(ROWS[1])}, {row}]")
    assert fault(path).startswith(says)


def test_a_nul_byte_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, ROWS)
    path.write_bytes(b"\n\0" + path.read_bytes())
    assert fault(path).startswith("line 2: a NUL byte")


def test_no_message_lets_a_terminal_be_steered(tmp_path: Path) -> None:
    hostile = "\x1b[2J\x07\u202e\n"
    for key in KEYS:
        assert fault(written(tmp_path, changed(3, **{key: hostile}))).isprintable()


def test_no_message_has_a_doubled_mark_or_the_interpreters_words(tmp_path: Path) -> None:
    faults = [fault(written(tmp_path, changed(p, **values))) for p, values, _ in FAULTS]
    for message in (*faults, *(fault(written(tmp_path, changed(0, **{key: "zzz"}))) for key in ("group", "label"))):
        assert not any(words in message for words in (": known:", "?:", "recursion", "sys.", "a int", "a str"))
