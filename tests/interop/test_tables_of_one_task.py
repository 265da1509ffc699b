"""Tables of predictions under several file names are one task where their items are."""

from __future__ import annotations

from pathlib import Path

import pytest
from scipy.stats import binomtest

from veridical.interop.imports.importing import import_logs
from veridical.studies.judged import Judgement
from veridical.studies.study import open_study


def table(path: Path, model: str, right: str, first: int = 0, text: str = "question", task: str = "") -> Path:
    """A run of a table with two documents to a passage; `right` says by document whether the answer is right."""
    path.mkdir(exist_ok=True)
    rows = [f"id,question,passage,gold,prediction{',task' if task else ''}"]
    for number, letter in enumerate(right, first):
        gold = "AB"[number % 2]
        answer = gold if letter == "r" else "BA"[number % 2]
        cells = (str(number), f"{text} {number}", f"p{number // 2}", gold, answer, *([task] if task else []))
        rows.append(",".join(cells))
    (path / f"of-{model}.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    import_logs("predictions", path / f"of-{model}.csv", path / model, model=model)
    return path / model


def judged(*runs: Path) -> Judgement:
    return Judgement(tuple(run for path in runs for run in open_study(path).runs), sets="passage", draws=99)


def differences(found: Judgement) -> dict[tuple[str, str], tuple[float, float, int]]:
    """By pair of models: difference of whole passages, raw p, number of passages."""
    return {
        (m.model, m.against["model"]): (m.value, m.p, m.n_sets)
        for m in found.records
        if m.measure == "set_accuracy" and m.against and not m.adjusted
    }


def test_tables_of_the_same_items_are_compared_whatever_their_files_are_called(tmp_path) -> None:
    """Ten passages: x has all, y the first three. So .7 more, and 7 to 0 where they differ."""
    found = judged(table(tmp_path, "x", "r" * 20), table(tmp_path, "y", "r" * 6 + "rw" * 7))
    value, p, n = differences(found)["x", "y"]
    assert (value, n) == (pytest.approx(0.7), 10)
    assert p == pytest.approx(binomtest(7, 7).pvalue)
    (line,) = [one for one in found.verdicts if "hold the same items" in one]
    assert line.startswith("of-x and of-y hold the same items and are one task here, of-x")


def test_tables_with_parts_of_a_task_are_compared_over_what_both_hold(tmp_path) -> None:
    """x has passages 0-5, y 4-9, z all: x and y have 4 and 5 in common, and only z says that they are one task."""
    found = judged(
        table(tmp_path, "x", "r" * 12),
        table(tmp_path, "y", "w" * 12, first=8),
        table(tmp_path, "z", "r" * 12 + "w" * 8),
    )
    assert {pair: (value, n) for pair, (value, _, n) in differences(found).items()} == {
        ("x", "y"): (1.0, 2),
        ("x", "z"): (0.0, 6),
        ("y", "z"): (pytest.approx(-2 / 6), 6),
    }


def test_tables_of_other_items_under_the_same_ids_stay_apart(tmp_path) -> None:
    found = judged(table(tmp_path, "x", "r" * 20), table(tmp_path, "y", "w" * 20, text="another"))
    assert differences(found) == {}
    assert {suite.name for suite in found.suites} == {"of-x", "of-y"}
    assert not any("same items" in one or "in common" in one for one in found.verdicts)


def test_tasks_that_are_named_stay_apart_and_what_they_share_is_said(tmp_path) -> None:
    found = judged(table(tmp_path, "x", "r" * 20, task="one"), table(tmp_path, "y", "w" * 20, task="two"))
    assert differences(found) == {}
    (line,) = [one for one in found.verdicts if "in common" in one]
    assert line.startswith("one (of x) and two (of y) have 20 items in common and are not compared")
    assert "--task-column" in line
