"""The commonsense benchmarks over small files of our own in the published formats.

Whose row shapes the files in `published` copy: PIQA `valid.jsonl` with `valid-labels.lst` (yonatanbisk.com/piqa),
HellaSwag `hellaswag_val.jsonl` (rowanz/hellaswag, data/), WinoGrande `dev.jsonl` of winogrande_1.1.zip, Social IQa
`dev.jsonl` with `dev-labels.lst` of socialiqa-train-dev.zip. WinoWhat, PIQA-RUP and the lists of GoldenSwag and of
the filtered Social IQa have columns that Veridical chose where the papers give none.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.items import Suite
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy

from .asking import PUBLISHED, requests


def built(name: str, folder: str) -> Suite:
    return benchmark(TASKS[name], Copy(folder=PUBLISHED / folder)).suite


def test_piqa_asks_the_goal_and_scores_the_solutions() -> None:
    suite = built("piqa", "piqa")
    asked = requests(suite)
    context = "Question: keep a door from slamming\nAnswer:"
    assert asked[0][1] == [
        (context, " wedge a folded towel under it"),
        (context, " lay a folded towel on its handle"),
    ]
    assert [item.gold for item, _ in asked] == [("A",), ("B",), ("A",), ("B",), ("A",)]
    assert suite.normalisation == "char"


def test_items_of_one_piqa_goal_are_one_cluster() -> None:
    members = built("piqa", "piqa").grouping().members
    assert members[1].cluster == members[2].cluster == "dry wet shoes overnight"
    assert len({member.set for member in members}) == 5


def test_hellaswag_is_cleaned_of_wikihow_marks_and_keeps_a_trailing_space() -> None:
    suite = built("hellaswag", "hellaswag")
    first, _, last = requests(suite)
    assert first[1][3] == (
        "Painting a fence: A man stirs a bucket of paint beside a long fence. He",
        " dips a brush and starts on the first board.",
    )
    # "[substeps]" goes and the space before it stays, as in lm-eval.
    context = "Home and Garden: How to store onions. Choose a dry shelf. Damp air makes them rot. "
    assert last[1][0][0] == context
    # " [title]" becomes ". ", also after a full stop.
    assert last[1][1][1] == " Leave a gap between them so that air can pass.. Look them over every week."
    assert [item.gold for item, _ in (first, last)] == [("D",), ("B",)]
    assert first[0].name == "24"
    assert [m.cluster for m in suite.grouping().members] == ["activitynet~v_fence01"] * 2 + ["wikihow~3107"]


def test_goldenswag_is_the_part_of_hellaswag_that_a_list_names() -> None:
    whole, part = built("hellaswag", "hellaswag"), built("goldenswag", "hellaswag")
    assert [item.id for item in part.items] == [whole.items[0].id, whole.items[2].id]
    assert part.name == "goldenswag"


def test_the_list_may_be_the_file_that_is_given() -> None:
    given = benchmark(TASKS["goldenswag"], Copy(file=PUBLISHED / "hellaswag" / "goldenswag.txt")).suite
    assert given == built("goldenswag", "hellaswag")


def test_goldenswag_is_read_from_published_rows_too(tmp_path: Path) -> None:
    shutil.copy(PUBLISHED / "hellaswag" / "hellaswag_val.jsonl", tmp_path / "goldenswag.jsonl")
    assert len(benchmark(TASKS["goldenswag"], Copy(folder=tmp_path)).suite.items) == 3


def test_a_list_that_names_no_row_is_refused(tmp_path: Path) -> None:
    shutil.copy(PUBLISHED / "hellaswag" / "hellaswag_val.jsonl", tmp_path)
    (tmp_path / "goldenswag.txt").write_text("24\n25\n26\n")
    with pytest.raises(
        UserError, match=r"goldenswag.txt: 2 of 3 values are the field 'ind' of no row .*first being '25'"
    ):
        benchmark(TASKS["goldenswag"], Copy(folder=tmp_path))


def test_winogrande_scores_the_rest_of_the_sentence_after_each_filling() -> None:
    asked = requests(built("winogrande", "winogrande"))
    assert asked[0][1] == [
        ("The ladder would not go into the shed because the ladder", " was too long."),
        ("The ladder would not go into the shed because the shed", " was too long."),
    ]
    assert asked[2][1][0] == ("Mira asked Olga for the answer since Mira", " 's own notes were lost.")
    assert [item.gold for item, _ in asked] == [("A",), ("B",), ("A",)]


def test_winogrande_twins_are_a_set() -> None:
    suite = built("winogrande", "winogrande")
    sets = suite.grouping().sets()
    assert [len(members) for members in sets.values()] == [2, 1]
    assert suite.grouping().name == "twins"


def test_winowhat_scores_the_option_and_what_follows_it() -> None:
    asked = requests(built("winowhat", "winogrande"))
    context = "Too long to go into the shed, or to let the ladder in, was the"
    assert asked[0][1] == [(context, " ladder."), (context, " shed.")]
    assert [item.gold for item, _ in asked] == [("A",), ("B",)]


def test_winowhat_pairs_hold_the_original_and_its_paraphrase() -> None:
    suite = built("winowhat-pairs", "winogrande")
    assert [[m.role for m in members] for members in suite.grouping().sets().values()] == [["original", "reworked"]] * 2
    contexts = [pairs[0] for _, pairs in requests(suite)]
    assert contexts[0] == ("The ladder would not go into the shed because the", " ladder was too long.")
    assert contexts[1] == ("Too long to go into the shed, or to let the ladder in, was the", " ladder.")
    assert [item.factors["version"] for item in suite.items] == ["original", "reworked"] * 2


def test_piqa_pairs_hold_the_original_and_its_reworked_version() -> None:
    suite = built("piqa-pairs", "piqa")
    by_id = suite.by_id
    goals = [[by_id[m.item].fields["goal"] for m in members] for members in suite.grouping().sets().values()]
    assert goals == [
        ["keep a door from slamming", "stop a door from slamming shut"],
        ["dry wet shoes overnight", "get soaked shoes dry by morning"],
        ["find a stud in a wall", "locate a stud behind plaster"],
    ]
    assert [item.gold for item in suite.items] == [("A",), ("A",), ("B",), ("B",), ("A",), ("B",)]
    assert len(built("piqa-rup", "piqa").items) == 3


def test_social_iqa_asks_situation_and_question() -> None:
    suite = built("social-iqa", "social-iqa")
    item, pairs = requests(suite)[1]
    context = "Q: Noor lent Emil her umbrella and walked home in the rain. What will Emil want to do next?\nA:"
    assert pairs == [(context, " sell the rain"), (context, " hide from Noor"), (context, " thank Noor")]
    assert item.gold == ("C",)
    clusters = [member.cluster for member in suite.grouping().members]
    assert clusters[0] == clusters[1] != clusters[2]


def test_social_iqa_of_version_1_4_has_letters_in_the_field_correct(tmp_path: Path) -> None:
    """`socialIQa_v1.4_dev.jsonl`: the rows of `dev.jsonl`, without a file of labels beside."""
    folder = PUBLISHED / "social-iqa"
    rows = [json.loads(line) for line in (folder / "dev.jsonl").read_text(encoding="utf-8").splitlines()]
    labels = (folder / "dev-labels.lst").read_text().split()
    lettered = [{**row, "correct": "ABC"[int(label) - 1]} for row, label in zip(rows, labels, strict=True)]
    text = "".join(json.dumps(row) + "\n" for row in lettered)
    (tmp_path / "socialIQa_v1.4_dev.jsonl").write_text(text, encoding="utf-8")
    whole = built("social-iqa", "social-iqa")
    assert benchmark(TASKS["social-iqa"], Copy(folder=tmp_path)).suite.items == whole.items
    (tmp_path / "social-iqa-filtered.txt").write_text("0\n2\n")
    part = benchmark(TASKS["social-iqa-filtered"], Copy(folder=tmp_path)).suite
    assert [item.id for item in part.items] == [whole.items[0].id, whole.items[2].id]


def test_the_filtered_social_iqa_is_the_rows_whose_numbers_a_list_gives() -> None:
    whole, part = built("social-iqa", "social-iqa"), built("social-iqa-filtered", "social-iqa")
    assert [item.id for item in part.items] == [whole.items[0].id, whole.items[2].id]


def test_a_hellaswag_row_with_a_blank_ending_is_left_aside_and_reported(tmp_path: Path) -> None:
    lines = (PUBLISHED / "hellaswag" / "hellaswag_val.jsonl").read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].replace("sings to the bucket.", "[substeps]")
    (tmp_path / "hellaswag.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = benchmark(TASKS["hellaswag"], Copy(folder=tmp_path))
    assert [item.name for item in found.suite.items] == ["24", "8391"]
    assert found.notes == ("hellaswag: 1 of 3 rows are left aside: a blank ending (1)",)
