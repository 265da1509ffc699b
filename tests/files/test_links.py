"""Links that lead round in a circle are refused in one line, wherever a path is given."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_bad_input import fault
from veridical.files.links import real_path


@pytest.fixture
def circle(tmp_path: Path) -> Path:
    """Two links, each to the other."""
    (tmp_path / "one.csv").symlink_to(tmp_path / "other.csv")
    (tmp_path / "other.csv").symlink_to(tmp_path / "one.csv")
    return tmp_path / "one.csv"


def test_the_real_path_of_a_chain_is_its_end(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("c")
    assert real_path(tmp_path / "a") == tmp_path / "c"


@pytest.mark.parametrize(
    "command",
    [
        ["validity", "{}", "--benchmark", "a", "--outcome", "b"],
        ["import", "predictions", "{}", "--out", "run"],
        ["import", "lm-eval", "{}", "--out", "run"],
        ["judge", "{}"],
        ["report", "{}"],
        ["run", "{}", "--model", "smollm2"],
        ["run", "evidence", "--model", "hf/{}"],
        ["review", "agreement", "{}"],
        ["export", "jsonl", "evidence", "--out", "{}"],
        ["export", "lm-eval", "evidence", "--out", "{}"],
        ["import", "scores", "{}", "--out", "{}/x"],
        ["review", "sheet", "evidence", "--raters", "2", "--out", "{}"],
    ],
    ids=" ".join,
)
def test_a_circle_of_links_is_one_line(command: list[str], circle: Path) -> None:
    said = fault(*(word.format(circle) for word in command))
    assert "Veridical itself" not in said
    assert "one.csv" in said
