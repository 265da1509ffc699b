"""A benchmark's table in the terminal: one column a normalisation, chance and majority below, sets beside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.console import Console

import veridical
from tests.runs.toy import ToyModel
from veridical.report import render

PUBLISHED = Path(__file__).parents[1] / "suites" / "commonsense" / "published"


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    out = tmp_path_factory.mktemp("study")
    study = veridical.run(["piqa", "winowhat-pairs"], model=ToyModel(), data_dir=PUBLISHED, out=out)
    console = Console(width=100, record=True, color_system=None)
    console.print(render(study.judgement.suites, study.records))
    return console.export_text().splitlines()


def test_a_row_has_accuracy_under_every_normalisation_that_was_scored(printed: list[str]) -> None:
    heading = next(line for line in printed if "accuracy" in line)
    assert heading.split() == ["prompt", "accuracy", "sum", "token", "char", "byte", "not", "ok"]
    row = next(line for line in printed if "zero-shot" in line)
    assert re.search(r"zero-shot +\S+( \[.*\])?( +1?\.\d\d){4} +0$", row)


def test_chance_and_majority_stand_below_and_constant_labels_do_not(printed: list[str]) -> None:
    assert [line.split()[:2] for line in printed if line.startswith("chance")] == [["chance", ".50"]] * 2
    assert sum(line.startswith("majority") for line in printed) == 2
    assert not any("always" in line for line in printed)


def test_a_factor_of_few_values_has_a_table_of_its_own(printed: list[str]) -> None:
    place = next(n for n, line in enumerate(printed) if line.startswith("prompt") and "original" in line)
    assert printed[place].split() == ["prompt", "original", "reworked"]
    assert "Accuracy by version." in printed[place:]
