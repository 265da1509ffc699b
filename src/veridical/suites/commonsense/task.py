"""A benchmark as a definition: what its published rows hold, and how they are asked and judged.

A definition is data. Where a field is not simply a column, a small function of the row stands in its place; the
functions that several benchmarks need are at the end of this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from veridical.items import Choice, Factor
from veridical.suites.commonsense.row import Row

Cell = str | Callable[[Row], str]
"""A text of a row: the name of its column, or a function."""
Texts = Callable[[Row], Sequence[str | Choice]]
Gold = Callable[[Row], int | str | Sequence[int | str]]
"""The right choice: its place (from 0) or its label; several where more than one is right."""

Axis = Literal["social", "pragmatic", "event", "none", "control"]
NormalisationName = Literal["sum", "token", "char", "byte", "unconditional"]

LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


@dataclass(frozen=True, slots=True)
class Hub:
    """Where the Hugging Face hub has the data: `datasets.load_dataset(path, config, split=...)`.

    Several configurations are read one after another, each row with its name under `config`. Without `split` every
    split of theirs is read.
    """

    path: str
    split: str
    config: str | tuple[str, ...] = ""
    train: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """The published files, as they are looked for in a folder of the user's.

    `names` (and `train`, for examples) are file names or patterns, the first that is there being read, or, with
    `every`, all of them. They are looked for in subfolders called like the task or like one of `folders` (also where
    the one is in the other, and in a folder `data` of each, as the hub's repositories have it), then in the folder
    itself; a file called like the task (`piqa.jsonl`) goes before them all. `labels` is the file of labels next to a
    file whose rows have no field `label`, `{stem}` being that file's name without its ending; `label_too` is what some
    published version calls that field.
    """

    names: tuple[str, ...] = ()
    train: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    every: bool = False
    labels: str = ""
    label: str = "label"
    label_too: str = ""
    hub: Hub | None = None
    listed: Listed | None = None
    originals: Originals | None = None


@dataclass(frozen=True, slots=True)
class Listed:
    """A benchmark that is a part of another: its copy may be a list of the other's rows.

    The list names them by their field `by`, or by their number (from 0) where that is empty.
    """

    of: Task
    names: tuple[str, ...]
    by: str = ""


@dataclass(frozen=True, slots=True)
class Originals:
    """Rows that rework another benchmark's: each gets that row's fields, under `original.FIELD`.

    The row's own field `by` is the number (from 0) of the row that it reworks. A row for which `unless` holds has its
    original in itself.
    """

    of: Task
    by: str
    unless: Callable[[Row], bool] = lambda row: False


@dataclass(frozen=True, slots=True, kw_only=True)
class Sets:
    """How items are put into sets: those with one text in `set` are one. `cluster` is the unit above the set.

    Without `set` every item is a set of its own. An item whose text is blank is in no set.
    """

    name: str
    set: Cell | None = None
    role: Cell | None = None
    cluster: Cell | None = None


@dataclass(frozen=True, kw_only=True)
class Task:
    """A benchmark.

    `prompt` is a Jinja template over `fields`; the context that it gives is put to the model as plain text, and after
    it `delimiter` and a choice. `choices` gives a row's choices, as texts (labelled by `labels`, in order) or with a
    context of their own. With `shuffle` the published order would give the answer away (the right one always comes
    first), and choices are put in an order that depends on their texts alone. `factors` are what accuracy is also
    given by. `sets` are the groupings, the first being the unit of every interval. `human` gives the shares of people's
    labels.

    `prepare` sees all rows that were read, for what is not in one row alone; `aside` says why a published row is not
    asked (empty where it is), and such rows are counted by reason; `unpack` makes several rows of one.

    `training` is the benchmark whose rows its training split has, where they are not its own.

    `lm_eval` is its name in lm-eval, empty where it has none; `differs` says how what is asked here differs from what
    is asked there, empty where nothing does. `decisions` lists what Veridical decides where the source is silent.
    """

    name: str
    title: str
    version: str = "1"
    axis: Axis
    licence: str
    citation: str
    files: Files
    fields: Mapping[str, Cell]
    prompt: str
    delimiter: str = " "
    choices: Texts
    labels: tuple[str, ...] = LETTERS
    gold: Gold
    golds: Mapping[str, Gold] = field(default_factory=dict)
    id: Cell | None = None
    factors: Mapping[str, Cell | Callable[[Row], Factor]] = field(default_factory=dict)
    sets: tuple[Sets, ...] = ()
    shuffle: bool = False
    normalisation: NormalisationName = "char"
    human: Callable[[Row], Mapping[str, float]] | None = None
    prepare: Callable[[Sequence[Row]], Sequence[Row]] = lambda rows: rows
    aside: Callable[[Row], str] = lambda row: ""
    unpack: Callable[[Row], Iterable[Row]] = lambda row: (row,)
    training: Task | None = None
    lm_eval: str = ""
    differs: str = ""
    decisions: tuple[str, ...] = ()


def text(cell: Cell, row: Row) -> str:
    """What a cell says of a row."""
    return row.text(cell) if isinstance(cell, str) else cell(row)


def columns(*names: str) -> Texts:
    """Choices that have a column each."""
    return lambda row: [row.text(name) for name in names]


def column(name: str, clean: Callable[[str], str] = lambda text: text) -> Texts:
    """Choices that are a list in one column."""
    return lambda row: [clean(text) for text in row.texts(name)]


def fixed(*texts: str) -> Texts:
    """The same choices for every row."""
    return lambda row: texts


def numbered(name: str, first: int = 0) -> Gold:
    """The right choice as a number that begins at `first`."""

    def gold(row: Row) -> int:
        place = row.whole(name) - first
        if place < 0:
            row.fail(f"label {row.text(name)!r} is out of range: it begins at {first}", name)
        return place

    return gold


def named(name: str, labels: Mapping[str, Any]) -> Gold:
    """The right choice as a name, compared without case or white space around it."""
    known = {key.casefold(): value for key, value in labels.items()}

    def gold(row: Row) -> Any:
        label = row.text(name).strip().casefold()
        if label not in known:
            row.fail(f"unknown label {row.text(name)!r}: the labels are {', '.join(labels)}", name)
        return known[label]

    return gold
