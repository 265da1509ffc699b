"""Where a benchmark's files are looked for, and what is said where they are not there or not as they should be."""

from __future__ import annotations

import builtins
import json
import shutil
import sys
import types
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from veridical.errors import UserError
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy, asked_rows

from .asking import PUBLISHED

PIQA = PUBLISHED / "piqa"


@pytest.mark.parametrize("place", ["", "piqa", "physicaliqa-train-dev"])
def test_published_names_are_found_in_the_folder_or_one_of_its_own(place: str, tmp_path: Path) -> None:
    (tmp_path / place).mkdir(exist_ok=True)
    for name in ("valid.jsonl", "valid-labels.lst"):
        shutil.copy(PIQA / name, tmp_path / place)
    assert len(benchmark(TASKS["piqa"], Copy(folder=tmp_path)).suite.items) == 5


def test_a_file_called_like_the_benchmark_goes_first(tmp_path: Path) -> None:
    for name in ("valid.jsonl", "valid-labels.lst"):
        shutil.copy(PIQA / name, tmp_path)
    row = {"goal": "g", "sol1": "a", "sol2": "b", "label": 1}
    (tmp_path / "piqa.jsonl").write_text(json.dumps(row) + "\n")
    assert len(benchmark(TASKS["piqa"], Copy(folder=tmp_path)).suite.items) == 1


def test_a_folder_of_its_own_goes_before_a_name_that_others_have_too(tmp_path: Path) -> None:
    shutil.copytree(PUBLISHED / "social-iqa", tmp_path / "social-iqa")
    shutil.copy(PUBLISHED / "winogrande" / "dev.jsonl", tmp_path)  # Social IQa's file is called the same
    assert len(benchmark(TASKS["social-iqa"], Copy(folder=tmp_path)).suite.items) == 3
    assert len(benchmark(TASKS["winogrande"], Copy(folder=tmp_path)).suite.items) == 3


def test_a_long_list_of_names_is_cut_short(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"blimp: none of its files .* and \d+ more, there and in blimp/") as error:
        benchmark(TASKS["blimp"], Copy(folder=tmp_path))
    assert len(str(error.value)) < 500


def test_a_folder_without_the_files_is_reported_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(UserError) as error:
        benchmark(TASKS["piqa"], Copy(folder=tmp_path))
    message = str(error.value)
    assert message.startswith(f"piqa: none of its files is in {tmp_path}; looked for piqa.jsonl, ")
    assert "valid.jsonl, dev.jsonl" in message
    assert "in piqa/, physicaliqa-train-dev/" in message


@pytest.mark.parametrize(
    ("name", "message"), [("none", "no such folder"), ("file", "a file, not a folder; give it as --data")]
)
def test_a_folder_that_is_none_is_refused(name: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=f"--data-dir .*{name}: {message}"):
        Copy(folder=tmp_path / name)


def rows(path: Path, *values: dict[str, Any]) -> Copy:
    path.write_text("".join(json.dumps(one) + "\n" for one in values))
    return Copy(file=path)


GOOD = {"goal": "boil tea", "sol1": "heat it", "sol2": "cool it", "label": 0}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"goal": "x", "sol1": "y", "label": 0}, "line 2, field 'sol2': there is no such field"),
        ({**GOOD, "sol1": "  "}, "line 2, field 'sol1': it is blank"),
        ({**GOOD, "label": 2}, "line 2, field 'label': the label is out of range: choice 3 of 2"),
        ({**GOOD, "label": -1}, "line 2, field 'label': label '-1' is out of range"),
        ({**GOOD, "label": "b"}, "line 2, field 'label': a whole number is needed, this is 'b'"),
        ({**GOOD, "goal": ["x"]}, "line 2, field 'goal': text is needed, this is a list"),
    ],
)
def test_a_row_at_fault_is_reported_with_file_and_line(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=f"valid.jsonl, {message}"):
        benchmark(TASKS["piqa"], rows(tmp_path / "valid.jsonl", GOOD, wrong))


def test_rows_without_labels_want_the_file_next_to_them(tmp_path: Path) -> None:
    unlabelled = {name: GOOD[name] for name in ("goal", "sol1", "sol2")}
    copy = rows(tmp_path / "valid.jsonl", unlabelled, {**unlabelled, "goal": "fry tea"})
    with pytest.raises(UserError, match=r"no field 'label', and there is no valid-labels.lst next to it"):
        benchmark(TASKS["piqa"], copy)
    (tmp_path / "valid-labels.lst").write_text("0\n")
    with pytest.raises(UserError, match=r"valid-labels.lst: 1 labels for 2 rows"):
        benchmark(TASKS["piqa"], copy)
    (tmp_path / "valid-labels.lst").write_text("0\n1\n")
    assert [item.gold for item in benchmark(TASKS["piqa"], copy).suite.items] == [("A",), ("B",)]


@pytest.mark.parametrize(
    ("label", "message"), [("-1", "out of range"), ("2", "out of range: choice 3 of 2"), ("b", "'b'")]
)
def test_a_label_at_fault_in_the_file_next_to_is_reported_with_that_file_and_line(
    label: str, message: str, tmp_path: Path
) -> None:
    unlabelled = {name: GOOD[name] for name in ("goal", "sol1", "sol2")}
    copy = rows(tmp_path / "valid.jsonl", unlabelled, {**unlabelled, "goal": "fry tea"})
    (tmp_path / "valid-labels.lst").write_text(f"0\n{label}\n")
    with pytest.raises(UserError, match=f"valid-labels.lst, line 2: .*{message}"):
        benchmark(TASKS["piqa"], copy)


def test_a_row_that_lacks_its_label_is_reported_where_the_others_have_one(tmp_path: Path) -> None:
    unlabelled = {name: GOOD[name] for name in ("goal", "sol1", "sol2")}
    with pytest.raises(UserError, match=r"valid.jsonl, line 1, field 'label': there is no such field"):
        benchmark(TASKS["piqa"], rows(tmp_path / "valid.jsonl", unlabelled, GOOD))


def test_a_folder_given_as_the_file_is_distinguished_from_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"a folder, not a file; give it as --data-dir$"):
        benchmark(TASKS["piqa"], Copy(file=tmp_path))


@pytest.mark.parametrize(
    ("task", "place"),
    [
        ("social-iqa", "siqa/data/validation-00000-of-00001-90bb.parquet"),  # lighteval/siqa, cloned beside others
        ("hellaswag", "hellaswag/data/validation-00000-of-00001.parquet"),  # Rowan/hellaswag
        ("goldenswag", "GoldenSwag/data/validation-00000-of-00001.parquet"),  # PleIAs/GoldenSwag
        ("piqa", "piqa/piqa_validation.parquet"),  # baber/piqa
        ("winogrande", "winogrande/winogrande_xl/validation-00000-of-00001.parquet"),  # allenai/winogrande
    ],
)
def test_the_hub_s_own_files_are_found_in_a_clone_of_its_repository(task: str, place: str, tmp_path: Path) -> None:
    source = "hellaswag" if task == "goldenswag" else task
    copied = [dict(row.values) for row in asked_rows(TASKS[source], Copy(folder=PUBLISHED / source))]
    path = tmp_path / place
    path.parent.mkdir(parents=True)
    pl.DataFrame(copied).write_parquet(path)
    found = benchmark(TASKS[task], Copy(folder=tmp_path)).suite
    assert [item.gold for item in found.items] == [
        item.gold for item in benchmark(TASKS[source], Copy(folder=PUBLISHED / source)).suite.items
    ]


def test_a_file_of_another_kind_next_to_does_not_stand_in_the_way(tmp_path: Path) -> None:
    shutil.copytree(PIQA, tmp_path / "piqa")
    (tmp_path / "piqa" / "piqa_rup.bak").write_text("not ours")
    assert len(benchmark(TASKS["piqa-rup"], Copy(folder=tmp_path)).suite.items) == 3
    (tmp_path / "piqa" / "piqa_rup.jsonl").unlink()
    with pytest.raises(UserError, match=r"piqa_rup.bak: unknown kind of file '.bak'"):
        benchmark(TASKS["piqa-rup"], Copy(folder=tmp_path))


@pytest.mark.parametrize("other", [{"label": 1}, {"sol1": GOOD["sol2"], "sol2": GOOD["sol1"]}])
def test_a_row_that_contradicts_another_is_asked_too_and_reported(other: dict[str, Any], tmp_path: Path) -> None:
    """The same question and choices, in the same order or another, with another right answer."""
    found = benchmark(TASKS["piqa"], rows(tmp_path / "valid.jsonl", GOOD, {**GOOD, **other}))
    assert len(found.suite.items) == 2
    (message,) = found.notes
    assert message.startswith("piqa: 1 of 2 rows say that another answer of an earlier one is right")
    assert message.endswith("the first being line 2, against line 1")


def test_a_row_whose_choices_are_swapped_with_their_label_contradicts_nothing(tmp_path: Path) -> None:
    swapped = {**GOOD, "sol1": GOOD["sol2"], "sol2": GOOD["sol1"], "label": 1}
    assert benchmark(TASKS["piqa"], rows(tmp_path / "valid.jsonl", GOOD, swapped)).notes == ()


def test_a_row_that_repeats_another_is_asked_once_and_reported(tmp_path: Path) -> None:
    found = benchmark(TASKS["piqa"], rows(tmp_path / "valid.jsonl", GOOD, {**GOOD, "goal": "fry tea"}, GOOD))
    assert len(found.suite.items) == 2
    (message,) = found.notes
    assert message.startswith("piqa: 1 of 3 rows repeat an earlier one and are asked once")
    assert message.endswith("valid.jsonl, line 3, which repeats line 1")


def test_the_order_of_rows_does_not_change_the_suite(tmp_path: Path) -> None:
    other = {**GOOD, "goal": "fry tea"}
    one = benchmark(TASKS["piqa"], rows(tmp_path / "one.jsonl", GOOD, other)).suite
    two = benchmark(TASKS["piqa"], rows(tmp_path / "two.jsonl", other, GOOD)).suite
    assert {item.id for item in one.items} == {item.id for item in two.items}


def test_without_a_copy_and_without_the_package_one_line_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_datasets(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "datasets":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_datasets)
    with pytest.raises(UserError, match=r"give your copy .*, or pip install datasets to have baber/piqa"):
        benchmark(TASKS["piqa"], Copy())


def fake_datasets(monkeypatch: pytest.MonkeyPatch, load: Any) -> None:
    module = types.ModuleType("datasets")
    module.load_dataset = load  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", module)


def test_without_a_network_the_reason_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: Any, **__: Any) -> Any:
        raise ConnectionError("Couldn't reach the hub\n(offline mode is on)")

    fake_datasets(monkeypatch, load)
    with pytest.raises(
        UserError,
        match=r"baber/piqa could not be had from the Hugging Face hub: is it reached, and is the data set open",
    ):
        benchmark(TASKS["piqa"], Copy())


def test_the_hub_is_asked_where_no_copy_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def load(*args: Any, **kwargs: Any) -> Any:
        asked.append((args, kwargs))
        return [GOOD]

    fake_datasets(monkeypatch, load)
    assert len(benchmark(TASKS["piqa"], Copy()).suite.items) == 1
    assert asked == [(("baber/piqa", None), {"split": "validation"})]


def test_every_benchmark_says_what_it_is_and_where_its_data_are() -> None:
    for name, task in TASKS.items():
        assert name == task.name
        assert task.licence, name
        assert task.citation, name
        assert task.files.names or task.files.listed, name
