"""Only regular files of a stated size are read; anything else is refused before it is opened."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from veridical.errors import UserError
from veridical.files import binary_file, sources
from veridical.files.binary_file import read_bytes
from veridical.files.tables import open_table
from veridical.files.text_file import read_text
from veridical.files.yaml_file import read_yaml
from veridical.interop.imports.inspect_file import read_log
from veridical.interop.imports.records import read_document
from veridical.review.key import read_key
from veridical.studies.recipe_file import read_recipe
from veridical.suites.files import read_suite
from veridical.validity.reading import read_raw
from veridical.validity.roles import read_roles

READERS: tuple[Callable[[Path], object], ...] = (
    read_bytes,
    read_text,
    open_table,
    read_yaml,
    read_suite,
    read_key,
    read_recipe,
    read_raw,
    read_roles,
    read_document,
    read_log,
)


def named(reader: Callable[[Path], object]) -> str:
    return "read.csv" if reader in (read_raw, open_table) else "read.yaml"


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, reader) -> None:
    os.mkfifo(tmp_path / named(reader))
    with pytest.raises(UserError, match="pipe"):
        reader(tmp_path / named(reader))


@pytest.mark.parametrize("reader", READERS, ids=lambda reader: reader.__name__)
def test_a_device_without_an_end_is_refused(tmp_path: Path, reader) -> None:
    (tmp_path / named(reader)).symlink_to("/dev/zero")
    with pytest.raises(UserError, match="device"):
        reader(tmp_path / named(reader))


def test_a_file_above_the_limit_is_refused_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "large.jsonl"
    with path.open("wb") as file:
        file.truncate(sources.LARGEST + 1)
    with pytest.raises(UserError, match=r"2\.0 GiB, and files up to 2 GiB are read"):
        read_bytes(path)


def test_what_grows_beyond_the_limit_is_refused(tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n" * 20_000_000))
    assert len(read_bytes(path)) == 20_000_000
    monkeypatch.setattr(binary_file, "LARGEST", 1 << 20)
    with pytest.raises(UserError, match="decompressed"):
        read_bytes(path)


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000])
def test_a_path_that_no_file_can_have_is_refused_in_a_line(path) -> None:
    with pytest.raises(UserError) as caught:
        read_bytes(Path(path))
    assert len(str(caught.value)) < 250
