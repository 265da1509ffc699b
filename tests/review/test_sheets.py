"""Sheets are blinded, differ between raters, can be joined back, and are never written over."""

from __future__ import annotations

import csv
from collections import Counter
from io import StringIO
from itertools import pairwise
from pathlib import Path

import pytest

from tests.review.making import LABELS, fill, make_item, make_suite
from tests.runs.toy import ToyModel, toy_suite
from veridical.errors import UserError
from veridical.items import Choice, Item, Member, Suite
from veridical.judge.names import register
from veridical.review.agreement import agreement
from veridical.review.blinding import blinded
from veridical.review.form import form
from veridical.review.key import read_key
from veridical.review.sheets import csv_text, instructions, source_suite, write_sheets
from veridical.studies.run import run
from veridical.suites.file_writer import write_suite
from veridical.suites.registry import load

GENERIC = "accuracy"


def published(suite: Suite, **options: int) -> str:
    """Everything that goes to raters."""
    _, sheets = blinded(suite, 2, **options)
    return "\n".join(csv_text(sheet) + form(sheet, "f.csv") + instructions(sheet) for sheet in sheets)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text, newline="")))


@pytest.mark.parametrize("measures", ["merge", "imperfective", "evidence", GENERIC])
def test_what_raters_see_does_not_depend_on_gold_names_factors_or_sets(measures: str) -> None:
    one = make_suite(measures, gold=lambda number: LABELS[number % 3])
    other = make_suite(measures, gold=lambda number: LABELS[2 - number % 3])
    assert {item.gold for item in one.items} == {item.gold for item in other.items}
    assert one.content_hash != other.content_hash
    assert published(one) == published(other)


@pytest.mark.parametrize("measures", ["merge", "imperfective", "imperfective-quads"])
def test_sheets_without_a_label_question_have_no_label_at_all(measures: str) -> None:
    text = published(make_suite(measures))
    for hidden in (*LABELS, "source-", "pets", "a title", "seed"):
        assert hidden not in text


def test_the_model_of_a_run_is_nowhere_on_its_sheets(tmp_path) -> None:
    study = run(toy_suite(2), model=ToyModel(name="hf/planted/model-name"), out=tmp_path / "study")
    suite = source_suite(tmp_path / "study")
    assert {item.id for item in suite.items} == {item.id for item in study.runs[0].suites["toy"].items}
    text = published(suite)
    assert "planted" not in text
    assert "model-name" not in text
    assert suite.items[0].fields["premise"] in text


def test_builtin_evidence_shows_texts_and_labels_and_nothing_else() -> None:
    suite = load("evidence")
    _, (sheet, *_) = blinded(suite, 1)
    assert {heading for row in sheet.rows for heading, _ in row.texts} == {
        "background",
        "evidence",
        "target",
        "condition",
    }
    text = csv_text(sheet) + form(sheet, "f.csv")
    for item in suite.items:
        assert str(item.factors["reasoning"]) not in text
        assert item.name not in text
        assert item.id not in text
    # Every endpoint offers all labels in one order, whichever the item's own.
    assert sheet.questions[0].values == ("Favors", "Challenges", "Unresolved", "Wrong Target")
    assert set(sheet.questions[0].meanings) == set(sheet.questions[0].values)


@pytest.mark.parametrize(
    ("name", "questions"),
    [
        ("imperfective", ["grammar", "fluency", "adequacy"]),
        ("imperfective-quads", ["grammar", "fluency", "adequacy"]),
        ("evidence", ["label"]),
    ],
)
def test_builtin_suites_are_asked_their_questions(name: str, questions: list[str]) -> None:
    key, sheets = blinded(load(name), 2, 20)
    assert [question.name for question in key.questions] == questions
    assert [len(sheet.rows) for sheet in sheets] == [20, 20]


def test_a_variant_is_shown_next_to_its_seed_and_no_seed_is_rated() -> None:
    suite = make_suite("merge")
    key, (sheet, *_) = blinded(suite, 1)
    assert [question.name for question in key.questions] == ["fluent", "label_kept"]
    assert {item.role for item in key.items} == {"variant"}
    assert len(sheet.rows) == 12
    for row in sheet.rows:
        texts = dict(row.texts)
        number = texts["variant premise"].split("number")[1]
        assert texts["original premise"] == f"The dog number{number}"
        assert "animal-" in texts["variant premise"]


def test_a_variant_of_two_seeds_that_is_a_seed_itself_is_rated_next_to_each() -> None:
    suite = make_suite("merge", n_sets=3, per_set=2)
    (grouping,) = suite.groupings
    seeds = [member for member in grouping.members if member.role == "seed"]
    # The seed of the second set is also a variant of the first seed and of the third.
    twice = tuple(Member(set=seeds[place].set, item=seeds[1].item, role="variant") for place in (0, 2))
    both = suite.model_copy(
        update={"groupings": (grouping.model_copy(update={"members": (*twice, *grouping.members)}),)}
    )
    key, (sheet,) = blinded(both, 1)
    assert Counter(item.set for item in key.items) == {seeds[0].set: 2, seeds[1].set: 1, seeds[2].set: 2}
    shown = {dict(row.texts)["original premise"] for row in sheet.rows if "dog number 1" in row.texts[2][1]}
    assert shown == {"The dog number 0 barked.", "The dog number 2 barked."}


def test_every_rater_gets_the_same_items_in_another_order_under_other_ids() -> None:
    key, sheets = blinded(make_suite(GENERIC, n_sets=10), 3)
    texts = [[row.texts for row in sheet.rows] for sheet in sheets]
    assert sorted(texts[0]) == sorted(texts[1]) == sorted(texts[2])
    assert texts[0] != texts[1] != texts[2] != texts[0]
    ids = [row.id for sheet in sheets for row in sheet.rows]
    assert len(set(ids)) == 90 == len(key.ids)
    for sheet in sheets:
        for row in sheet.rows:
            rater, position = key.ids[row.id]
            assert rater == sheet.rater
            assert key.items[position].texts == row.texts


def test_ids_are_letters_that_no_spreadsheet_program_changes() -> None:
    key, _ = blinded(make_suite(GENERIC, n_sets=30), 3)
    assert all(len(row) == 6 and row.isalpha() and not set(row) & set("aeiou") for row in key.ids)


def test_a_seed_gives_the_same_sheets_and_another_seed_others() -> None:
    suite = make_suite(GENERIC)
    assert blinded(suite, 2, seed=1) == blinded(suite, 2, seed=1)
    assert blinded(suite, 2, seed=1)[1] != blinded(suite, 2, seed=2)[1]


def test_two_reviews_with_one_seed_share_no_id() -> None:
    """Though they are of one shape, so that the same numbers would be drawn."""
    one, _ = blinded(make_suite(GENERIC), 2)
    other, _ = blinded(make_suite(GENERIC, animal="fox"), 2)
    assert not set(one.ids) & set(other.ids)


def test_items_of_a_set_are_never_neighbours() -> None:
    key, sheets = blinded(load("evidence"), 3)
    for sheet in sheets:
        sets = [key.items[key.ids[row.id][1]].set for row in sheet.rows]
        assert all(one != next_ for one, next_ in pairwise(sets))
        half = len(sets) // 2
        assert set(Counter(sets[:half]).values()) == {1}
        assert sets[:half] != sets[half:]
    for seed in range(30):
        key, (sheet,) = blinded(make_suite(GENERIC, n_sets=2), 1, seed=seed)
        sets = [key.items[key.ids[row.id][1]].set for row in sheet.rows]
        assert all(one != next_ for one, next_ in pairwise(sets))


def test_a_sample_takes_variants_from_the_sets_in_turn() -> None:
    suite = make_suite("merge", n_sets=6, per_set=4)
    for sample, per_set in ((6, {1}), (8, {1, 2}), (12, {2}), (100, {3})):
        key, _ = blinded(suite, 1, sample)
        counts = Counter(item.set for item in key.items)
        assert (len(key.items), set(counts.values()), len(counts)) == (min(sample, 18), per_set, 6)


def test_a_sample_of_sets_that_are_judged_is_of_whole_sets() -> None:
    key, _ = blinded(load("evidence"), 1, 11)
    assert set(Counter(item.set for item in key.items).values()) == {2}
    assert len(key.items) == 10
    with pytest.raises(UserError, match=r"--sample 1: the sets of evidence are judged whole, .* 2 items"):
        blinded(load("evidence"), 1, 1)


def test_choices_that_say_more_than_their_label_are_shown_in_the_order_of_labels() -> None:
    choices = (Choice(label="2", continuation="by boat"), Choice(label="1", continuation="on foot"))
    item = Item(fields={"question": "How does one cross a lake?"}, choices=choices, gold=("2",))
    suite = make_suite(GENERIC).model_copy(update={"labels": ("1", "2"), "items": (item,), "groupings": ()})
    _, (sheet,) = blinded(suite, 1)
    assert sheet.rows[0].texts == (
        ("question", "How does one cross a lake?"),
        ("answer 1", "on foot"),
        ("answer 2", "by boat"),
    )


def test_a_suite_whose_items_have_different_labels_is_refused() -> None:
    items = (make_item("A dog barked.", "A noise.", "yes", ("yes", "no")), make_item("B.", "C.", "up", ("up", "down")))
    suite = make_suite(GENERIC).model_copy(update={"labels": (), "items": items, "groupings": ()})
    with pytest.raises(UserError, match="have different labels"):
        blinded(suite, 1)


def test_variants_without_a_seed_and_seeds_without_variants_are_refused() -> None:
    suite = make_suite("merge")
    (grouping,) = suite.groupings
    without = tuple(member for member in grouping.members if member.role != "seed")
    lacking = suite.model_copy(update={"groupings": (grouping.model_copy(update={"members": without}),)})
    with pytest.raises(UserError, match="no member with the role 'seed'"):
        blinded(lacking, 1)
    with pytest.raises(UserError, match="seeds and no variants"):
        blinded(make_suite("merge", per_set=1), 1)


def test_files_are_written_and_never_over_sheets_that_may_be_filled_in(tmp_path) -> None:
    written = write_sheets(make_suite("merge"), raters=2, out=tmp_path / "review")
    assert sorted(path.name for path in written.folder.iterdir()) == [
        "instructions.txt",
        "rater-1.csv",
        "rater-1.html",
        "rater-2.csv",
        "rater-2.html",
    ]
    assert written.key_file.parent != written.folder
    assert read_key(written.key_file) == written.key
    with pytest.raises(UserError, match="may be filled in: choose another --out"):
        write_sheets(make_suite("merge"), raters=2, out=tmp_path / "review")


@pytest.mark.parametrize("out", ["", ".", "..", "/"])
def test_sheets_go_into_a_folder_of_their_own(tmp_path, monkeypatch, out: str) -> None:
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    with pytest.raises(UserError, match="is not a new folder; name one"):
        write_sheets(make_suite("merge"), raters=2, out=Path(out))
    assert [path.name for path in tmp_path.rglob("*")] == ["inner"]


def test_a_csv_sheet_opens_in_spreadsheet_programs_and_runs_nothing(tmp_path) -> None:
    formula = '=HYPERLINK("http://example.org";"x")'
    items = (
        make_item(formula, 'two\nlines, "quoted"', LABELS[0]),
        make_item("-1 degrees", "@home", LABELS[1]),
    )
    suite = make_suite(GENERIC).model_copy(update={"items": items, "groupings": ()})
    written = write_sheets(suite, raters=1, out=tmp_path / "review")
    data = written.files[0].read_bytes()
    assert data.startswith(b"\xef\xbb\xbf")
    rows = rows_of(data.decode("utf-8-sig"))
    assert sorted(row["premise"] for row in rows) == ["'-1 degrees", f"'{formula}"]
    assert sorted(row["hypothesis"] for row in rows) == ["'@home", 'two\nlines, "quoted"']
    assert list(rows[0]) == ["id", "premise", "hypothesis", "label", "comment"]
    assert {row["label"] for row in rows} == {""}


def test_a_field_called_like_a_column_does_not_hide_it(tmp_path) -> None:
    choices = tuple(Choice(label=label, continuation=label) for label in LABELS)
    items = tuple(Item(fields={"ID": f"text {n}", "label": "a tag"}, choices=choices, gold=LABELS[:1]) for n in "ab")
    suite = make_suite(GENERIC).model_copy(update={"items": items, "groupings": ()})
    written = write_sheets(suite, raters=2, out=tmp_path / "review")
    fill(written, lambda rater, item, question: item.expected["label"][0])
    found = agreement([written.folder])
    assert found.questions[0].counts == {LABELS[0]: 4, LABELS[1]: 0, LABELS[2]: 0}


def test_filled_sheets_come_back_as_what_was_filled_in(tmp_path) -> None:
    """Rater 1 gives the gold, rater 2 the gold but in one set, rater 3 nothing."""
    suite = load("evidence")
    written = write_sheets(suite, raters=3, sample=20, out=tmp_path / "review")
    odd = written.key.items[0].set

    def answer(rater, item, question):
        if rater == 3:
            return ""
        return "Unresolved" if rater == 2 and item.set == odd else item.expected["label"][0]

    sheets = fill(written, answer)
    found = agreement(sheets, draws=200)
    (label,) = found.questions
    one, two, three = label.raters
    assert (one.expected.value, two.expected.value, three.expected.value) == (1.0, 0.9, None)
    assert (one.expected_sets.value, two.expected_sets.value, three.expected_sets.n) == (1.0, 0.9, 0)
    assert (label.missing, three.missing) == (20, 20)
    assert {d.set for d in found.disagreements} == {odd}
    assert len(found.disagreements) == 2
    assert dict(found.disagreements[0].texts) == suite.by_id[found.disagreements[0].item].fields
    # Without rater 3's sheet the rest is as it was, and the sheet is said to be absent.
    two_only = agreement(sheets[:2], draws=200)
    assert (two_only.raters, two_only.absent) == ((1, 2), (3,))
    assert two_only.questions[0].exact == label.exact
    assert two_only.questions[0].missing == 0


def test_a_source_is_a_name_a_file_or_a_folder(tmp_path) -> None:
    assert source_suite("evidence").name == "evidence"
    write_suite(toy_suite(2), tmp_path / "toy.jsonl")
    assert source_suite(str(tmp_path / "toy.jsonl")).content_hash == toy_suite(2).content_hash
    run([toy_suite(2), toy_suite(2, name="other")], model=ToyModel(), out=tmp_path / "study")
    with pytest.raises(UserError, match="holds the suites toy, other: name one with --suite"):
        source_suite(tmp_path / "study")
    assert source_suite(tmp_path / "study", "other").name == "other"
    with pytest.raises(UserError, match=r"unknown suite in .* 'othr': did you mean 'other'"):
        source_suite(tmp_path / "study", "othr")
    with pytest.raises(UserError, match="unknown suite 'evidnce': did you mean 'evidence'"):
        source_suite("evidnce")
    with pytest.raises(UserError, match="not a run folder"):
        source_suite(str(tmp_path))


def test_sheets_of_a_suite_with_measures_of_its_own_ask_for_labels() -> None:
    register("made-for-this-test", "veridical.judge.generic:MEASURE_SET")
    key, _ = blinded(make_suite("made-for-this-test"), 1)
    assert [(question.name, question.values) for question in key.questions] == [("label", LABELS)]
    assert key.questions[0].meanings == {"neutral": "either may be."}
