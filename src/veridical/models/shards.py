"""The index of weights in several files, as a checkpoint's folder has it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from veridical.errors import UserError, excerpt, listed
from veridical.files.json_text import JSONContentError, parse_json
from veridical.files.text_file import read_text

ENDING = ".safetensors"
INDEX = ".safetensors.index.json"


def check_shards(folder: Path) -> None:
    """Raise UserError where an index in a folder names anything but the folder's own safetensors files, or lacks one.

    Libraries join such a name to the folder as it is: one that leads elsewhere would be read.
    """
    for index in sorted(folder.glob(f"*{INDEX}")):
        named = _named(index)
        for name in named:
            if Path(name).name != name or "\\" in name or not name.endswith(ENDING):
                raise UserError(
                    f"{index}: it names {excerpt(name)!r}, and weights are {ENDING} files in the same folder: "
                    "download the model again"
                )
        if lacking := [name for name in named if not (folder / name).is_file()]:
            raise UserError(
                f"{index}: {len(lacking)} of the {len(named)} files that it names are not in {folder} "
                f"({listed(lacking, 3)}): download them, or the model again"
            )


def _named(index: Path) -> list[str]:
    try:
        document: Any = parse_json(read_text(index))
    except (json.JSONDecodeError, JSONContentError) as error:
        raise UserError(f"{index}: not valid JSON; download the model again") from error
    weights = document.get("weight_map") if isinstance(document, dict) else None
    if not isinstance(weights, dict) or not weights or not _all_texts(weights.values()):
        raise UserError(f"{index}: no 'weight_map' from weights to names of files; download the model again")
    return sorted(set(weights.values()))


def _all_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) for value in values)
