"""Data sets as the library datasets keeps them: folders of `save_to_disk`, its cache, and clones of the hub's.

piqa/dataset_dict.json, piqa/validation/data-00000-of-00002.arrow, …      several splits, saved
piqa/state.json, piqa/data-00000-of-00001.arrow                           one split, saved
baber___piqa/default/0.0.0/<hash>/piqa-validation.arrow                   the cache
piqa/plain_text/validation/0000.parquet, piqa/validation-00000-of-00001.parquet   the hub
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from veridical.errors import UserError
from veridical.suites.commonsense.task import Files

ENDINGS = (".arrow", ".parquet")
_SHARD = re.compile(r"-\d{5}-of-\d{5}")
_SCRATCH = ("cache-", "tmp")
"""How files begin that datasets makes of a data set (a map, a filter): not the data set itself."""
USUAL_SPLITS = ("validation", "dev", "test", "train")
"""Splits in the order in which they are asked where a benchmark does not name one."""


@dataclass(frozen=True, slots=True)
class Saved:
    """A file of a data set. `split` and `config` are empty where nothing names them."""

    path: Path
    split: str
    config: str


def saved_files(files: Files, split: str, folders: Sequence[Path]) -> list[Saved]:
    """The files of a split in the first of the folders that holds such a data set, its parts in their order.

    Without a split to look for (the hub's is every split, or none is known) it is every split of a benchmark with
    configurations, and else the first of `USUAL_SPLITS`. Raises UserError where a data set is there, but not the split.
    """
    configs = (files.hub.config,) if files.hub and isinstance(files.hub.config, str) else ()
    names = frozenset(files.hub.config if files.hub and not configs else configs) - {""}
    for folder in folders:
        found = [_saved(path, folder, names) for path in _data_files(folder)]
        if names and (named := [one for one in found if one.config]):
            found = named  # several configurations may be in one folder with others of the same data set
        if not found:
            continue
        if not split and len(names) > 1:
            return found
        known = list(dict.fromkeys(one.split for one in found))
        wanted = split or next((name for name in USUAL_SPLITS if name in known), known[0])
        if chosen := [one for one in found if one.split in (wanted, "")]:
            return chosen
        raise UserError(f"{folder}: a data set without the split {wanted!r}; it has {', '.join(known)}")
    return []


def _data_files(folder: Path) -> list[Path]:
    if not folder.is_dir():
        return []
    found = (path for path in folder.rglob("*") if path.suffix.lower() in ENDINGS and path.is_file())
    return sorted(path for path in found if not path.name.startswith(_SCRATCH))


def _saved(path: Path, top: Path, configs: frozenset[str]) -> Saved:
    inner = path.relative_to(top.parent).parts[:-1]
    config = next((part for part in reversed(inner) if part in configs), "")
    return Saved(path, _split(path), config)


def _split(path: Path) -> str:
    """The split that a file is of: by its name, by the `state.json` in its folder, or by its folder's name."""
    stem = _SHARD.sub("", path.stem)
    last = stem.rpartition("-")[2]
    if last in USUAL_SPLITS or (last != "data" and not last.isdigit()):
        return last
    state = path.with_name("state.json")
    if state.is_file():
        try:
            named = json.loads(state.read_text(encoding="utf-8")).get("_split")
        except (OSError, ValueError, AttributeError):
            named = None  # damaged: the folder's name is left
        if isinstance(named, str) and named:
            return named
    return path.parent.name if path.parent.name in USUAL_SPLITS or stem.isdigit() else ""
