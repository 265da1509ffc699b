"""Tables of predictions become runs that are judged as any other."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from tests.cli.test_bad_input import call, fault
from veridical.errors import UserError
from veridical.interop.imports.importing import import_logs
from veridical.interop.imports.prediction_columns import PredictionColumns
from veridical.interop.imports.predictions import read_predictions
from veridical.status import Status
from veridical.studies.study import open_study


def table(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def yes_no(path: Path, separator: str = ",") -> Path:
    """Four pairs of yes and no: 5 of 8 right, 2 of 4 pairs."""
    rows = [("id", "pair", "gold", "prediction")]
    predictions = ["yes", "no", "yes", "no", "yes", "yes", "no", "no"]
    rows += [(f"q{i}", f"p{i // 2}", "no" if i % 2 else "yes", message) for i, message in enumerate(predictions)]
    rows[8] = ("q7", "p3", "no", "yes")
    return table(path, *(separator.join(row) for row in rows))


def accuracy(run: Path) -> dict[str, object]:
    study = open_study(run)
    (found,) = [one for one in study.judgement.records if one.measure == "accuracy" and one.answerer == "model"]
    return found.model_dump()


@pytest.mark.parametrize(("name", "separator"), [("a.csv", ","), ("a.tsv", "\t"), ("a.csv", ";")])
def test_a_table_of_gold_and_prediction_is_judged_with_its_pairs(tmp_path, name, separator) -> None:
    import_logs("predictions", yes_no(tmp_path / name, separator), tmp_path / "run", model="mine")
    found = accuracy(tmp_path / "run")
    assert (found["value"], found["n_items"], found["model"]) == (5 / 8, 8, "mine")
    done = call("judge", tmp_path / "run", "--sets", "pair", "--json")
    assert done.returncode == 0, done.stderr
    sets = [one for one in json.loads(done.stdout)["measures"] if one["measure"] == "set_accuracy"]
    assert [one["value"] for one in sets if one["answerer"] == "model"] == [2 / 4]


def test_scores_of_options_in_columns_are_judged_and_named_by_what_differs(tmp_path) -> None:
    path = table(
        tmp_path / "a.csv",
        "item,target,logprob_yes,logprob_no,group",
        "1,yes,-1.0,-2.0,a",
        "2,no,-1.0,-2.0,a",
        "3,no,-3.0,-2.5,b",
        "4,yes,-2.0,-2.0,b",
    )
    columns = PredictionColumns(scores=("logprob_yes,logprob_no",))
    (model,) = read_predictions(path, columns)
    answers = list(model.tasks[0].answers())
    assert [list(one.labels) for one in answers] == [["yes", "no"]] * 4
    assert [one.gold for one in answers] == [[0], [1], [1], [0]]
    assert answers[0].scores == [-1.0, -2.0]
    assert answers[0].factors == {"group": "a"}
    import_logs("predictions", path, tmp_path / "run", columns=columns)
    found = accuracy(tmp_path / "run")
    # Two are right, one is wrong, and one is tied: that may be either.
    assert (found["value"], found["bound_low"], found["bound_high"]) == (2 / 3, 2 / 4, 3 / 4) or (
        found["bound_low"],
        found["bound_high"],
    ) == (2 / 4, 3 / 4)


def test_scores_in_lists_go_with_golds_by_place(tmp_path) -> None:
    rows = [
        {"id": "a", "choices": ["tea", "sand", "ink"], "label": 0, "scores": [-1, -5, -9]},
        {"id": "b", "choices": ["stone", "bread", "glue"], "label": 1, "scores": [-1, -5, -9]},
    ]
    path = table(tmp_path / "a.jsonl", *map(json.dumps, rows))
    answers = list(read_predictions(path)[0].tasks[0].answers())
    assert [(list(one.choices), list(one.labels), one.gold) for one in answers] == [
        (["tea", "sand", "ink"], ["A", "B", "C"], [0]),
        (["stone", "bread", "glue"], ["A", "B", "C"], [1]),
    ]


def test_probabilities_are_kept_as_logarithms_and_said(tmp_path) -> None:
    path = table(tmp_path / "a.csv", "id,gold,p_yes,p_no", "1,yes,0.75,0.25", "2,no,1,0")
    (model,) = read_predictions(path, PredictionColumns(scores=("p_yes", "p_no")))
    answers = list(model.tasks[0].answers())
    assert answers[0].scores == [math.log(0.75), math.log(0.25)]
    assert math.isfinite(answers[1].scores[1])
    assert any("probabilities" in line for line in model.tasks[0].lacks)


def test_labels_that_a_program_made_numbers_are_the_same_labels(tmp_path) -> None:
    path = table(tmp_path / "a.csv", "id,gold,pred", "1,1,1.0", "2,0,1.0", "3,0.0,0", "4,1,")
    answers = list(read_predictions(path)[0].tasks[0].answers())
    assert [(list(one.labels)[one.gold[0]], one.label) for one in answers[:3]] == [("1", "1"), ("0", "1"), ("0", "0")]
    assert answers[3].status is Status.EMPTY


def test_an_answer_that_is_not_a_label_is_unparsed_and_said(tmp_path) -> None:
    lines = [f"{i},{'yes' if i % 2 else 'no'},{'maybe' if i < 3 else 'Yes'}" for i in range(8)]
    (model,) = read_predictions(table(tmp_path / "a.csv", "id,gold,answer", *lines))
    answers = list(model.tasks[0].answers())
    assert [one.status for one in answers] == [Status.UNPARSED] * 3 + [Status.OK] * 5
    assert [one.label for one in answers[3:]] == ["yes"] * 5
    assert any("3 answers are none of the labels no, yes, and not read: 'maybe' (3)" in x for x in model.tasks[0].lacks)
    named = read_predictions(tmp_path / "a.csv", PredictionColumns(labels=("yes,no,maybe",)))[0].tasks[0].answers()
    assert [one.status for one in named] == [Status.OK] * 8


def test_open_answers_are_right_where_they_are_the_gold_text(tmp_path) -> None:
    rows = [("a", "Caf\u00e9", "Cafe\u0301"), ("b", "Rome", "Paris"), ("c", "Oslo", " Oslo "), ("d", "Bern", "")]
    path = table(tmp_path / "a.jsonl", *(json.dumps({"id": i, "gold": g, "response": r}) for i, g, r in rows))
    (model,) = read_predictions(path)
    assert [one.metrics for one in model.tasks[0].answers()] == [{"exact_match": x} for x in (1.0, 0.0, 1.0, 0.0)]
    import_logs("predictions", path, tmp_path / "run")
    found = accuracy(tmp_path / "run")
    assert (found["bound_low"], found["bound_high"], found["n_items"]) == (2 / 4, 3 / 4, 4)


def test_a_column_of_grades_is_enough(tmp_path) -> None:
    path = table(tmp_path / "a.csv", "question_id,is_correct", "1,True", "2,False", "3,True", "4,True")
    import_logs("predictions", path, tmp_path / "run")
    assert accuracy(tmp_path / "run")["value"] == 3 / 4


def test_several_models_in_one_table_are_runs_of_their_own(tmp_path) -> None:
    rows = [
        f"{model},{i},{'yes' if i % 2 else 'no'},{message}"
        for model, message in (("m", "yes"), ("n", "no"))
        for i in range(4)
    ]
    done = import_logs("predictions", table(tmp_path / "a.csv", "model,id,gold,pred", *rows), tmp_path / "out")
    assert sorted(name for _, name, _ in done.imported) == ["m", "n"]


def test_what_is_asked_stands_apart_from_what_the_model_did(tmp_path) -> None:
    path = table(
        tmp_path / "a.csv",
        "id,premise,gold,pred,seconds,verb",
        "1,A dog runs.,yes,yes,0.5,run",
        "2,B.,no,no,1,be",
        "3,C.,yes,no,1,be",
        "4,D.,no,no,1,be",
    )
    answer = next(iter(read_predictions(path)[0].tasks[0].answers()))
    assert answer.fields == {"id": "1", "premise": "A dog runs."}
    assert answer.factors == {"seconds": "0.5", "verb": "run"}


@pytest.mark.parametrize(
    ("lines", "flags", "message"),
    [
        (("id,x,y", "1,2,3"), {}, "which column holds the right answers? give --gold-column COL"),
        (
            ("id,gold,y", "1,2,3"),
            {},
            "which column holds the answers? give --prediction-column COL, or --score-columns",
        ),
        (("id,gold,pred", "1,a,b"), {"gold": "golt"}, "unknown gold column in"),
        (
            ("id,gold,pred", "1,a,b"),
            {"gold": "pred", "prediction": "pred"},
            "'pred' is the gold column and the prediction column",
        ),
        (("id,gold,a,b", "1,a,1,x"), {"scores": ("a,b",)}, "line 2: 'x' is not the score of an option"),
        (("id,gold,a,b", "1,c,1,2"), {"scores": ("a,b",)}, "'c' is none of the options a, b"),
        (("id,correct", "1,perhaps"), {}, "'perhaps' is not 0, 1, true or false"),
    ],
)
def test_what_is_wrong_with_a_table_is_said_in_one_line(tmp_path, lines, flags, message) -> None:
    path = table(tmp_path / "a.csv", *lines)
    with pytest.raises(UserError) as error:
        [list(task.answers()) for model in read_predictions(path, PredictionColumns(**flags)) for task in model.tasks]
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_flags_of_the_command_name_columns(tmp_path) -> None:
    path = table(tmp_path / "a.csv", "nr,truth,said,pair", *(f"{i},{'yn'[i % 2]},y,{i // 2}" for i in range(8)))
    refused = call("import", "predictions", path, "--out", tmp_path / "run")
    assert refused.returncode == 2
    assert "--gold-column" in fault(refused)
    flags = ["--id-column", "nr", "--gold-column", "truth", "--prediction-column", "said", "--model", "mine"]
    done = call("import", "predictions", path, "--out", tmp_path / "run", *flags)
    assert done.returncode == 0, done.stderr
    assert accuracy(tmp_path / "run")["value"] == 4 / 8
    elsewhere = call("import", "lm-eval", path, "--out", tmp_path / "other", "--gold-column", "truth")
    assert elsewhere.returncode == 2
    assert "--gold-column is for predictions" in fault(elsewhere)


def test_rows_of_one_id_with_other_right_answers_are_items_of_their_own(tmp_path) -> None:
    rows = [(0, "A", "A"), (0, "B", "B"), *((n, "B" if n % 2 else "A", "B") for n in range(1, 10))]
    path = table(tmp_path / "a.csv", "id,gold,prediction", *(f"{n},{gold},{said}" for n, gold, said in rows))
    import_logs("predictions", path, tmp_path / "run", model="m")
    found = accuracy(tmp_path / "run")
    # Right: both rows of 0, and 1, 3, 5, 7, 9.
    assert (found["value"], found["n_items"]) == (7 / 11, 11)
    assert found["bound_low"] in (None, 7 / 11)
    (task,) = open_study(tmp_path / "run").runs[0].manifest.imported.tasks
    assert any("1 id has rows with different right answers" in lack for lack in task.lacks)


@pytest.mark.parametrize("label", ["NA", "none", "n/a"])
def test_a_label_that_reads_as_missing_is_a_label_where_it_is_a_right_answer(tmp_path, label) -> None:
    rows = [*(f"{n},{label},{label}" for n in range(5)), *(f"{n},B,B" for n in range(5, 10)), "10,B,", "11,B,null"]
    import_logs("predictions", table(tmp_path / "a.csv", "id,gold,prediction", *rows), tmp_path / "run", model="m")
    found = accuracy(tmp_path / "run")
    assert (found["bound_low"], found["bound_high"]) == (10 / 12, 1.0)
    assert found["value"] == 10 / 12


# What is not a file of predictions


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1" * 5000, "line 1: no table: a header with tabs, commas or semicolons is needed, or one JSON object a line"),
        ("true", "line 1: no table"),
        ("[" * 50_000, "no JSON object with an answer is in it"),
        ("[" * 50_000 + "]" * 50_000, "no JSON object with an answer is in it"),
        ('{"a":' * 50_000, "nested too deeply"),
        ("[1, 2, 3]", "3 of 3 records cannot be read"),
        ("[]", "no JSON object with an answer is in it"),
        ("{}", "no JSON object with an answer is in it"),
        ("gold,prediction", "no rows; write one for each answer"),
    ],
)
def test_a_file_without_a_row_is_answered_with_what_it_lacks(tmp_path, text, words) -> None:
    (tmp_path / "a.jsonl").write_text(text + "\n")
    with pytest.raises(UserError) as caught:
        import_logs("predictions", tmp_path / "a.jsonl", tmp_path / "run")
    assert str(tmp_path / "a.jsonl") in str(caught.value)
    assert words in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_no_file_is_called_what_it_is(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for path, words in (
        (tmp_path / "pipe", "a named pipe, not a file"),
        (Path("/dev/zero"), "a device, not a file"),
        (tmp_path / "folder", "a folder, not a file"),
        (tmp_path / "none.csv", "no such file"),
    ):
        with pytest.raises(UserError, match=words):
            import_logs("predictions", path, tmp_path / "run")


# Which texts are an option


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (["1,A,a", "2,A,A", "3,B,b", "4,B,A"], "2 predictions are read as options in other upper and lower case"),
        (["1,yes,1", "2,yes,yes", "3,no,yes", "4,no,0"], "2 predictions are read as options by their place"),
        (["1,A,a", "2,A,A", "3,B,b", "4,B,A"], "'a' as 'A' (1), 'b' as 'B' (1)"),
    ],
)
def test_what_is_an_option_but_for_its_case_or_by_its_place_is_said(tmp_path, rows, words) -> None:
    """3 of 4 are right if they are taken for the options."""
    done = import_logs("predictions", table(tmp_path / "a.csv", "id,gold,prediction", *rows), tmp_path / "run")
    assert accuracy(tmp_path / "run")["value"] == 3 / 4
    assert any(words in notice for notice in done.study.judgement.notices)


def test_nothing_is_said_of_texts_that_are_the_options(tmp_path) -> None:
    done = import_logs("predictions", yes_no(tmp_path / "a.csv"), tmp_path / "run")
    assert not any("are read as options" in notice for notice in done.study.judgement.notices)


@pytest.mark.parametrize(("label", "written"), [("null", "null"), ("nan", "nan"), ("NaN", "nan"), ("None", "NONE")])
@pytest.mark.parametrize("named_by", ["labels", "choices", "scores"])
def test_a_label_that_is_named_is_a_right_answer_whatever_it_is_called(tmp_path, label, written, named_by) -> None:
    """Golds: hate, LABEL, LABEL; answers: hate, LABEL, hate, so that 2 of 3 are right."""
    columns = {
        "labels": ("id,gold,prediction", PredictionColumns(labels=("hate", label))),
        "choices": ("id,gold,prediction,choices", PredictionColumns()),
        "scores": (f"id,gold,score_hate,score_{label}", PredictionColumns(scores=("score_hate", f"score_{label}"))),
    }
    header, given = columns[named_by]
    rows = []
    for number, (gold, said) in enumerate([("hate", "hate"), (written, written), (written, "hate")]):
        end = {"labels": said, "choices": f"{said},hate|{label}", "scores": "-1,-2" if said == "hate" else "-2,-1"}
        rows.append(f"{number},{gold},{end[named_by]}")
    import_logs("predictions", table(tmp_path / "a.csv", header, *rows), tmp_path / "run", columns=given)
    found = accuracy(tmp_path / "run")
    assert (found["value"], found["n_items"]) == (pytest.approx(2 / 3), 3)


def test_a_right_answer_that_is_read_as_none_is_said_with_the_remedy(tmp_path) -> None:
    path = table(tmp_path / "a.csv", "id,gold,prediction", "1,null,hate", "2,hate,hate", "3,love,love", "4,,hate")
    done = import_logs("predictions", path, tmp_path / "run", columns=PredictionColumns(labels=("hate", "love")))
    reasons = {reason: n for task in done.study.runs[0].manifest.imported.tasks for reason, n in task.skipped.items()}
    assert reasons == {
        "a row without a right answer ('null' is read as none; --labels names labels)": 1,
        "a row without a right answer": 1,
    }


def test_open_answers_that_differ_by_case_are_wrong_and_counted(tmp_path) -> None:
    rows = [f"{n},Name {n},{'N' if n < 3 else 'n'}ame {n}" for n in range(6)]
    done = import_logs("predictions", table(tmp_path / "a.csv", "id,gold,prediction", *rows), tmp_path / "run")
    assert accuracy(tmp_path / "run")["value"] == 3 / 6
    assert any(
        "3 answers differ from a right answer in upper and lower case alone, and" in one
        for one in done.study.judgement.notices
    )


@pytest.mark.parametrize(
    ("last", "message"),
    [
        ("4,no", "line 5: 2 cells under 3 columns; is the file cut off"),
        ("4", "line 5: 1 cell under 3 columns"),
        ("4,no,no,no", "line 5: 4 cells under 3 columns"),
    ],
)
@pytest.mark.parametrize("separator", [",", "\t", ";"])
def test_a_row_with_other_cells_than_the_header_is_refused(tmp_path, last, message, separator) -> None:
    lines = [line.replace(",", separator) for line in ("id,gold,pred", "1,yes,yes", "2,no,no", "3,yes,no", last)]
    with pytest.raises(UserError, match=message):
        read_predictions(table(tmp_path / "a.csv", *lines))


def test_an_empty_cell_at_the_end_is_no_cut(tmp_path) -> None:
    path = table(tmp_path / "a.csv", "id,gold,pred", "1,yes,yes", "2,no,no", "3,yes,no", "4,no,")
    assert [one.status for one in read_predictions(path)[0].tasks[0].answers()] == [Status.OK] * 3 + [Status.EMPTY]


@pytest.mark.parametrize("other", ["Yes", "YES", "yEs"])
def test_spellings_of_one_right_answer_are_one_option_and_said(tmp_path, other) -> None:
    rows = [f"1,{other},yes", f"2,yes,{other}", "3,yes,YeS", "4,no,no", "5,no,yes", "6,not  sure,not sure"]
    path = table(tmp_path / "a.csv", "id,gold,pred", *rows, "7,not sure,no", "8,not sure,not sure")
    (model,) = read_predictions(path)
    assert {tuple(one.labels) for one in model.tasks[0].answers()} == {("no", "not sure", "yes")}
    said = [line for line in model.tasks[0].notices if "right answers are read as options" in line]
    assert len(said) == 1
    assert said[0].startswith("2 right answers")
    assert f"{other!r} as 'yes' (1)" in said[0]
    import_logs("predictions", path, tmp_path / "run")
    found = accuracy(tmp_path / "run")
    assert (found["value"], found["n_items"]) == (6 / 8, 8)


@pytest.mark.parametrize("labels", ["yes,Yes,no", "not sure,yes,Not  Sure"])
def test_labels_that_no_answer_tells_apart_are_refused(tmp_path, labels) -> None:
    path = table(tmp_path / "a.csv", "id,gold,pred", "1,yes,yes", "2,yes,no")
    with pytest.raises(UserError, match="are one option but for upper and lower case or white space"):
        read_predictions(path, PredictionColumns(labels=(labels,)))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"id,gold,pred\n1,yes,\x81\n", "line 2: neither UTF-8 nor cp1252; save it as UTF-8"),
        (b"id,gold,pred\n1,yes,y\0s\n", "line 2: a NUL byte.*save it as UTF-8"),
        ("id,gold,pred\n1,é,y\0s\n".encode(), "line 2: a NUL byte.*save it as UTF-8"),
    ],
)
def test_what_is_no_text_is_named_with_what_helps_here(tmp_path, data, message) -> None:
    (tmp_path / "a.csv").write_bytes(data)
    with pytest.raises(UserError, match=message) as wording:
        read_predictions(tmp_path / "a.csv")
    assert "--encoding" not in str(wording.value)


def test_rows_whose_right_answer_is_no_label_are_said_to_be_left_out(tmp_path) -> None:
    rows = ["1,yes,yes", "2,no,no", "3,yes,no", "4,no,maybe", "5,maybe,maybe", "6,maybe,maybe"]
    path = table(tmp_path / "a.csv", "id,gold,pred", *rows)
    lacks = read_predictions(path, PredictionColumns(labels=("yes,no",)))[0].tasks[0].lacks
    assert any("1 answer is none of the labels yes, no, and not read: 'maybe' (1)" in line for line in lacks)
    assert any("2 rows are left out, since what is right is none of the labels" in line for line in lacks)


@pytest.mark.parametrize("name", ["NA", "none", "null", "nan", "N/A"])
def test_ids_and_names_of_models_are_kept_as_they_stand(tmp_path, name) -> None:
    lines = ["id,gold,prediction,model", f"{name},A,A,{name}", f"2,B,A,{name}", f"3,A,A,{name}", f"4,B,B,{name}"]
    ((run, _, origin),) = import_logs("predictions", table(tmp_path / "a.csv", *lines), tmp_path / "run").imported
    assert not [one for one in origin.tasks[0].lacks if "different right answers" in one]
    study = open_study(run)
    assert {one.model for one in study.judgement.records if one.answerer == "model"} == {name}
    (suite,) = study.judgement.suites
    assert sorted(item.fields["id"] for item in suite.items) == sorted([name, "2", "3", "4"])


def test_a_row_without_an_id_is_no_other_row(tmp_path) -> None:
    # The first row is line 2 of the file, and another row has the id 2.
    lines = ["id,gold,prediction", ",A,A", "2,B,A", "3,A,A", "4,B,B"]
    ((run, _, origin),) = import_logs("predictions", table(tmp_path / "a.csv", *lines), tmp_path / "run").imported
    assert not [one for one in origin.tasks[0].lacks if "different right answers" in one]
    (suite,) = open_study(run).judgement.suites
    assert sorted(item.fields["id"] for item in suite.items) == ["2", "3", "4", "line 2"]
