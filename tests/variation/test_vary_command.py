"""`veridical vary` as a user calls it, with a planted proposer in the place of a model."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import veridical
from tests.runs.toy import ToyModel
from tests.variation.planted import Planted, problems, texts, variants
from veridical.cli import main
from veridical.suites.file_writer import write_suite
from veridical.suites.files import read_suite
from veridical.variation import judging, proposers
from veridical.variation.builder import stages_path
from veridical.variation.tagging import SpacyTagger

TABLE = (
    "Text\tHypothesis\tgold_label\n"
    "A dog sleeps on the floor of the café.\tThe dog is tired.\tentailment\n"
    "A dog barks.\tThe dog is quiet.\t-\n"
    "Nobody is here.\tIt rains.\tneutral\n"
)


@pytest.fixture
def planted(monkeypatch: pytest.MonkeyPatch, tagger: SpacyTagger) -> Iterator[Planted]:
    proposer = Planted({"dog": {"cat": 0.3, "horse": 0.006}}, name="hf/some/model")
    monkeypatch.setattr(proposers, "load", lambda spec, **_: proposer)
    monkeypatch.setattr("veridical.variation.tagging.load_tagger", lambda model: tagger)
    monkeypatch.setattr(judging, "embedded_smollm2", lambda: None)  # no judge, but where a test names one
    return proposer


@pytest.fixture
def seeds(tmp_path: Path) -> Path:
    path = tmp_path / "seeds.tsv"
    path.write_bytes(TABLE.encode("cp1252"))
    return path


def test_the_table_of_counts_and_the_files_are_reported(
    planted: Planted, seeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "variants.jsonl"
    assert main(["vary", str(seeds), "--proposer", "hf/some/model", "--out", str(out)]) == 0
    printed = capsys.readouterr()
    rows = {line.rsplit(maxsplit=3)[0].strip(): line.split()[-2:] for line in printed.out.splitlines() if line.strip()}
    assert rows["a gold label"] == ["3", "2"]
    assert rows["P(r) > P(o)"] == ["2", "1"]
    assert "1 variants of 2 seeds, 0.50 a seed (1 noun); 1 seeds have none" in printed.out
    assert str(out) in printed.out
    assert "read as Windows-1252" in printed.err
    suite = read_suite(out)
    assert texts(suite) == [("A cat sleeps on the floor of the café.", "The cat is tired.")]
    assert suite.labels == ("entailment", "neutral", "contradiction")
    assert suite.classes["neutral"] == ("neutral",)
    document = json.loads((tmp_path / "variants.jsonl.stages.json").read_text(encoding="utf-8"))
    assert document["notes"] == [
        f"{seeds} is not UTF-8 and was read as Windows-1252 (cp1252); --encoding names another"
    ]


def test_options_reach_the_filters(planted: Planted, seeds: Path, tmp_path: Path) -> None:
    out = tmp_path / "variants.jsonl"
    options = ["--min-ratio", "0.5", "--max-variants", "1", "--limit", "1", "--seed", "4", "--encoding", "cp1252"]
    assert main(["vary", str(seeds), "--proposer", "x", "--out", str(out), *options]) == 0
    settings = json.loads((tmp_path / "variants.jsonl.stages.json").read_text(encoding="utf-8"))["settings"]
    assert settings == {
        "top": 100,
        "min_probability": 0.001,
        "min_ratio": 0.5,
        "max_variants": 1,
        "seed": 4,
        "limit": 1,
    }
    suite = read_suite(out)
    assert len(suite.items) == 2
    assert variants(suite)[0].factors["sample_seed"] == 4


def test_the_largest_seed_is_written(planted: Planted, seeds: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.jsonl"
    assert main(["vary", str(seeds), "--proposer", "x", "--out", str(out), "--seed", str(2**63 - 1)]) == 0
    assert variants(read_suite(out))[0].factors["sample_seed"] == 2**63 - 1


def test_nothing_left_at_a_stage_is_said(
    planted: Planted, seeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    planted.words = {"dog": {"dogs": 0.3}}
    assert main(["vary", str(seeds), "--proposer", "x", "--out", str(tmp_path / "o.jsonl")]) == 0
    message = capsys.readouterr().err
    assert "nothing left at the stage 'same fine tag in the sentence': 0 of 1 replacements" in message
    assert "dog (NN) > dogs (NNS)" in message


def test_a_built_in_suite_is_varied_by_name(planted: Planted, tmp_path: Path) -> None:
    planted.words = {"baker": {"chef": 0.3}}
    out = tmp_path / "imperfective.jsonl"
    assert main(["vary", "--suite", "imperfective", "--proposer", "x", "--out", str(out), "--limit", "2"]) == 0
    suite = read_suite(out)
    assert suite.name == "imperfective-variants"
    assert suite.labels == ("True", "False", "Unknown")


def test_what_it_writes_can_be_run(planted: Planted, seeds: Path, tmp_path: Path) -> None:
    out = tmp_path / "variants.jsonl"
    assert main(["vary", str(seeds), "--proposer", "x", "--out", str(out)]) == 0
    study = veridical.run(str(out), model=ToyModel(), out=tmp_path / "study")
    measures = set(study.measures["measure"])
    assert {"seed_accuracy", "variant_accuracy", "seed_variant_accuracy", "matching_correctness"} <= measures


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give either SEEDS, a file, or --suite"),
        (["{seeds}", "--suite", "imperfective"], "give either SEEDS, a file, or --suite"),
        (["--suite", "imperfectve"], "did you mean 'imperfective'?"),
        (["--suite", "piqa"], "--suite piqa: a benchmark"),
        ([""], "a folder, not a file"),
        (["missing.tsv"], "missing.tsv: no such file"),
        (
            ["{seeds}", "--premise-column", "kontext"],
            "no column 'kontext'; its columns are Text, Hypothesis, gold_label",
        ),
        (["{seeds}", "--label-name", "x=y"], "write NAME=LABEL"),
        (["{seeds}", "--encoding", "utf-8"], "line 2: not text in the encoding 'utf-8'"),
        (["{seeds}", "--encoding", "undefined"], "unknown encoding 'undefined'"),
        (["{seeds}", "--encoding", "hex"], "unknown encoding 'hex'"),
        (["{seeds}", "--encoding", "\u00e9"], "unknown encoding '\u00e9'"),
        (["{seeds}", "--encoding", "idna"], "not text in the encoding 'idna'"),
        (["{seeds}", "--seed", "9" * 23], "Invalid value for '--seed'"),
        (["{seeds}", "--limit", "9" * 23], "Invalid value for '--limit'"),
        (["{seeds}", "--max-variants", "9" * 23], "Invalid value for '--max-variants'"),
        (["{seeds}", "--min-ratio", "inf"], "a finite number is needed"),
        (["{seeds}", "--min-ratio", "nan"], "Invalid value for '--min-ratio'"),
        (["{seeds}", "--min-ratio", "-1"], "Invalid value for '--min-ratio'"),
        (["{seeds}", "--max-variants", "0"], "Invalid value for '--max-variants'"),
        (["{seeds}", "--out", ""], "cannot write .: a folder; name a file"),
    ],
)
def test_a_mistake_is_one_line(
    planted: Planted, seeds: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    given = [argument.format(seeds=seeds) for argument in arguments]
    out = [] if "--out" in given else ["--out", str(tmp_path / "o.jsonl")]
    status = main(["vary", *given, "--proposer", "x", *out])
    message = capsys.readouterr()
    assert (status, message.out) == (2, "")
    lines = [line for line in message.err.splitlines() if line.startswith("veridical: ")]
    assert len(lines) == 1
    assert words in lines[0]
    assert not (tmp_path / "o.jsonl").exists()


@pytest.mark.parametrize("given", [["{seeds}"], ["--suite", "{suite}"], ["--suite", "{link}"]])
@pytest.mark.parametrize("out", ["same", "link", "stages"])
def test_what_is_read_is_not_overwritten(
    planted: Planted,
    seeds: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    given: list[str],
    out: str,
) -> None:
    """Neither by the suite nor by its counts, whatever the file is called; refused before a model is loaded."""
    monkeypatch.setattr(proposers, "load", lambda spec, **_: pytest.fail("a model was loaded"))
    suite = tmp_path / "suite.jsonl"
    write_suite(problems(("A dog sleeps.", "The dog rests.")).frame, suite)
    link = tmp_path / "link.jsonl"
    link.symlink_to(suite)
    read = seeds if given == ["{seeds}"] else suite
    again = tmp_path / "again.jsonl"
    target = {"same": read, "link": again, "stages": again}[out]
    if out != "same":
        (stages_path(again) if out == "stages" else again).symlink_to(read)
    before = read.read_bytes()
    arguments = [argument.format(seeds=seeds, suite=suite, link=link) for argument in given]
    assert main(["vary", *arguments, "--proposer", "x", "--out", str(target)]) == 2
    assert "which is read" in capsys.readouterr().err
    assert read.read_bytes() == before


@pytest.mark.parametrize(
    "option",
    [
        ["--premise-column", "premise"],
        ["--hypothesis-column", "hypothesis"],
        ["--label-column", "label"],
        ["--label-name", "x=neutral"],
        ["--encoding", "utf-8"],
    ],
)
@pytest.mark.parametrize("given", [["{suite}"], ["--suite", "{suite}"], ["--suite", "imperfective"]])
def test_options_of_tables_are_refused_for_a_suite(
    planted: Planted, tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str], given: list[str]
) -> None:
    suite = tmp_path / "suite.jsonl"
    write_suite(problems(("A dog sleeps.", "The dog rests.")).frame, suite)
    arguments = [argument.format(suite=suite) for argument in given]
    assert main(["vary", *arguments, *option, "--proposer", "x", "--out", str(tmp_path / "o.jsonl")]) == 2
    assert f"leave out {option[0]}" in capsys.readouterr().err
    assert not (tmp_path / "o.jsonl").exists()


def test_what_is_not_a_regular_file_is_refused_before_a_model_is_loaded(
    seeds: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(proposers, "load", lambda spec, **_: pytest.fail("a model was loaded"))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "o.jsonl.stages.json").mkdir()
    nowhere = tmp_path / "nowhere" / "o.jsonl"
    for out, message in (
        (pipe, "a named pipe"),
        (tmp_path, "a folder"),
        (tmp_path / "o.jsonl", "a folder"),
        (nowhere, "No such file or directory; choose another file"),
        (tmp_path / ("o" * 240), "File name too long; choose another file"),
    ):
        assert main(["vary", str(seeds), "--proposer", "x", "--out", str(out)]) == 2
        assert message in capsys.readouterr().err
    assert pipe.is_fifo()
