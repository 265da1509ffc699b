"""A checkpoint's index names files of its own folder, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.models.shards import INDEX, check_shards


def index(folder: Path, *names: object) -> None:
    (folder / "model-00001-of-00002.safetensors").touch()
    (folder / f"model{INDEX}").write_text(json.dumps({"weight_map": {f"w{i}": name for i, name in enumerate(names)}}))


def test_files_of_the_folder_pass(tmp_path: Path) -> None:
    check_shards(tmp_path)
    index(tmp_path, "model-00001-of-00002.safetensors")
    check_shards(tmp_path)


@pytest.mark.parametrize(
    "name",
    [
        "../other.safetensors",
        "/etc/passwd",
        "sub/model.safetensors",
        "model.bin",
        "pytorch_model-00001.pkl",
        "..\\x.safetensors",
        "",
        "x" * 5000,
    ],
)
def test_anything_else_is_refused_by_name(tmp_path: Path, name) -> None:
    index(tmp_path, "model-00001-of-00002.safetensors", name)
    with pytest.raises(UserError, match="in the same folder"):
        check_shards(tmp_path)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    index(tmp_path, "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")
    with pytest.raises(UserError, match=r"1 of the 2 files that it names are not in .*model-00002"):
        check_shards(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"weight_map": []}', '{"weight_map": {"a": 1}}', "\0"])
def test_an_index_that_is_none_is_refused(tmp_path: Path, text) -> None:
    (tmp_path / f"model{INDEX}").write_text(text)
    with pytest.raises(UserError, match="index"):
        check_shards(tmp_path)
