"""Seeds from files of problems: published forms, columns and labels by name, what is skipped and counted."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from tests.runs.toy import toy_suite
from veridical.errors import UserError
from veridical.items import Item
from veridical.suites.file_writer import write_suite
from veridical.variation.problems import ProblemColumns, parse_label_names, read_seeds
from veridical.variation.seeds import Seeds, suite_seeds
from veridical.variation.stages import Stages

DATA = Path(__file__).parents[3] / "shared" / "data" / "nli_negation"

SNLI_HEADER = (
    "gold_label\tsentence1_binary_parse\tsentence2_binary_parse\tsentence1_parse\tsentence2_parse\t"
    "sentence1\tsentence2\tcaptionID\tpairID\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5\n"
)


def items(seeds: Seeds, stages: Stages | None = None) -> list[Item]:
    return [item for seed in seeds.read(stages or Stages()) for item in seed.items]


def published(label: str, premise: str, hypothesis: str, pair: str) -> dict[str, object]:
    """A line of SNLI's in our own words."""
    return {
        "annotator_labels": [label],
        "captionID": "c",
        "gold_label": label,
        "pairID": pair,
        "sentence1": premise,
        "sentence1_binary_parse": "( ... )",
        "sentence2": hypothesis,
    }


@pytest.fixture
def snli_jsonl(tmp_path: Path) -> Path:
    path = tmp_path / "snli_test.jsonl"
    rows = [
        published("neutral", "A cook stirs a pot.", "The cook is hungry.", "c#0r1n"),
        published("-", "A cook stirs a pot.", "The cook is tired.", "c#0r1x"),
        published("contradiction", "A cook stirs a pot.", "The cook sleeps.", "c#0r1c"),
        published("neutral", "A cook stirs a pot.", " ", "c#0r2n"),
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_snli_jsonl_is_read_and_pairs_without_a_gold_label_are_counted(snli_jsonl: Path) -> None:
    stages = Stages()
    found = items(read_seeds(snli_jsonl), stages)
    assert [(item.name, item.gold, item.fields["hypothesis"]) for item in found] == [
        ("c#0r1n", ("neutral",), "The cook is hungry."),
        ("c#0r1c", ("contradiction",), "The cook sleeps."),
    ]
    assert found[0].factors == {"source": "snli_test", "label": "neutral"}
    assert (stages["a gold label"].entered, stages["a gold label"].left) == (4, 3)
    assert (stages["premise and hypothesis there"].entered, stages["premise and hypothesis there"].left) == (3, 2)


def test_snli_tsv_is_read_with_its_quotation_marks(tmp_path: Path) -> None:
    path = tmp_path / "snli.txt"
    texts = '"Stop" is on the sign.\tA sign says "stop".'
    row = f"entailment\t( )\t( )\t(ROOT)\t(ROOT)\t{texts}\tc\tc#1\tentailment\t\t\t\t\n"
    path.write_text(SNLI_HEADER + row, encoding="utf-8")
    (item,) = items(read_seeds(path))
    assert item.fields == {"premise": '"Stop" is on the sign.', "hypothesis": 'A sign says "stop".'}
    assert item.name == "c#1"


def test_multinli_rows_with_fewer_label_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "multinli.txt"
    header = "gold_label\tsentence1\tsentence2\tpromptID\tpairID\tgenre\tlabel1\tlabel2\n"
    path.write_text(header + "neutral\tOne came.\tTwo came.\t1\t1n\tfiction\tneutral\n", encoding="utf-8")
    assert [item.name for item in items(read_seeds(path))] == ["1n"]


def test_columns_and_labels_are_named_by_the_user(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("kontext,satz,urteil\nA dog ran.,A dog moved.,folgt\n", encoding="utf-8")
    with pytest.raises(
        UserError, match=r"no column for the premise; its columns are kontext, satz, urteil.*--premise-column"
    ):
        read_seeds(path)
    with pytest.raises(UserError, match="no column 'satzz'"):
        read_seeds(path, ProblemColumns("kontext", "satzz", "urteil"))
    columns = ProblemColumns("kontext", "satz", "urteil")
    with pytest.raises(UserError, match=r"line 2, column 'urteil': unknown label 'folgt'.*--label-name"):
        items(read_seeds(path, columns))
    named = ProblemColumns("kontext", "satz", "urteil", parse_label_names(["folgt=entailment"]))
    (item,) = items(read_seeds(path, named))
    assert (item.gold, item.factors["label"]) == (("entailment",), "entailment")


def test_numbered_labels_are_not_guessed_at(tmp_path: Path) -> None:
    path = tmp_path / "numbered.jsonl"
    rows = [{"premise": "A dog ran.", "hypothesis": "A dog moved.", "label": label} for label in (0, -1)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    with pytest.raises(UserError, match="unknown label '0'"):
        items(read_seeds(path))
    columns = ProblemColumns(labels=parse_label_names(["0=entailment", "1=neutral", "2=contradiction"]))
    stages = Stages()
    assert [item.gold for item in items(read_seeds(path, columns), stages)] == [("entailment",)]
    assert stages["a gold label"].dropped == 1


@pytest.mark.parametrize("given", ["entailment", "x=", "x=maybe", "x=entailment,maybe"])
def test_a_label_name_that_says_nothing_is_refused(given: str) -> None:
    with pytest.raises(UserError, match="write NAME=LABEL"):
        parse_label_names([given])


@pytest.mark.parametrize("label", ["yes", "no", "true", "1", "positive", "entails"])
def test_no_label_is_suggested_for_a_name_that_is_not_known(tmp_path: Path, label: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(f"premise,hypothesis,label\nA dog ran.,A cat ran.,{label}\n", encoding="utf-8")
    with pytest.raises(UserError) as message:
        items(read_seeds(path))
    assert f"--label-name '{label}'=LABEL for each, with LABEL one of entailment, neutral," in str(message.value)
    assert "written as a suite file" in str(message.value)
    assert f"{label}=neutral" not in str(message.value).replace("'", "")


@pytest.mark.parametrize("spelt", ["not_entailment", "not entailment", "Not-Entailment"])
def test_what_is_not_entailed_is_neutral_or_contradicted(tmp_path: Path, spelt: str) -> None:
    path = tmp_path / "rte.tsv"
    path.write_text(f"index\tsentence1\tsentence2\tlabel\n7\tA dog ran.\tA cat ran.\t{spelt}\n", encoding="utf-8")
    (item,) = items(read_seeds(path))
    assert (item.gold, item.factors["label"], item.name) == (("neutral", "contradiction"), "not_entailment", "7")


def test_a_row_that_is_cut_off_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "cut.tsv"
    path.write_text("premise\thypothesis\tlabel\nA dog ran.\tA dog mo", encoding="utf-8")
    with pytest.raises(UserError, match="line 2: no cell in the column 'label'"):
        items(read_seeds(path))


def test_a_suite_file_is_known_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    write_suite(toy_suite(2), path)
    seeds = read_seeds(path)
    assert seeds.frame.content_hash == toy_suite(2).content_hash
    assert len(items(seeds)) == 8


def test_a_suite_without_the_texts_is_refused() -> None:
    suite = toy_suite(1, pair=("context", "claim"))
    with pytest.raises(
        UserError, match=r"no field 'claim', 'context'; a word to replace is taken from context and from claim"
    ):
        suite_seeds(suite)


@pytest.mark.skipif(not DATA.is_dir(), reason="the public data is not here")
@pytest.mark.parametrize(
    ("name", "encoding", "labels", "said"),
    [
        ("SNLI.txt", "utf-8", {"entailment", "neutral", "contradiction"}, ()),
        ("MNLI.txt", "cp1252", {"entailment", "neutral", "contradiction"}, ("Windows-1252",)),
        ("RTE.txt", "cp1252", {"entailment", "not_entailment"}, ("Windows-1252",)),
    ],
)
def test_public_data_is_read_whole(name: str, encoding: str, labels: set[str], said: tuple[str, ...]) -> None:
    seeds = read_seeds(DATA / name)
    found = items(seeds)
    assert len(found) == 1500
    assert set(Counter(str(item.factors["label"]) for item in found)) == labels
    assert len(seeds.notes) == len(said)
    assert all(word in note for word, note in zip(said, seeds.notes, strict=True))
    written = (DATA / name).read_bytes().decode(encoding)
    assert all(text in written for item in found for text in item.fields.values())


def test_null_counts_as_missing(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    rows: list[dict[str, object]] = [
        {"premise": "A dog.", "hypothesis": None, "label": "neutral"},
        {"premise": None, "hypothesis": "A dog.", "label": "neutral"},
        {"premise": "A dog.", "hypothesis": "A cat.", "label": None},
        {"premise": "A dog.", "hypothesis": "A cat.", "label": "neutral", "id": None, "tags": ["x"]},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    stages = Stages()
    (item,) = items(read_seeds(path), stages)
    assert item.fields == {"premise": "A dog.", "hypothesis": "A cat."}
    assert (stages["a gold label"].dropped, stages["premise and hypothesis there"].dropped) == (1, 2)


@pytest.mark.parametrize("column", ["premise", "hypothesis", "label"])
@pytest.mark.parametrize("value", [["A dog."], {"text": "A dog."}, []])
def test_a_list_or_an_object_is_not_text(tmp_path: Path, column: str, value: object) -> None:
    path = tmp_path / "pairs.jsonl"
    row: dict[str, object] = {"premise": "A dog.", "hypothesis": "A cat.", "label": "neutral"}
    path.write_text(f"{json.dumps(row)}\n{json.dumps({**row, column: value})}\n", encoding="utf-8")
    with pytest.raises(UserError, match=rf"pairs\.jsonl, line 2, column '{column}': a list or an object"):
        items(read_seeds(path))


def test_a_label_name_that_is_given_twice_is_refused() -> None:
    with pytest.raises(UserError, match=r"'x' is given twice; for two labels write NAME=ONE,OTHER"):
        parse_label_names(["x=neutral", "x=contradiction"])


def test_one_column_is_not_two_texts(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("premise,hypothesis,label\nA dog,dogs,neutral\n")
    with pytest.raises(UserError, match="name one for each with --premise-column"):
        read_seeds(path, ProblemColumns(premise="hypothesis"))
