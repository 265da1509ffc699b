"""Long tables, with a row for each model and benchmark, turned into wide ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from veridical.errors import UserError
from veridical.validity.cells import has_percent_signs, no_score, number_in, plain
from veridical.validity.reading import Raw
from veridical.validity.results import Note
from veridical.validity.roles import Roles, found_column

METRICS = ("metric", "metric_name", "metric name")
"""Columns that divide a benchmark where nothing names one and a model has several scores on it, in lower case."""


@dataclass(frozen=True)
class _Shape:
    """The columns of a long table, and the benchmark of each of its rows."""

    model: str
    value: str
    used: tuple[str, ...]
    names: tuple[str, ...]


def wide(raw: Raw, roles: Roles) -> Raw:
    """One row a model. A table with a column of benchmarks and one of scores is long, and is turned.

    A column that differs between the rows of a model does not describe it: it is left out, with a note. Raises
    UserError where a model has two scores on a benchmark and `roles.duplicates` does not say which counts, or where it
    has two families or sizes.
    """
    shape = _shape(raw, roles)
    if shape is None:
        return raw
    known = raw.frame.columns
    models = raw.texts(shape.model)
    described = [name for name in known if name not in shape.used]
    names = list(dict.fromkeys(shape.names))
    if repeated := [name for name in names if name in (shape.model, *described)]:
        raise UserError(
            f"{raw.source}: {repeated[0]!r} is a benchmark and a column: rename the column, or the benchmark in the "
            "rows that name it"
        )
    rows = {name: row for row, name in enumerate(dict.fromkeys(models))}
    cells: dict[tuple[int, str], list[int]] = {}
    for row, (model, name) in enumerate(zip(models, shape.names, strict=True)):
        cells.setdefault((rows[model], name), []).append(row)
    repeats = {at: found for at, found in cells.items() if len(found) > 1}
    if repeats and roles.duplicates == "refuse":
        raise _second_score(raw, shape, models, next(iter(repeats.values())), described)
    scores: dict[str, list[Any]] = {name: [None] * len(rows) for name in names}
    values = raw.frame[shape.value].to_list()
    texts, written = raw.texts(shape.value) if repeats else [], {}
    for name in {name for _, name in repeats}:
        of_benchmark = [text for text, one in zip(texts, shape.names, strict=True) if one == name]
        written[name] = _Cells.of(of_benchmark, roles)
    for (place, name), found in cells.items():
        several = len(found) > 1
        scores[name][place] = (
            written[name].joined([texts[row] for row in found], roles) if several else values[found[0]]
        )
    kind = raw.frame[shape.value].dtype if not repeats else pl.String()
    turned = [
        pl.Series(name, [None if one is None else str(one) for one in column] if repeats else column, kind)
        for name, column in scores.items()
    ]
    kept = {found_column(role, getattr(roles, role), known, raw.source) for role in ("family", "size")}
    facts, varying = _facts(raw, models, rows, described, kept, lenient=roles.duplicates != "refuse")
    # A model's number is that of its first row.
    numbers = {name: raw.number(row) for row, name in reversed(list(enumerate(models)))}
    return replace(
        raw,
        frame=pl.DataFrame([pl.Series(shape.model, list(rows), pl.String()), *facts, *turned]),
        numbers=tuple(numbers[name] for name in rows),
        cells={at: raw.number(found[0]) for at, found in cells.items()},
        merged=sum(len(found) - 1 for found in repeats.values()),
        notes=(*raw.notes, *_notes(varying, models, repeats, names, roles)),
    )


def long_names(raw: Raw, roles: Roles) -> tuple[str, ...]:
    """The benchmarks that a long table names in its cells; none where the table is wide."""
    shape = _shape(raw, roles, checked=False)
    return tuple(dict.fromkeys(filter(None, shape.names))) if shape else ()


def _shape(raw: Raw, roles: Roles, *, checked: bool = True) -> _Shape | None:
    known = raw.frame.columns
    benchmark, value, model = (
        found_column(role, getattr(roles, role), known, raw.source) for role in ("benchmark", "value", "model")
    )
    if raw.cells or not (benchmark and value and model) or {benchmark, value} & set(roles.columns):
        return None
    models, benchmarks = raw.texts(model), raw.texts(benchmark)
    for texts in (models, benchmarks) if checked else ():
        if "" in texts:
            place = raw.place(texts.index(""))
            raise UserError(f"{place}: every row of a long table names a {model!r} and a {benchmark!r}")
    split = [found_column("split", name, known, raw.source) for name in roles.split] or _metric(
        known, models, benchmarks
    )
    if clash := set(split) & {benchmark, value, model}:
        raise UserError(f"--split-column {min(clash)}: the column is used already; name another")
    return _Shape(model, value, (benchmark, value, model, *split), _divided(raw, benchmarks, split))


def _metric(known: Sequence[str], models: Sequence[str], benchmarks: Sequence[str]) -> list[str]:
    """The column of metrics, where a model has several scores on a benchmark."""
    if len(set(zip(models, benchmarks, strict=True))) == len(models):
        return []
    return [name for name in known if name.strip().lower() in METRICS][:1]


def _divided(raw: Raw, benchmarks: Sequence[str], split: Sequence[str]) -> tuple[str, ...]:
    """The benchmark of every row, `BENCHMARK/VALUE` where a column that divides it has several values for it."""
    names = list(benchmarks)
    for column in split:
        parts = raw.texts(column)
        values: dict[str, set[str]] = {}
        for name, part in zip(names, parts, strict=True):
            values.setdefault(name, set()).add(part)
        names = [
            f"{name}/{part}" if len(values[name]) > 1 and part else name
            for name, part in zip(names, parts, strict=True)
        ]
    return tuple(names)


def _second_score(
    raw: Raw, shape: _Shape, models: Sequence[str], found: Sequence[int], described: Sequence[str]
) -> UserError:
    first, second = found[:2]
    differing = [name for name in described if raw.texts(name)[first] != raw.texts(name)[second]]
    split = f"--split-column {differing[0]!r} where that makes it another benchmark, " if differing else ""
    return UserError(
        f"{raw.place(second)}: model {models[second]!r} has a second score on {shape.names[second]!r} (the first: "
        f"{raw.unit} {raw.number(first)}); give {split}--duplicates first or mean, or keep one"
    )


@dataclass(frozen=True)
class _Cells:
    """The scores of one benchmark as they are written; what all of them share says how their numbers are to be read."""

    plainly: Mapping[str, str]
    with_percent_signs: bool
    with_decimal_commas: bool

    @classmethod
    def of(cls, texts: Sequence[str], roles: Roles) -> _Cells:
        """Of all cells of a benchmark; those without a score say nothing."""
        texts = [text for text in texts if not no_score(text, roles.missing)]
        plainly = dict(zip(texts, plain(texts), strict=True))
        commas = any("," in text and "." in written for text, written in plainly.items())
        return cls(plainly, has_percent_signs(texts), commas)

    def joined(self, texts: Sequence[str], roles: Roles) -> str | None:
        """What counts of several cells: the first score that there is, or the mean, written as the others are."""
        texts = [text for text in texts if not no_score(text, roles.missing)]
        if not texts or roles.duplicates == "first":
            return texts[0] if texts else None
        numbers = [number for text in texts if (number := number_in(self.plainly[text])) is not None]
        if len(numbers) < len(texts):
            return texts[0]
        mean = repr(sum(numbers) / len(numbers))
        return mean.replace(".", "," if self.with_decimal_commas else ".") + ("%" if self.with_percent_signs else "")


def _facts(
    raw: Raw,
    models: Sequence[str],
    rows: Mapping[str, int],
    described: Sequence[str],
    kept: set[str],
    *,
    lenient: bool,
) -> tuple[list[pl.Series], list[tuple[str, str]]]:
    """The columns that describe models, and those that do not, each with a model in whose rows it differs.

    Raises UserError where one of `kept` differs, unless `lenient`: then the first row counts.
    """
    facts, varying = [], []
    for column in described:
        texts, cells = raw.texts(column), raw.frame[column]
        found: list[Any] = [None] * len(rows)
        given: dict[str, tuple[str, int]] = {}
        differing = None
        for row, (model, text, cell) in enumerate(zip(models, texts, cells.to_list(), strict=True)):
            before, first = given.setdefault(model, (text, row))
            if before != text and differing is None:
                differing = (model, row, text, before, first)
            if first == row:
                found[rows[model]] = cell
        if differing and column in kept and not lenient:
            model, row, text, before, first = differing
            raise UserError(
                f"{raw.place(row)}: model {model!r} has {text!r} under {column!r}, and {before!r} in {raw.unit} "
                f"{raw.number(first)}; a model has one: write the same in all its rows"
            )
        if differing and column not in kept:
            varying.append((column, differing[0]))
            continue
        facts.append(pl.Series(column, found, cells.dtype))
    return facts, varying


def _notes(
    varying: Sequence[tuple[str, str]],
    models: Sequence[str],
    repeats: Mapping[tuple[int, str], Sequence[int]],
    names: Sequence[str],
    roles: Roles,
) -> list[Note]:
    notes = []
    if varying:
        columns = ", ".join(column for column, _ in varying)
        message = (
            f"left out, as they differ between rows of one model (such as {varying[0][1]}) and so do not describe it: "
            f"{columns}; --split-column COL makes a benchmark of each of a column's values"
        )
        notes.append(Note(kind="column", where=tuple(column for column, _ in varying), message=message))
    if repeats:
        counts = Counter(name for _, name in repeats)
        where = tuple(name for name in names if name in counts)
        counted = ", ".join(f"{name} ({counts[name]})" for name in where[:6])
        more = f" and {len(where) - 6} more" if len(where) > 6 else ""
        rule = "the first is used" if roles.duplicates == "first" else "their mean is used"
        message = f"several scores of one model on {counted}{more} models; {rule}"
        notes.append(Note(kind="duplicate", where=where, message=message))
    return notes
