"""Rows for other tools, and a suite file that is the suite again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import veridical
from tests.runs.toy import ToyModel
from veridical.cli import main
from veridical.interop.exports.jsonl import export_jsonl
from veridical.items import FULL
from veridical.runs.plan import Ask, query
from veridical.suites.files import read_suite
from veridical.suites.registry import Data, read


@pytest.mark.parametrize("name", ["imperfective", "imperfective-quads", "evidence"])
def test_one_row_an_item_and_the_suite_file_is_the_suite(name: str, tmp_path: Path) -> None:
    suite = veridical.load_suite(name)
    assert export_jsonl(suite, tmp_path / "out").n_items == len(suite.items)
    lines = (tmp_path / "out" / "items.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["id"] for row in rows] == [item.id for item in suite.items]
    columns = {"id", "name", "fields", "choices", "gold", "golds", "human", "factors", "sets"}
    assert all(set(row) == columns for row in rows)
    for row, item in zip(rows, suite.items, strict=True):
        assert row["fields"] == dict(item.fields)
        assert [(c["label"], c["continuation"]) for c in row["choices"]] == [
            (c.label, c.continuation) for c in item.choices
        ]
        assert (row["gold"], row["factors"]) == (list(item.gold), dict(item.factors))
    members = [
        {"grouping": g.name, "set": m.set, "role": m.role, "cluster": m.cluster}
        for g in suite.groupings
        for m in g.members
        if m.item == suite.items[3].id
    ]
    assert rows[3]["sets"] == members
    assert members
    again = read_suite(tmp_path / "out" / "suite.jsonl")
    assert again.content_hash == suite.content_hash


@pytest.mark.parametrize("name", ["winowhat", "cei", "implicature", "timedial", "mmlu-redux"])
def test_a_benchmark_s_suite_file_is_the_benchmark(name: str, tmp_path: Path) -> None:
    """Contexts a choice, distributions over labels, two gold systems, several right answers, rows left aside."""
    published = Path(__file__).parents[1] / "suites" / "commonsense" / "published"
    assert main(["export", "jsonl", name, "--data-dir", str(published), "--out", str(tmp_path / "out")]) == 0
    suite, _ = read(name, Data(folder=published))
    again = read_suite(tmp_path / "out" / "suite.jsonl")
    assert again == suite
    assert again.content_hash == suite.content_hash
    for prompt in suite.prompts:
        asks = [Ask(suite.name, item.id, FULL, prompt.name, 0, "loglikelihood", 0, item.labels) for item in suite.items]
        assert [query(again, ask) for ask in asks] == [query(suite, ask) for ask in asks]


def test_the_folder_says_where_the_items_come_from(tmp_path: Path) -> None:
    suite = veridical.load_suite("evidence")
    export_jsonl(suite, tmp_path / "out")
    readme = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "Licence: Apache-2.0." in readme
    assert "Cite: Design after arXiv 2607.26929" in readme
    assert "Sets by grouping: pair 54." in readme
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["items"], manifest["sets"], manifest["content_hash"]) == (108, {"pair": 54}, suite.content_hash)


def test_the_command_that_is_shown_holds_a_folder_s_name_as_a_shell_takes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "two words $HOME"
    assert main(["export", "jsonl", "evidence", "--out", str(out)]) == 0
    message = capsys.readouterr().out.splitlines()[-1]
    command = shlex.split(message.split("(to ask them: ")[1].rstrip(")"))
    assert command == ["veridical", "run", str(out / "suite.jsonl"), "--model", "MODEL"]


def test_the_written_suite_is_asked_and_answered_alike(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", "jsonl", "imperfective-quads", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    file = tmp_path / "out" / "suite.jsonl"
    assert f"veridical run {file} --model MODEL" in printed
    settings = {"model": ToyModel(), "limit": 4, "prompts": "zero-shot"}
    studies = [
        veridical.run(suite, out=tmp_path / name, **settings)  # type: ignore[arg-type]
        for name, suite in (("a", str(file)), ("b", "imperfective-quads"))
    ]
    values = [[(m.measure, m.value) for m in study.records] for study in studies]
    assert values[0] == values[1]
