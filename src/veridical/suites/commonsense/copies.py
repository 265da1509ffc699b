"""Finding a benchmark's rows: the user's file, a folder of the user's, or the Hugging Face hub."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from veridical.errors import UserError
from veridical.files.binary_file import plain_name
from veridical.loggers import errors_alone
from veridical.suites.commonsense.row import LONGEST_NAME, Row, listed, shortened
from veridical.suites.commonsense.rows import FORMATS, read_rows, read_values, rows_of, with_values
from veridical.suites.commonsense.saved import Saved, saved_files
from veridical.suites.commonsense.task import Files, Hub, Listed, Originals, Task


@dataclass(frozen=True, slots=True)
class Copy:
    """Where the user says the data are: one file, a folder of published files, or neither (the hub is asked)."""

    file: Path | None = None
    folder: Path | None = None

    def __post_init__(self) -> None:
        if self.folder is not None and not self.folder.is_dir():
            what = "a file, not a folder; give it as --data" if self.folder.exists() else "no such folder"
            raise UserError(f"--data-dir {self.folder}: {what}")


def asked_rows(task: Task, copy: Copy, notes: list[str] | None = None) -> list[Row]:
    """The rows that are asked, as published; how they were read is added to `notes`.

    Raises UserError where they are not to be had.
    """
    rows = _published(task, copy, [] if notes is None else notes)
    originals = task.files.originals
    return rows if originals is None else _with_originals(rows, originals, copy)


def _published(task: Task, copy: Copy, notes: list[str]) -> list[Row]:
    listed = task.files.listed
    if listed is not None and (lists := _lists(task, listed, copy, notes)):
        return _listed(lists[0], listed, copy)
    paths = _paths(task, copy, task.files.names, notes)
    if paths:
        return [row for path in paths for row in read_labelled(path, task.files, notes)]
    split = task.files.hub.split if task.files.hub else ""
    if saved := saved_files(task.files, split, _saved_places(task, copy.folder)):
        return _saved_rows(task, saved, notes)
    if copy.folder is not None:
        raise UserError(
            f"{task.name}: none of its files is in {copy.folder}; looked for {_looked_for(task)}; "
            "see docs/benchmarks.md"
        )
    if task.files.hub is None:
        raise UserError(f"{task.name} needs your copy of the data: give it with --data FILE or --data-dir DIR")
    return _from_hub(task, task.files.hub, task.files.hub.split)


def training_rows(task: Task, copy: Copy) -> list[Row] | None:
    """The rows of a training split, for examples; None where there is none at hand."""
    paths = _paths(task, Copy(folder=copy.file.parent if copy.file else copy.folder), task.files.train)
    if paths:
        return [row for path in paths for row in read_labelled(path, task.files)]
    hub = task.files.hub
    if copy.folder is not None and hub is not None and hub.train:
        try:
            saved = saved_files(task.files, hub.train, _saved_places(task, copy.folder))
        except UserError:
            return None  # the data are saved without that split
        return _saved_rows(task, saved, []) if saved else None
    if copy.file is None and copy.folder is None and hub is not None and hub.train:
        return _from_hub(task, hub, hub.train)
    return None


def _saved_places(task: Task, folder: Path | None) -> list[Path]:
    """Where a data set may lie as the library datasets keeps it: folders of its own, then the given folder itself."""
    if folder is None:
        return []
    hub = task.files.hub.path if task.files.hub else ""
    own = dict.fromkeys(
        (task.name, task.name.replace("-", "_"), hub.replace("/", "___"), hub.rpartition("/")[2], *task.files.folders)
    )
    places = [folder / name for name in own if name and name != "data"]
    whole = [folder] if any((folder / name).is_file() for name in ("dataset_dict.json", "state.json")) else []
    return [*places, *whole]


def _saved_rows(task: Task, saved: Sequence[Saved], notes: list[str]) -> list[Row]:
    rows = []
    for one in saved:
        found = read_labelled(one.path, task.files, notes)
        rows += [row.having(config=one.config) if one.config else row for row in found]
    return [replace(row, number=number) for number, row in enumerate(rows)]


def read_labelled(path: Path, files: Files, notes: list[str] | None = None) -> list[Row]:
    """A file's rows with their labels, from the file next to it where the rows have none."""
    rows = read_rows(path, notes)
    if files.label_too:
        rows = [_renamed(row, files.label_too, files.label) for row in rows]
    if not files.labels or any(files.label in row.values for row in rows):
        return rows
    labels = path.with_name(files.labels.format(stem=plain_name(path).stem))
    if not labels.is_file():
        fields = listed(rows[0].values)
        ready = ", as requests made for a harness do: give the benchmark's own file" if "gold" in rows[0].values else ""
        raise UserError(
            f"{path}: its rows have no field {files.label!r}, and there is no {labels.name} next to it; they have "
            f"{fields}{ready}"
        )
    return with_values(rows, labels, files.label)


def _renamed(row: Row, name: str, to: str) -> Row:
    return row if to in row.values or name not in row.values else row.having(**{to: row.values[name]})


LISTS = (".txt", ".lst")


def _lists(task: Task, listed: Listed, copy: Copy, notes: list[str]) -> list[Path]:
    if copy.file is not None:
        return [copy.file] if copy.file.suffix.lower() in LISTS or copy.file.match("*ids*.json") else []
    return _paths(task, copy, listed.names, notes)


def _listed(path: Path, listed: Listed, copy: Copy) -> list[Row]:
    """The other benchmark's rows that a list names, in its own order."""
    wanted = dict.fromkeys(read_values(path))
    whole = asked_rows(listed.of, Copy(folder=path.parent) if copy.file else copy)
    named = {row.text(listed.by).strip() if listed.by else str(row.number): row for row in whole}
    if missing := [name for name in wanted if name not in named]:
        what = f"field {listed.by!r}" if listed.by else "number, from 0,"
        raise UserError(
            f"{path}: {len(missing)} of {len(wanted)} values are the {what} of no row of {whole[0].source}, "
            f"the first being {shortened(missing[0], LONGEST_NAME)!r}"
        )
    return [row for name, row in named.items() if name in wanted]


def _with_originals(rows: Sequence[Row], reworked: Originals, copy: Copy) -> list[Row]:
    if all(map(reworked.unless, rows)):
        return list(rows)
    folder = copy.file.parent if copy.file else copy.folder
    originals = asked_rows(reworked.of, Copy(folder=folder))
    found = []
    for row in rows:
        if reworked.unless(row):
            found.append(row)
            continue
        number = row.whole(reworked.by)
        if not 0 <= number < len(originals):
            row.fail(
                f"{number} is the number of no row of {originals[0].source}, which has {len(originals)}", reworked.by
            )
        original = originals[number]
        found.append(row.having(**{f"original.{name}": value for name, value in original.values.items()}))
    return found


def _paths(task: Task, copy: Copy, names: Sequence[str], notes: list[str] | None = None) -> list[Path]:
    """The files to read. What is called like the task, or is in a folder of its own, goes before what only has a name
    that other benchmarks have too (`dev.jsonl`). Other files of the folder that could have been read are named in
    `notes`."""
    if copy.folder is None:
        return [copy.file] if copy.file else []
    inner = (f"{task.name}/{name}" for name in task.files.folders)
    places = dict.fromkeys((task.name, *task.files.folders, *inner))
    own = [folder for place in places for folder in (copy.folder / place, copy.folder / place / "data")]
    called = [f"{task.name}{ending}" for ending in FORMATS] if names is task.files.names else []
    for folder, wanted in (
        *((one, called) for one in (copy.folder, *own)),
        *((one, names) for one in (*own, copy.folder)),
    ):
        matching = (path for name in wanted for path in sorted(folder.glob(name)) if path.is_file())
        if found := list(dict.fromkeys(matching)):
            found = [path for path in found if plain_name(path).suffix.lower() in (*FORMATS, *LISTS)] or found
            chosen = found if task.files.every else _parts(found)
            if notes is not None:
                notes += _not_read(task, folder, chosen, (*called, *names))
            return chosen
    return []


def _not_read(task: Task, folder: Path, chosen: Sequence[Path], names: Sequence[str]) -> list[str]:
    """A line that names the files of a folder with names of the task that are not read; none where all are."""
    known = dict.fromkeys(path for name in names for path in sorted(folder.glob(name)) if path.is_file())
    others = [path for path in known if path not in chosen and plain_name(path).suffix.lower() in (*FORMATS, *LISTS)]
    if not others:
        return []
    read = f"{chosen[0].name} is" if len(chosen) == 1 else f"{len(chosen)} are"
    left = _shown([str(path.relative_to(folder)) for path in others])
    return [f"{task.name}: of several files in {folder} {read} read; not read: {left}"]


_PART = re.compile(r"-\d{5}-of-\d{5}(?=\.)")


def _parts(found: Sequence[Path]) -> list[Path]:
    """The first of the files, with the other parts of what it is a part of (`validation-00001-of-00002.parquet`)."""
    first = found[0]
    if not _PART.search(first.name):
        return [first]
    whole = _PART.sub("", first.name)
    return [path for path in found if path.parent == first.parent and _PART.sub("", path.name) == whole]


SHOWN = 8
"""Names of files in a message; BLiMP has 134."""


def _looked_for(task: Task) -> str:
    """The names that were looked for, and where."""
    lists = task.files.listed.names if task.files.listed else ()
    names = [*(f"{task.name}{ending}" for ending in FORMATS), *task.files.names, *lists]
    folders = ", ".join(f"{name}/" for name in dict.fromkeys((task.name, *task.files.folders)))
    return f"{_shown(names)}, there and in {folders}"


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{', '.join(names[:SHOWN])}{more}"


def _from_hub(task: Task, hub: Hub, split: str) -> list[Row]:
    where = f"{task.name}: give your copy of the data with --data FILE or --data-dir DIR"
    try:
        from datasets import load_dataset
    except ImportError as error:
        raise UserError(f"{where}, or pip install datasets to have {hub.path} from the Hugging Face hub") from error
    configs = (hub.config,) if isinstance(hub.config, str) else hub.config
    rows: list[Row] = []
    for config in configs:
        try:
            with errors_alone("huggingface_hub"):  # of every time that it tries again
                loaded = load_dataset(hub.path, config or None, split=split or None)
            records = loaded if split else chain.from_iterable(loaded.values())
        except Exception as error:  # no network, a gated set, a name that has moved: whatever the library raises
            raise UserError(
                f"{where}; {hub.path} could not be had from the Hugging Face hub: is it reached, and is the "
                "data set open to you?"
            ) from error
        source = f"{hub.path} ({', '.join(part for part in (config, split) if part)})"
        rows += rows_of(({"config": config, **record} for record in records), source)
    return rows
