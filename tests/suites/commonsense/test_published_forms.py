"""Forms in which benchmarks are published that a reader met only later: blank turns, missing ids, other columns."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.suites.commonsense.asking import PUBLISHED, requests
from veridical.errors import UserError
from veridical.items import Suite
from veridical.limits import limited
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.build import Built
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy

CASES = Path(__file__).parents[4] / "shared" / "cases"


def of(name: str, path: Path) -> Built:
    return benchmark(TASKS[name], Copy(file=path))


def table(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


DIALOGUE = {
    "conversation": ["A: The bus takes <MASK> .", "B: Good ."],
    "correct1": "ten minutes",
    "correct2": "a quarter of an hour",
    "incorrect1": "ten days",
    "incorrect2": "a year",
}


@pytest.mark.parametrize("blank", ["", " ", "\n", None])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_turn_without_text_is_not_a_turn(blank: str | None, place: int, tmp_path: Path) -> None:
    turns: list[str | None] = list(DIALOGUE["conversation"])
    turns.insert(place, blank)
    path = tmp_path / "test.json"
    path.write_text(json.dumps([{**DIALOGUE, "id": 1, "conversation": turns}]))
    assert [item.fields["dialogue"] for item in of("timedial", path).suite.items] == [
        "A: The bus takes ____ .\nB: Good ."
    ]


@pytest.mark.skipif(not CASES.is_dir(), reason="the shared cases are not here")
@pytest.mark.parametrize(
    ("name", "file"), [("timedial", "timedial_blank_turn.json"), ("winogrande", "winogrande_without_qid.csv")]
)
def test_the_shared_cases_are_one_item_with_and_without_a_limit(name: str, file: str) -> None:
    suite = of(name, CASES / file).suite
    assert len(suite.items) == len(limited(suite, 1, 0).items) == 1
    assert suite.groupings == () or name == "timedial"


SENTENCE = {"sentence": "The rope was longer than the pole, so the _ was cut.", "option1": "rope", "option2": "pole"}


def test_items_that_are_in_no_set_are_sets_of_their_own_under_a_limit(tmp_path: Path) -> None:
    rows = [
        {**SENTENCE, "answer": "1", "qID": "3AAA-1"},
        {
            **SENTENCE,
            "sentence": "The rope was longer than the pole, so the _ was spliced.",
            "answer": "2",
            "qID": "3AAA-2",
        },
        {**SENTENCE, "sentence": "The rope held the pole since the _ was strong.", "answer": "1", "qID": ""},
        {**SENTENCE, "sentence": "The pole bent under the rope because the _ was weak.", "answer": "2", "qID": ""},
    ]
    suite = of("winogrande", table(tmp_path / "w.csv", rows)).suite
    sizes = [len(limited(suite, limit, 0).items) for limit in (1, 2, 3)]
    assert sizes[-1] == 4
    assert sizes[0] in (1, 2)
    assert sizes == sorted(sizes)


def test_false_beliefs_without_sets_are_asked_and_said(tmp_path: Path) -> None:
    row = {"passage": "Ada thinks it is in the [MASK].", "start": "box", "end": "jar", "critical_a": "box"}
    found = of("false-beliefs", table(tmp_path / "fb.csv", [row, {**row, "passage": "Ada looks in the [MASK]."}]))
    assert len(found.suite.items) == 2
    assert len(limited(found.suite, 1, 0).items) == 1
    assert [note.split(":")[1] for note in found.notes] == [
        " no row says to which belief set it belongs",
        " no row says to which story set it belongs",
    ]


WINOWHAT = [
    {
        **SENTENCE,
        "paraphrased_sentence": "Longer than the other was what was cut, the _.",
        "answer": 1,
        "gpt_category": "1, 5",
        "gpt_category_names": "['physical', 'spatial']",
        "in_original_experiment": 1,
    },
    {
        **SENTENCE,
        "sentence": "Ann thanked Eva because _ had helped.",
        "paraphrased_sentence": "Ann thanked Eva for the help of _.",
        "option1": "Ann",
        "option2": "Eva",
        "answer": 2,
        "gpt_category": "1, 3, 2005",  # as a spreadsheet program left it
        "gpt_category_names": "['social']",
        "in_original_experiment": 0,
    },
]


@pytest.mark.parametrize("name", ["winowhat", "winowhat-pairs"])
def test_winowhat_as_published_has_its_categories_and_no_twins(name: str, tmp_path: Path) -> None:
    suite = of(name, table(tmp_path / "WinoWhat.csv", WINOWHAT)).suite
    by_category = {str(item.factors["category"]): item.factors for item in suite.items}
    assert set(by_category) == {"physical, spatial", "social"}
    assert [by_category["social"][one] for one in ("physical", "social", "numerical", "temporal", "spatial")] == [
        "no",
        "yes",
        "no",
        "no",
        "no",
    ]
    assert {grouping.name for grouping in suite.groupings} == ({"pair"} if name.endswith("pairs") else set())
    assert len(limited(suite, 1, 0).items) == (2 if name.endswith("pairs") else 1)


RUPBENCH = {
    "goal": "dry a shoe",
    "sol1": "stuff it with paper",
    "sol2": "stuff it with soup",
    "goal_red_herrings": "while it rains, dry a shoe",
    "goal_typos": "dyr a sheo",
    "goal_HP": "dri a shoo",
    "goal_Leet": "d2y a 5}{0€",
    "goal_It_cleft": "dry a shoe",
    "goal_Wh_cleft": "dry a shoe",
    "goal_stress": "dry a shoe and true is true",
    "goal_checklist": "@someone dry a shoe",
    "goal_comp": "Although dry a , sufficient shoe",
    "answer": 0,
}


def rupbench(folder: Path) -> Path:
    other = {name: f"{value} again" if name.startswith("goal") else value for name, value in RUPBENCH.items()}
    return table(folder / "PIQA_RUP.csv", [RUPBENCH, {**other, "answer": 1}])


def test_rupbench_s_piqa_is_asked_under_each_of_its_nine_perturbations(tmp_path: Path) -> None:
    rupbench(tmp_path)
    found = benchmark(TASKS["piqa-rup"], Copy(folder=tmp_path))
    suite = found.suite
    assert len(suite.items) == 18
    assert found.notes == ()  # clefts that left the goal as it was are no repetitions
    by_name = {item.name: item for item in suite.items}
    assert by_name["0 homophones"].fields["goal"] == "dri a shoo"
    assert by_name["0 homophones"].factors == {"perturbation": "homophones", "level": "lexical"}
    assert {item.gold for item in suite.items if item.name.startswith("1 ")} == {("B",)}
    sets = suite.grouping("original").sets()
    assert {len(members) for members in sets.values()} == {9}
    asked = {item.name: pairs for item, pairs in requests(suite)}
    assert asked["0 typos"][0] == ("Question: dyr a sheo\nAnswer:", " stuff it with paper")


def test_rupbench_s_rows_stand_next_to_their_original_without_piqa_s_own_file(tmp_path: Path) -> None:
    suite = benchmark(TASKS["piqa-pairs"], Copy(file=rupbench(tmp_path))).suite
    sets = suite.grouping("pair").sets()
    assert {len(members) for members in sets.values()} == {10}
    assert sum(item.factors["version"] == "original" for item in suite.items) == 2


def test_a_perturbation_without_text_is_left_out_and_counted(tmp_path: Path) -> None:
    path = table(tmp_path / "PIQA_RUP.csv", [{**RUPBENCH, "goal_comp": " "}])
    found = of("piqa-rup", path)
    assert len(found.suite.items) == 8
    assert "1 of 9 rows cannot be asked: no goal (1); the first:" in found.notes[0]


def mmlu(path: Path, delimiter: str, encoding: str = "utf-8") -> Built:
    rows = [
        ["question", "choices", "answer", "error_type", "source", "correct_answer", "potential_reason"],
        ["Who naps; who works?", "['A cat', 'A “dog”', 'An ant, too', 'A bee']", "0", "Ok", "", "", ""],
        ["Which?", "['w', 'x', 'y', 'z']", "1", "Bad Question Clarity", "", "", "of what?"],
        ["Which one?", "['w', 'x', 'y', 'z']", "1", "Unclear Question", "", "", ""],
        ["What?", "['w', 'x', 'y', 'z']", "1", "No Correct Answers", "", "v", ""],
    ]
    with path.open("w", encoding=encoding, newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return of("mmlu-redux", path)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_mmlu_redux_s_csv_files_are_read(delimiter: str, encoding: str, tmp_path: Path) -> None:
    found = mmlu(tmp_path / "mmlu_virology.csv", delimiter, encoding)
    (item,) = found.suite.items
    assert [item.fields[letter] for letter in "ABCD"] == ["A cat", "A “dog”", "An ant, too", "A bee"]
    assert (item.fields["subject"], item.gold) == ("virology", ("A",))
    assert any("bad_question_clarity (2)" in note and "no_correct_answer (1)" in note for note in found.notes)
    assert any("read as cp1252" in note for note in found.notes) == (encoding == "cp1252")


GOOD = {"goal": "boil tea", "sol1": "heat it", "sol2": "cool it", "label": "0"}


def many(folder: Path, *others: dict[str, str]) -> Path:
    rows = [{**GOOD, "goal": f"boil tea {number}"} for number in range(30)]
    return table(folder / "piqa.csv", [*rows, *others])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"label": ""}, "no label"),
        ({"sol2": " "}, "no sol2"),
        ({"label": "2"}, "label is not as it should be"),
        ({"label": "x"}, "label is not as it should be"),
    ],
)
def test_a_few_rows_that_cannot_be_asked_are_left_out_with_reason_and_place(
    change: dict[str, str], reason: str, tmp_path: Path
) -> None:
    path = many(tmp_path, {**GOOD, **change})
    found = of("piqa", path)
    assert len(found.suite.items) == 30
    (note,) = found.notes
    assert note.startswith(f"piqa: 1 of 31 rows cannot be asked: {reason} (1); the first: {path}, line 32, field ")


def test_many_rows_with_labels_out_of_range_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="label is out of range"):
        of("piqa", many(tmp_path, *({**GOOD, "goal": f"fry {n}", "label": "2"} for n in range(3))))


def drafted(name: str) -> tuple[Suite, Suite]:
    copy = Copy(folder=PUBLISHED)
    return benchmark(TASKS[name], copy).suite, benchmark(TASKS[name], copy, drafted=True).suite


@pytest.mark.parametrize("name", list(TASKS))
def test_a_limit_takes_the_same_items_whether_items_are_made_at_once_or_when_asked_for(name: str) -> None:
    whole, lazy = drafted(name)
    assert lazy.content_hash == whole.content_hash
    assert lazy.columns == whole.columns
    for limit in (1, 2, 100):
        assert limited(lazy, limit, 3) == limited(whole, limit, 3)
    assert [lazy.by_id[one] for one in lazy.columns.ids] == list(lazy.items) == list(whole.items)
    assert lazy.grouping() == whole.grouping()
