"""Long tables, with a row for each model and benchmark, turned into wide ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from veridical.errors import UserError
from veridical.validity.reading import Raw
from veridical.validity.roles import Roles, found_column


def wide(raw: Raw, roles: Roles) -> Raw:
    """One row a model. A table with a column of benchmarks and one of scores is long, and is turned.

    Raises UserError where a model has two scores on a benchmark, or two of what describes it.
    """
    known = raw.frame.columns
    benchmark, value, model = (
        found_column(role, getattr(roles, role), known) for role in ("benchmark", "value", "model")
    )
    if not (benchmark and value and model) or {benchmark, value} & set(roles.columns):
        return raw
    models, benchmarks = raw.texts(model), raw.texts(benchmark)
    for texts in (models, benchmarks):
        if "" in texts:
            place = raw.place(texts.index(""))
            raise UserError(f"{place}: every row of a long table names a {model!r} and a {benchmark!r}")
    described = [name for name in known if name not in (benchmark, value, model)]
    names = list(dict.fromkeys(benchmarks))
    if repeated := [name for name in names if name in (model, *described)]:
        raise UserError(f"{raw.source}: {repeated[0]!r} is a benchmark and a column; rename one")
    rows = {name: row for row, name in enumerate(dict.fromkeys(models))}
    scores: dict[str, list[Any]] = {name: [None] * len(rows) for name in names}
    cells: dict[tuple[int, str], int] = {}
    for row, (name, column, score) in enumerate(zip(models, benchmarks, raw.frame[value].to_list(), strict=True)):
        at = (rows[name], column)
        if at in cells:
            told = f"{raw.place(row)}: model {name!r} has a second score on {column!r}"
            raise UserError(f"{told} (the first: {raw.unit} {cells[at]}); keep one")
        cells[at] = raw.number(row)
        scores[column][rows[name]] = score
    facts = [_facts(raw, models, rows, name) for name in described]
    turned = [pl.Series(name, column, raw.frame[value].dtype) for name, column in scores.items()]
    # A model's number is that of its first row.
    numbers = {name: raw.number(row) for row, name in reversed(list(enumerate(models)))}
    frame = pl.DataFrame([pl.Series(model, list(rows), pl.String()), *facts, *turned])
    return Raw(raw.source, frame, raw.unit, tuple(numbers[name] for name in rows), cells)


def _facts(raw: Raw, models: Sequence[str], rows: Mapping[str, int], column: str) -> pl.Series:
    """A column that describes models, one cell each."""
    found: list[Any] = [None] * len(rows)
    given: dict[str, tuple[str, int]] = {}
    texts, cells = raw.texts(column), raw.frame[column]
    for row, (model, text, cell) in enumerate(zip(models, texts, cells.to_list(), strict=True)):
        before, first = given.setdefault(model, (text, row))
        if before != text:
            raise UserError(
                f"{raw.place(row)}: model {model!r} has {text!r} under {column!r}, and {before!r} in {raw.unit} "
                f"{raw.number(first)}; a model has one"
            )
        found[rows[model]] = cell
    return pl.Series(column, found, cells.dtype)
