"""Seeds from files of problems: SNLI and MultiNLI as published, and any table of premises, hypotheses and labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from veridical.errors import UserError
from veridical.files.encodings import FALLBACK
from veridical.files.tables import Table, TableRow, open_table
from veridical.items import Choice, Factor, Item, Suite
from veridical.suites.file_writer import SCHEMA
from veridical.suites.files import read_suite
from veridical.suites.registry import BUILT_IN, benchmarks, load
from veridical.variation.annotators import agreement
from veridical.variation.designs import PROBLEMS
from veridical.variation.nouns import Seed
from veridical.variation.seeds import Seeds, suite_seeds
from veridical.variation.stages import Stages

NO_GOLD = frozenset({"-", "-1", ""})
"""What stands for a label on which annotators did not agree: `-` as published, -1 in copies with numbered labels."""

LABELS: dict[str, tuple[str, ...]] = {
    "entailment": ("entailment",),
    "neutral": ("neutral",),
    "contradiction": ("contradiction",),
    "not_entailment": ("neutral", "contradiction"),
}
"""What a label's name stands for, compared without case and with `_` for space and hyphen.

A problem of two labels (RTE) is asked with three: both of the others are right for what is not entailed. Numbers are
not guessed at, since data sets number the labels in different orders.
"""

_COLUMNS: dict[str, tuple[str, ...]] = {
    "premise": ("premise", "sentence1", "text"),
    "hypothesis": ("hypothesis", "sentence2"),
    "label": ("gold_label", "label", "gold"),
    "id": ("pairid", "uid", "id", "index"),
}
"""The names under which columns are found where the user does not name them, compared without case."""


@dataclass(frozen=True, slots=True)
class ProblemColumns:
    """The columns that the user names, and what their labels' names stand for (`not_entailment`)."""

    premise: str | None = None
    hypothesis: str | None = None
    label: str | None = None
    labels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def options(self) -> tuple[str, ...]:
        """The options by which these were given."""
        given = {
            "--premise-column": self.premise,
            "--hypothesis-column": self.hypothesis,
            "--label-column": self.label,
            "--label-name": self.labels or None,
        }
        return tuple(option for option, value in given.items() if value is not None)


def refuse_options(suite: str | Path, columns: ProblemColumns, encoding: str | None) -> None:
    """Raise UserError for options that say how a table is read, given for a suite."""
    given = (*columns.options, *(("--encoding",) if encoding is not None else ()))
    if given:
        raise UserError(
            f"{suite}: a suite, whose texts and labels are named and which is UTF-8: leave out {', '.join(given)}"
        )


def parse_label_names(given: list[str]) -> dict[str, tuple[str, ...]]:
    """What `NAME=LABEL` or `NAME=LABEL,LABEL` says. Raises UserError for any other form, and for an unknown label."""
    names: dict[str, tuple[str, ...]] = {}
    for pair in given:
        name, equals, labels = pair.rpartition("=")
        found = tuple(_normal(label) for label in labels.split(","))
        if not equals or any(label not in LABELS for label in found):
            raise UserError(f"--label-name {pair!r}: write NAME=LABEL, with LABEL one of {', '.join(LABELS)}")
        if name.strip() in names:
            raise UserError(
                f"--label-name {pair!r}: {name.strip()!r} is given twice; for two labels write NAME=ONE,OTHER"
            )
        names[name.strip()] = tuple(dict.fromkeys(label for one in found for label in LABELS[one]))
    return names


def read_seeds(path: Path, columns: ProblemColumns | None = None, encoding: str | None = None) -> Seeds:
    """The seeds in a file: a suite file of Veridical, or a table. Raises UserError where it is neither."""
    columns = columns or ProblemColumns()
    table = open_table(path, encoding)
    if table.kind == "jsonl" and "schema" in table.columns:
        first = next(table.rows())
        if first.values["schema"].partition("/")[0] == SCHEMA.partition("/")[0]:
            refuse_options(path, columns, encoding)
            return suite_seeds(read_suite(path))
    return _Problems(table, columns).seeds()


def read_files(paths: Sequence[Path], columns: ProblemColumns | None = None, encoding: str | None = None) -> Seeds:
    """The seeds in one file or in several tables, one after another; the factor `source` says which.

    Raises UserError as `read_seeds` does, for a suite file among several, and for two files of one name.
    """
    parts = [read_seeds(path, columns, encoding) for path in paths]
    if len(parts) == 1:
        return parts[0]
    names = [part.source for part in parts]
    for path, part in zip(paths, parts, strict=True):
        if part.design is not PROBLEMS:
            raise UserError(f"{path}: a suite file, which has prompts and labels of its own; give it alone")
        if names.count(part.source) > 1:
            raise UserError(
                f"{path}: another file is named {part.source!r} too, and sources are distinguished by name; rename one"
            )
    name = "-".join(names)

    def read(stages: Stages) -> Iterator[Seed]:
        for part in parts:
            yield from part.read(stages)

    frame = parts[0].frame.model_copy(update={"name": name})
    return Seeds(name, PROBLEMS, frame, read, notes=tuple(note for part in parts for note in part.notes))


def named_suite(name: str) -> Seeds:
    """The seeds of a built-in suite, or of a suite file. Raises UserError where it is neither."""
    if name in benchmarks():
        raise UserError(
            f"--suite {name}: a benchmark, whose items are the user's copy and no pairs of texts that share words; "
            f"give one of {', '.join(BUILT_IN)}, or a suite file"
        )
    return suite_seeds(load(name))


class _Problems:
    """A table read as problems."""

    def __init__(self, table: Table, columns: ProblemColumns) -> None:
        self._table = table
        self._labels = {**LABELS, **columns.labels}
        self._premise = self._column("premise", columns.premise)
        self._hypothesis = self._column("hypothesis", columns.hypothesis)
        self._label = self._column("label", columns.label)
        texts = {self._premise, self._hypothesis, self._label}
        if len(texts) < 3:
            raise UserError(
                f"{table.path}: premise, hypothesis and label are the columns {self._premise!r}, {self._hypothesis!r} "
                f"and {self._label!r}: name one for each with --premise-column, --hypothesis-column and --label-column"
            )
        self._id = next((c for n in _COLUMNS["id"] for c in table.columns if c.lower() == n), None)
        self._source = table.path.stem

    def _column(self, what: str, named: str | None) -> str:
        columns = self._table.columns
        if named is not None:
            if named in columns:
                return named
        elif found := next((column for name in _COLUMNS[what] for column in columns if column.lower() == name), None):
            return found
        asked = f"no column {named!r}" if named is not None else f"no column for the {what}"
        raise UserError(
            f"{self._table.path}: {asked}; its columns are {', '.join(columns)}: name one with --{what}-column"
        )

    def seeds(self) -> Seeds:
        from veridical.suites.merge.prompts import CLASSES, INPUTS, LABELS, PROMPTS

        frame = Suite(
            name=self._source,
            version="1",
            labels=LABELS,
            prompts=PROMPTS,
            inputs=INPUTS,
            classes=CLASSES,
            items=(Item(fields={}, choices=(Choice(label="-", continuation="-"),)),),
        )
        choices = tuple(Choice(label=label, continuation=label) for label in LABELS)

        def read(stages: Stages) -> Iterator[Seed]:
            for row in self._table.rows():
                if (item := self._item(row, choices, stages)) is not None:
                    yield Seed(item.name, (item,))

        notes = []
        if not self._table.declared and self._table.encoding == FALLBACK:
            notes.append(
                f"{self._table.path} is not UTF-8 and was read as Windows-1252 ({FALLBACK}); --encoding names another"
            )
        return Seeds(self._source, PROBLEMS, frame, read, notes=tuple(notes))

    def _item(self, row: TableRow, choices: tuple[Choice, ...], stages: Stages) -> Item | None:
        """The problem on a row; None where it has no gold label or a text is missing."""
        where = f"{self._table.path}, line {row.line}"
        texts = {name: self._cell(row, column) for name, column in self._text_columns()}
        name = row.values.get(self._id, "").strip() if self._id else ""
        label = self._cell(row, self._label).strip()
        if not stages.passes("a gold label", "rows", label not in NO_GOLD or label in self._labels, where):
            return None
        if not stages.passes("premise and hypothesis there", "rows", all(t.strip() for t in texts.values()), where):
            return None
        gold = self._labels.get(label) or self._labels.get(_normal(label))
        if gold is None:
            raise UserError(
                f"{where}, column {self._label!r}: unknown label {label!r}; known: {', '.join(self._labels)}; where "
                f"labels of entailment have other names, give --label-name {label!r}=LABEL for each, with LABEL one of "
                f"{', '.join(LABELS)}; problems with other labels are written as a suite file (docs/suite-files.md)"
            )
        factors: dict[str, Factor] = {"source": self._source, "label": self._label_name(label, gold)}
        if agreed := agreement(row.values, label):
            factors["agreement"] = agreed
        return Item(
            fields=texts,
            choices=choices,
            gold=gold,
            factors=factors,
            name=name or f"{self._source}:{row.line}",
        )

    def _text_columns(self) -> tuple[tuple[str, str], ...]:
        return (("premise", self._premise), ("hypothesis", self._hypothesis))

    def _cell(self, row: TableRow, column: str) -> str:
        if column not in row.values:
            raise UserError(f"{self._table.path}, line {row.line}: no cell in the column {column!r}")
        if column in row.nested:
            raise UserError(
                f"{self._table.path}, line {row.line}, column {column!r}: a list or an object, where a text is needed"
            )
        return row.values[column]

    @staticmethod
    def _label_name(label: str, gold: tuple[str, ...]) -> str:
        """The name by which the label is known here, so that results of several sources can be sliced by it."""
        return next((name for name, labels in LABELS.items() if labels == gold), label)


def _normal(label: str) -> str:
    return "_".join(label.strip().lower().replace("-", " ").replace("_", " ").split())
