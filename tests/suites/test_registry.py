"""Suites by name, by path and over published data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.items import Choice, Item, Suite
from veridical.prompts.template import Prompt
from veridical.suites.file_writer import write_suite
from veridical.suites.registry import BUILT_IN, list_suites, load


def toy() -> Suite:
    return Suite(
        name="toy",
        version="1",
        prompts=(Prompt(name="p", user="{{ n }}"),),
        items=(Item(fields={"n": "1"}, choices=(Choice(label="a", continuation="a"),)),),
    )


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_a_built_in_suite_has_its_own_name_and_is_built_once(name: str) -> None:
    assert load(name).name == name
    assert load(name) is load(name)


@pytest.mark.parametrize("name", list(BUILT_IN))
def test_a_built_in_suite_survives_a_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    write_suite(load(name), path)
    assert load(path).content_hash == load(name).content_hash
    assert load(path).by_id == load(name).by_id


def test_the_list_counts_what_there_is() -> None:
    own = [summary for summary in list_suites() if summary.items is not None]
    for summary in own:
        suite = load(summary.name)
        assert summary.items == len(suite.items)
        assert summary.sets == len({member.set for member in suite.groupings[0].members})
        assert summary.prompts == tuple(prompt.name for prompt in suite.prompts)
        assert summary.licence == "Apache-2.0"
    names = ["imperfective", "imperfective-quads", "evidence", "evidence-development"]
    assert [summary.name for summary in own] == names


def test_an_unknown_name_is_reported_with_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown suite 'imperfectiv': did you mean 'imperfective'"):
        load("imperfectiv")
    with pytest.raises(UserError, match="unknown suite ''"):
        load("")


def test_a_path_is_a_suite_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("toy.jsonl", "toy", "./toy.jsonl"):
        write_suite(toy(), Path(name))
        assert load(name) == toy()
    for name in ("none.jsonl", "./none", "folder/none"):
        with pytest.raises(UserError, match="no such file"):
            load(name)


def test_a_built_in_name_is_not_shadowed_by_a_file_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_suite(toy(), Path("imperfective"))
    assert load("imperfective").name == "imperfective"
    assert load("./imperfective").name == "toy"


def test_data_goes_with_a_suite_that_reads_some(tmp_path: Path) -> None:
    for name in ("imperfective-quads", "toy.jsonl", "nothing"):
        with pytest.raises(UserError, match=r"--data .* reads no published data; these do: imperfective"):
            load(name, tmp_path / "data.json")
    with pytest.raises(UserError, match="no such file"):
        load("imperfective", tmp_path / "data.json")


def test_the_registry_imports_no_builder_until_it_is_asked() -> None:
    code = (
        "import sys, veridical.suites.registry; "
        "sys.exit(any(name.startswith('veridical.suites.imperfective') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("name", ["imperfective", "imperfective-quads"])
def test_the_imperfective_suites_say_what_a_classifier_calls_their_labels(name: str) -> None:
    suite = load(name)
    assert set(suite.classes) == set(suite.labels)
    assert suite.classes["True"][0] == "entailment"
    assert all(set(suite.pair) <= set(item.fields) for item in suite.items)
