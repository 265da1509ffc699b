"""Benchmarks as a user runs them: several at once from one folder, with examples, stored and judged."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

import veridical
from tests.cli.test_bad_input import fault
from tests.runs.toy import ToyModel
from veridical.errors import UserError
from veridical.judge.measure import Measure
from veridical.suites.registry import list_suites

from .asking import PUBLISHED

NAMES = ["piqa", "winogrande", "hellaswag"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """One folder with the published files of three benchmarks in subfolders of their own."""
    for name in NAMES:
        shutil.copytree(PUBLISHED / name, tmp_path / "data" / name)
    return tmp_path / "data"


def whole(measures: tuple[Measure, ...], suite: str, answerer: str = "model") -> Measure:
    return next(
        m for m in measures if (m.suite, m.answerer, m.measure) == (suite, answerer, "accuracy") and not m.slice
    )


def test_several_benchmarks_are_run_from_one_folder(folder: Path, tmp_path: Path) -> None:
    study = veridical.run(NAMES, model=ToyModel(), data_dir=folder, out=tmp_path / "study")
    found = {name: whole(study.records, name) for name in NAMES}
    assert {name: m.n_items for name, m in found.items()} == {"piqa": 5, "winogrande": 3, "hellaswag": 3}
    assert whole(study.records, "hellaswag", "chance").value == 0.25
    # Of five items three have gold A.
    assert whole(study.records, "piqa", "majority").value == pytest.approx(3 / 5)
    views = {m.slice["normalisation"] for m in study.records if m.suite == "piqa" and "normalisation" in m.slice}
    assert views == {"sum", "token", "char", "byte"}  # this model gives no scores without a context
    sets = [m for m in study.records if (m.suite, m.measure, m.answerer) == ("winogrande", "set_accuracy", "model")]
    assert [m.n_sets for m in sets] == [1]
    assert any(m.measure == "worst_of_set" and m.suite == "winogrande" for m in study.records)


def test_a_stored_run_is_judged_without_its_data(folder: Path, tmp_path: Path) -> None:
    study = veridical.run("piqa", model=ToyModel(), data_dir=folder, out=tmp_path / "study")
    shutil.rmtree(folder)
    assert veridical.open_study(study.path).records == study.records


def test_the_number_of_examples_is_in_the_manifest_and_cannot_change_within_a_study(
    folder: Path, tmp_path: Path
) -> None:
    study = veridical.run("piqa", model=ToyModel(), data_dir=folder, shots=2, seed=5, out=tmp_path / "study")
    (run,) = study.runs
    assert [(entry.name, entry.shots) for entry in run.manifest.suites] == [("piqa", 2)]
    assert run.manifest.settings.seed == 5
    assert run.manifest.calls[0].prompts == {"piqa": ("2-shot",)}
    with pytest.raises(UserError, match="holds suite 'piqa' with --shots 2, not 0: use another --out"):
        veridical.run("piqa", model=ToyModel(), data_dir=folder, seed=5, out=tmp_path / "study")


def test_what_is_shared_by_two_benchmarks_is_asked_once(folder: Path, tmp_path: Path) -> None:
    """GoldenSwag's items are HellaSwag's."""
    model = ToyModel()
    veridical.run(["hellaswag", "goldenswag"], model=model, data_dir=folder / "hellaswag", out=tmp_path / "study")
    assert len(model.asked) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["piqa", "--data-dir", "none"], "--data-dir none: no such folder"),
        (["piqa", "--data-dir", "{empty}"], "piqa: none of its files is in .*looked for piqa.jsonl"),
        (
            ["piqa", "--data", "{data}/piqa/valid.jsonl", "--data-dir", "{data}"],
            "--data and --data-dir: give one of them",
        ),
        (["piqa", "hellaswag", "--data", "{data}/piqa/valid.jsonl"], "--data goes with one suite, not with 2"),
        (["imperfective", "--shots", "2"], "--shots 2: suite 'imperfective' has no examples to show"),
        (["piqa", "--data-dir", "{data}", "--shots", "7"], "--shots 7: of 6 examples some item may see only 6"),
        (["piqa", "--data-dir", "{data}", "--shots", "-1"], "Invalid value for '--shots'"),
        (["piqa", "--data-dir", "{data}", "--mode", "generate"], "suite 'piqa' has no prompt to ask"),
        (["piqqa", "--data-dir", "{data}"], "unknown suite 'piqqa': did you mean 'piqa'"),
    ],
)
def test_what_cannot_be_asked_is_reported_in_one_line(
    arguments: list[str], message: str, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    given = [argument.format(data=folder, empty=tmp_path / "empty") for argument in arguments]
    assert re.search(message, fault("run", *given, "--model", "smollm2", "--out", tmp_path / "study"))


def test_the_list_of_suites_tells_benchmarks_apart() -> None:
    listed = {suite.name: suite for suite in list_suites()}
    assert listed["winogrande"].data == "needs your copy"
    assert listed["winogrande"].groupings == ("twins",)
    assert listed["piqa"].licence == "AFL-3.0"
    assert listed["imperfective"].data == "in the package"


@pytest.mark.model
def test_a_real_model_gives_every_normalisation_from_one_pass(folder: Path, tmp_path: Path, smollm2) -> None:  # type: ignore[no-untyped-def]
    study = veridical.run("piqa", model=smollm2, data_dir=folder, out=tmp_path / "study")
    views = {
        str(m.slice["normalisation"]): m for m in study.records if m.answerer == "model" and "normalisation" in m.slice
    }
    assert list(views) == ["sum", "token", "char", "byte", "unconditional"]
    assert all(m.statuses == {"ok": 5} for m in views.values())
    assert views["char"].value == whole(study.records, "piqa").value
    document = json.loads((study.path / "measures.json").read_text())
    assert any(record["slice"] == {"normalisation": "byte"} for record in document)
