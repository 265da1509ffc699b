"""A table of scores: models with family and size, and what they score on benchmarks, controls and outcomes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from veridical.errors import UserError
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.cells import MISSING, number_in, numbers, sizes, texts
from veridical.validity.long_table import wide
from veridical.validity.reading import Raw, read_raw
from veridical.validity.roles import Roles, check_roles, found_column

LEAST_MODELS, LEAST_FAMILIES = 8, 3
_ROW_NUMBERS = re.compile(r"|Unnamed: [0-9]+|__index_level_[0-9]+__")
"""Columns in which programs write the numbers of rows."""
_FRACTION_GAP, _FRACTION_SHARE = 5.0, 0.1
"""A column counts as mixed where no score lies between its fractions and its percentages, and these start as many
times higher and by as large a share of the highest: a percentage below 1 has others not far above it. Ours."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Models x columns. `scores` is (models, columns), NaN where a cell is missing; `size` likewise (models,).

    `families` is empty where the table has none; then nothing that needs a family or an outcome can be asked.
    `dropped` names models of which an identical second row was left out; `taken` the columns that are benchmarks
    because nobody named any.
    """

    source: str
    models: tuple[str, ...]
    families: tuple[str, ...]
    size: Floats
    names: tuple[str, ...]
    scores: Floats
    roles: Roles
    dropped: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()

    def column(self, name: str) -> Floats:
        """Scores of one column, shape (models,)."""
        scores: Floats = self.scores[:, self.names.index(name)]
        return scores

    @cached_property
    def family_names(self) -> tuple[str, ...]:
        """The families, each once, by name: their order decides nothing about a table's rows."""
        return tuple(sorted(set(self.families)))

    @cached_property
    def family_codes(self) -> Ints:
        """The place of each model's family among `family_names`, shape (models,)."""
        places = {name: place for place, name in enumerate(self.family_names)}
        return np.array([places[name] for name in self.families], dtype=np.int64)

    @cached_property
    def log_size(self) -> Floats:
        """log10 of the sizes, shape (models,)."""
        logs: Floats = np.log10(self.size)
        return logs

    @cached_property
    def controls(self) -> Floats:
        """Scores on the controls, shape (models, controls)."""
        return self.scores[:, [self.names.index(name) for name in self.roles.controls]]

    def complete(self, *columns: Floats) -> Bools:
        """Models that have every one of these columns, and a size, shape (models,)."""
        return np.asarray(np.isfinite(np.column_stack([self.size, *columns])).all(axis=1), dtype=np.bool_)


def read_table(path: Path, roles: Roles) -> ScoreTable:
    """The table of scores in a file. Raises UserError, saying what is wrong and where."""
    return table_of(read_raw(path), roles)


def table_of(raw: Raw, roles: Roles) -> ScoreTable:
    """The table of scores in a raw table, wide or long."""
    raw = wide(raw, roles)
    known = raw.frame.columns
    named = {role: found_column(role, getattr(roles, role), known) for role in ("model", "family", "size")}
    if not named["model"]:
        raise UserError(f"{raw.source}: which column names the models? give --model COL; known: {', '.join(known)}")
    roles = replace(roles, model=named["model"], family=named["family"], size=named["size"])
    taken = () if roles.predictors else _numeric(raw, roles)
    roles = replace(roles, benchmarks=roles.benchmarks or taken)
    check_roles(roles, known, raw.source)
    if not roles.columns:
        raise UserError(f"{raw.source}: no column of scores; name some with --benchmark")
    models = texts(raw, roles.model, "model")
    families = texts(raw, roles.family, "family") if roles.family else ()
    size = sizes(raw, roles.size, models) if roles.size else np.full(len(models), np.nan)
    scores = np.column_stack([numbers(raw, name, models) for name in roles.columns])
    table = _without_copies(
        ScoreTable(raw.source, models, families, size, roles.columns, scores, roles, taken=taken), raw
    )
    _check(table)
    return table


def _numeric(raw: Raw, roles: Roles) -> tuple[str, ...]:
    """Columns without a role whose cells are numbers: benchmarks, where none is named."""
    used = {roles.model, roles.family, roles.size, *roles.controls, *roles.outcomes}
    found = []
    for name in raw.frame.columns:
        if name in used or _ROW_NUMBERS.fullmatch(name):
            continue
        filled = [text for text in raw.texts(name) if text.lower() not in MISSING]
        numeric = sum(number_in(text) is not None for text in filled)
        # A column with a stray text is still meant as scores: it is refused later, by its cell.
        if filled and numeric > len(filled) / 2:
            found.append(name)
    return tuple(found)


def _without_copies(table: ScoreTable, raw: Raw) -> ScoreTable:
    """The table with one row a model. Raises UserError where two rows of a model differ."""
    first: dict[str, int] = {}
    kept, dropped = [], []
    for row, model in enumerate(table.models):
        if model not in first:
            first[model] = row
            kept.append(row)
            continue
        rows = [first[model], row]
        facts = np.column_stack([table.scores, table.size])[rows]
        same = np.array_equal(facts[0], facts[1], equal_nan=True)
        if not same or (table.families and table.families[rows[0]] != table.families[rows[1]]):
            numbered = " and ".join(str(raw.number(place)) for place in rows)
            raise UserError(f"{raw.source}: model {model!r} stands in {raw.unit}s {numbered} and they differ; keep one")
        dropped.append(model)
    if not dropped:
        return table
    return replace(
        table,
        models=tuple(table.models[row] for row in kept),
        families=tuple(table.families[row] for row in kept) if table.families else (),
        size=table.size[kept],
        scores=table.scores[kept],
        dropped=tuple(dropped),
    )


def _check(table: ScoreTable) -> None:
    n, roles = len(table.models), table.roles
    if n < LEAST_MODELS:
        raise UserError(f"{table.source}: {n} models; at least {LEAST_MODELS} are needed to say anything")
    if roles.outcomes and not table.families:
        raise UserError(
            f"{table.source}: predicting an outcome needs the family of each model; give --family COL "
            f"(suggested by their names: {_suggested(table.models)})"
        )
    if roles.outcomes and not roles.size:
        raise UserError(f"{table.source}: predicting an outcome needs the size of each model; give --size COL")
    if table.families and len(table.family_names) < LEAST_FAMILIES:
        raise UserError(
            f"{table.source}, column {roles.family!r}: {len(table.family_names)} families "
            f"({', '.join(table.family_names)}); at least {LEAST_FAMILIES} are needed"
        )
    for name in table.names:
        _check_scale(table, name)
    highest = {
        name: float(np.nanmax(column)) for name in roles.controls if np.isfinite(column := table.column(name)).any()
    }
    low = [name for name, top in highest.items() if top <= 1]
    high = [name for name, top in highest.items() if top > 1]
    if low and high:
        raise UserError(
            f"{table.source}: controls are averaged, and {low[0]!r} is in fractions (up to {highest[low[0]]:g}), "
            f"{high[0]!r} is not (up to {highest[high[0]]:g}): give all in one unit"
        )


def _check_scale(table: ScoreTable, name: str) -> None:
    """Raise UserError where a column holds fractions and percentages."""
    values = table.column(name)
    small = np.flatnonzero((values > 0) & (values <= 1))
    large = np.flatnonzero(values > 1)
    if name in table.roles.percent or not len(small) or not len(large) or values[large].max() > 100:
        return
    top, bottom = small[np.argmax(values[small])], large[np.argmin(values[large])]
    apart = values[bottom] - values[top] >= _FRACTION_SHARE * values[large].max()
    if apart and values[bottom] >= _FRACTION_GAP * values[top]:
        raise UserError(
            f"{table.source}, column {name!r}: fractions and percentages mixed: {values[top]:g} ({table.models[top]}) "
            f"and {values[bottom]:g} ({table.models[bottom]}); give one unit, or, if {values[top]:g} is a percentage, "
            "list the column under 'percent' in the roles file"
        )


def family_in_name(model: str) -> str:
    """The family that a model's name seems to say: `meta-llama/Llama-2-7b-hf` → `Llama`. A guess."""
    name = model.rpartition("/")[2]
    letters = ""
    for letter in name:
        if not letter.isalpha():
            break
        letters += letter
    return letters or name


def _suggested(models: Sequence[str], most: int = 4) -> str:
    named = [f"{model} is {family_in_name(model)}" for model in models[:most]]
    return "; ".join(named) + ("; …" if len(models) > most else "")
