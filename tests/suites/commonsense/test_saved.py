"""Data sets as the library datasets keeps them: saved to disk, in its cache, or in the hub's folders."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from veridical.errors import UserError
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy, asked_rows, training_rows

from .asking import PUBLISHED

datasets = pytest.importorskip("datasets")


def rows(label: int) -> list[dict[str, object]]:
    return [{"goal": f"boil {label} {number}", "sol1": "heat", "sol2": "cool", "label": label} for number in range(3)]


def goals(folder: Path) -> list[str]:
    return [item.fields["goal"] for item in benchmark(TASKS["piqa"], Copy(folder=folder)).suite.items]


def piqa() -> object:
    return datasets.DatasetDict(
        {split: datasets.Dataset.from_list(rows(label)) for label, split in enumerate(("validation", "train"))}
    )


@pytest.mark.parametrize("place", ["piqa", "baber___piqa/default/0.0.0/abc", "."])
@pytest.mark.parametrize("shards", [1, 2])
def test_a_saved_data_set_is_found_with_all_its_parts(place: str, shards: int, tmp_path: Path) -> None:
    piqa().save_to_disk(tmp_path / place, num_shards={"validation": shards, "train": shards})  # type: ignore[attr-defined]
    assert goals(tmp_path) == ["boil 0 0", "boil 0 1", "boil 0 2"]
    training = training_rows(TASKS["piqa"], Copy(folder=tmp_path))
    assert training is not None
    assert [row.text("goal") for row in training] == ["boil 1 0", "boil 1 1", "boil 1 2"]


def test_a_single_saved_split_is_found(tmp_path: Path) -> None:
    datasets.Dataset.from_list(rows(0)).save_to_disk(tmp_path / "piqa")
    assert len(goals(tmp_path)) == 3


def test_a_data_set_without_the_split_is_an_error_that_names_those_it_has(tmp_path: Path) -> None:
    datasets.Dataset.from_list(rows(0), split="train").save_to_disk(tmp_path / "piqa")
    with pytest.raises(UserError, match="a data set without the split 'validation'; it has train"):
        goals(tmp_path)


def test_what_the_library_cached_is_found_and_what_it_made_of_it_is_not(tmp_path: Path) -> None:
    folder = tmp_path / "baber___piqa" / "default" / "0.0.0" / "abc"
    folder.mkdir(parents=True)
    pl.DataFrame(rows(0)).write_ipc_stream(folder / "piqa-validation.arrow")
    pl.DataFrame(rows(1)).write_ipc_stream(folder / "piqa-train-00000-of-00001.arrow")
    pl.DataFrame(rows(1)).write_ipc_stream(folder / "cache-0123456789.arrow")
    assert goals(tmp_path) == ["boil 0 0", "boil 0 1", "boil 0 2"]


@pytest.mark.parametrize("name", ["piqa/plain_text/validation/0000.parquet", "piqa/default/validation/0000.parquet"])
def test_the_hub_s_converted_folders_are_found(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True)
    pl.DataFrame(rows(0)).write_parquet(path)
    assert len(goals(tmp_path)) == 3


def test_all_parts_of_a_published_file_are_read(tmp_path: Path) -> None:
    (tmp_path / "piqa").mkdir()
    for part, start in enumerate((0, 2)):
        frame = pl.DataFrame(rows(0)[start : start + 2])
        frame.write_parquet(tmp_path / "piqa" / f"validation-{part:05}-of-00002.parquet")
    assert len(goals(tmp_path)) == 3


def test_configurations_are_folders_that_name_the_subject(tmp_path: Path) -> None:
    row = {"question": "Which?", "choices": ["w", "x", "y", "z"], "answer": 1, "error_type": "ok"}
    for subject in ("virology", "anatomy"):
        data = datasets.DatasetDict({"test": datasets.Dataset.from_list([{**row, "question": subject}])})
        data.save_to_disk(tmp_path / "mmlu-redux-2.0" / subject)
    found = asked_rows(TASKS["mmlu-redux"], Copy(folder=tmp_path))
    assert sorted(str(row.values["config"]) for row in found) == ["anatomy", "virology"]
    suite = benchmark(TASKS["mmlu-redux"], Copy(folder=tmp_path)).suite
    assert {item.fields["question"] for item in suite.items} == {"virology", "anatomy"}


@pytest.mark.parametrize("name", list(TASKS))
def test_every_benchmark_is_found_as_a_saved_data_set(name: str, tmp_path: Path) -> None:
    task = TASKS[name]
    published = [dict(row.values) for row in asked_rows(task, Copy(folder=PUBLISHED))]
    for row in published:
        row.pop("config", None)
    split = task.files.hub.split if task.files.hub else "test"
    if name == "trip" or task.files.originals is not None:
        pytest.skip("rows that hold objects, or that need another benchmark's")
    keys = dict.fromkeys(key for row in published for key in row)
    data = datasets.Dataset.from_list([{key: row.get(key) for key in keys} for row in published])
    config = task.files.hub.config[0] if task.files.hub and isinstance(task.files.hub.config, tuple) else ""
    datasets.DatasetDict({split or "test": data}).save_to_disk(tmp_path / name / config)
    assert len(benchmark(task, Copy(folder=tmp_path)).suite.items) > 0
