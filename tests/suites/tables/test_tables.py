"""Suites made from tables: which columns are found, what becomes of cells, what is refused."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import polars as pl
import pytest

import veridical
from tests.cli.test_bad_input import call
from tests.models.tiny import byte_level_tokenizer, llama, saved
from tests.runs.toy import ToyModel
from veridical.errors import UserError
from veridical.runs.load import open_runs
from veridical.studies.judged import Judgement
from veridical.suites.registry import Data, load, read
from veridical.suites.tables.options import TableOptions

PAIRS = """\
id,pair,role,text,label
1,tea,a,The tea is hot.,yes
2,tea,b,The tea is cold.,no
3,sun,a,It shines.,yes
4,sun,b,It rains.,no
"""


def table(folder: Path, text: str | bytes, name: str = "pairs.csv") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_pairs_become_sets_with_roles_and_golds(tmp_path: Path) -> None:
    path = table(tmp_path, PAIRS)
    suite, notes = read(path, Data())
    assert suite.name == "pairs"
    assert suite.labels == ("no", "yes")
    assert [(item.fields["text"], item.gold, item.name) for item in suite.items][:2] == [
        ("The tea is hot.", ("yes",), "1"),
        ("The tea is cold.", ("no",), "2"),
    ]
    sets = suite.grouping().sets()
    assert {name: [m.role for m in members] for name, members in sets.items()} == {"tea": ["a", "b"], "sun": ["a", "b"]}
    assert suite.version == "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    said = " ".join(notes)
    for found in ("'text'", "'label'", "'pair'", "'role'", "'id'", "2 sets: 2 of 2 items", "Text: {{ text }}"):
        assert found in said


@pytest.mark.parametrize(
    "data",
    [
        b"\xef\xbb\xbf" + PAIRS.encode(),
        PAIRS.replace(",", ";").encode(),
        PAIRS.replace(",", "\t").encode(),
        PAIRS.encode("utf-16"),
        PAIRS.replace(",yes", ",  yes ").encode(),
    ],
)
def test_the_same_items_however_a_program_wrote_the_file(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a").mkdir()
    assert load(table(tmp_path, data)).by_id == load(table(tmp_path / "a", PAIRS)).by_id


def test_every_format_gives_the_same_items(tmp_path: Path) -> None:
    rows = [line.split(",") for line in PAIRS.splitlines()]
    frame = pl.DataFrame([dict(zip(rows[0], row, strict=True)) for row in rows[1:]])
    frame.write_parquet(tmp_path / "one.parquet")
    frame.write_ndjson(tmp_path / "two.jsonl")
    folder = tmp_path / "saved"
    folder.mkdir()
    frame.write_ipc_stream(folder / "data-00000-of-00001.arrow")
    expected = load(table(tmp_path, PAIRS)).by_id
    for path in (tmp_path / "one.parquet", tmp_path / "two.jsonl", folder):
        assert load(path).by_id == expected


@pytest.mark.parametrize(
    ("cells", "letters"),
    [
        (("A", "b"), "AB"),
        (("red", "Sea"), "AC"),
        (("0", "2"), "AC"),
        (("1", "3"), "AC"),
    ],
)
def test_golds_of_options_are_letters_texts_or_numbers(tmp_path: Path, cells: tuple[str, str], letters: str) -> None:
    text = f"question,A,B,C,answer\nColour?,red,green,blue,{cells[0]}\nWater?,hill,wood,sea,{cells[1]}\n"
    suite = load(table(tmp_path, text))
    assert "".join(item.gold[0] for item in suite.items) == letters
    assert suite.items[0].fields["options"] == "A. red\nB. green\nC. blue"
    assert suite.items[0].labels == ("A", "B", "C")


def test_options_of_a_list_column_may_differ_in_number(tmp_path: Path) -> None:
    rows = [
        {"question": "Which?", "choices": ["x", "y"], "answer": "y"},
        {"question": "What?", "choices": ["p", "q", "r"], "answer": "p"},
    ]
    suite = load(table(tmp_path, "\n".join(map(json.dumps, rows)), "q.jsonl"))
    assert [(item.labels, item.gold) for item in suite.items] == [(("A", "B"), ("B",)), (("A", "B", "C"), ("A",))]


def test_case_and_white_space_of_labels_are_reconciled_and_said(tmp_path: Path) -> None:
    suite, notes = read(table(tmp_path, "text,label\na,Yes\nb,Yes\nc, yes \nd,no\n"), Data())
    assert [item.gold[0] for item in suite.items] == ["Yes", "Yes", "Yes", "no"]
    assert any("'yes' read as 'Yes'" in note for note in notes)
    assert any("no sets" in note for note in notes)


def test_a_class_that_no_row_has_is_asked_and_said(tmp_path: Path) -> None:
    options = TableOptions(choices=("yes", "no", "maybe"))
    suite, notes = read(table(tmp_path, "text,label\na,yes\nb,no\n"), Data(table=options))
    assert suite.labels == ("yes", "no", "maybe")
    assert any("no row has the label maybe" in note for note in notes)


def test_a_set_of_one_row_is_said(tmp_path: Path) -> None:
    _, notes = read(table(tmp_path, "text,label,set\na,yes,1\nb,no,1\nc,no,2\n"), Data())
    assert any("2 sets: 1 of 1 item, 1 of 2 items" in note for note in notes)


MANY = "text,label\n" + "".join(f"t{k},l{k}\n" for k in range(500))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("text,sentence,label\na,b,x\n", "--text-column 'text' --text-column 'sentence'"),
        ("text,label,gold\na,b,x\n", "--label-column"),
        ("words,label\na,b\n", "--text-column"),
        ("text,verdict\na,b\n", "--label-column"),
        ("text,label,set,pair\na,b,1,1\n", "--set-column"),
        ("text,text,label\na,b,x\n", "a column twice"),
        ("text,label\n,x\nb,y\n", "line 2: no text in the column 'text'"),
        ("text,label\na,x\nb,\nc,\n", "line 3 (and 1 more row"),
        ("text,label\na,x\na,x\nb,y\n", "line 3: the same item as on line 2"),
        ("id,text,label\n1,a,x\n1,b,y\n", "--set-column id"),
        ("text,label\na,x\nb,x\n", "every row says 'x'"),
        ("text;label\n1,5;x\n2,5;y\n", "numbers alone"),
        (MANY, "500 different values"),
        ("question,A,B,C,answer\nQ,a,b,c,1\nR,a,b,c,2\n", "from 0 or from 1"),
        ("question,A,B,answer\nQ,a,b,Z\n", "neither an option's letter nor its text"),
        ("question,A,B,answer\nQ,a,,A\n", "options are needed"),
        ("text,label,role\na,x,r\nb,y,s\n", "--set-column"),
        ("text,label\n", "without rows"),
    ],
)
def test_what_is_unclear_or_wrong_is_refused_in_a_line(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(table(tmp_path, text))
    assert message in str(caught.value)
    assert "pairs.csv" in str(caught.value) or "column 'answer'" in str(caught.value)


def test_a_spreadsheet_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="save its sheet as CSV"):
        load(table(tmp_path, b"PK\x03\x04", "pairs.xlsx"))


def test_several_splits_are_refused(tmp_path: Path) -> None:
    for split in ("test", "train"):
        (tmp_path / split).mkdir()
        pl.DataFrame({"text": ["a"], "label": ["b"]}).write_parquet(tmp_path / split / "0000.parquet")
    with pytest.raises(UserError, match="several parts"):
        load(tmp_path)


def test_columns_named_for_what_is_no_table_are_refused() -> None:
    with pytest.raises(UserError, match="go with a table"):
        read("evidence", Data(table=TableOptions(label="x")))


def test_a_run_of_a_table_is_judged_without_it_and_goes_on(tmp_path: Path) -> None:
    path = table(tmp_path, PAIRS)
    model = ToyModel()
    study = veridical.run(str(path), model=model, out=tmp_path / "study")
    (run,) = study.runs
    assert run.manifest.suites[0].version == load(path).version
    asked = len(model.asked)
    assert asked >= 4  # an item at least once
    veridical.run(str(path), model=model, out=tmp_path / "study")
    assert len(model.asked) == asked
    path.unlink()
    judged = Judgement(tuple(open_runs([tmp_path / "study"])))
    assert {one.measure for one in judged.records} >= {"accuracy", "set_accuracy"}
    path.write_text(PAIRS.replace("hot", "warm"))
    with pytest.raises(UserError):
        veridical.run(str(path), model=model, out=tmp_path / "study")


def test_the_commands_of_the_documentation_go_from_a_table_to_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "own-data.md").read_text(encoding="utf-8")
    (rows,) = re.findall(r"```csv\n(.*?)```", page, re.DOTALL)
    (commands,) = re.findall(r"```bash\n(.*?)```", page, re.DOTALL)
    monkeypatch.chdir(tmp_path)
    table(tmp_path, rows)
    tokenizer = byte_level_tokenizer()
    saved(tmp_path / "tiny", llama(len(tokenizer), max_position_embeddings=1024), tokenizer)
    said = ""
    for command in commands.splitlines():
        program, *words = command.replace("smollm2", f"hf/{tmp_path / 'tiny'}").split()
        assert program == "veridical"
        done = call(*words)
        assert done.returncode == 0, done.stderr
        said += done.stderr
    assert "sets from 'pair'" in said
    assert "2 sets: 2 of 2 items" in said
    assert (tmp_path / "first" / "report.html").is_file()


@pytest.mark.parametrize("option", ["--text-column", "--label-column", "--set-column", "--role-column"])
def test_a_column_that_is_not_there_is_one_line_and_status_two(tmp_path: Path, option: str) -> None:
    done = call("run", table(tmp_path, PAIRS), "--model", "smollm2", option, "txet", "--out", tmp_path / "study")
    assert done.returncode == 2
    assert "unknown column 'txet'" in done.stderr
    assert len(done.stderr.splitlines()) == 1
