"""A table of scores: models with family and size, and what they score on benchmarks, controls and outcomes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from veridical.errors import UserError
from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.cells import is_missing, is_no_size, number_in, numbers, plain, sizes, texts
from veridical.validity.composites import Composite, composites
from veridical.validity.long_table import wide
from veridical.validity.reading import Raw, read_raw
from veridical.validity.repeated_rows import without_repeats
from veridical.validity.results import Note
from veridical.validity.roles import Roles, check_roles, found_column

LEAST_MODELS, LEAST_FAMILIES = 8, 3
_ROW_NUMBERS = re.compile(r"|Unnamed: [0-9]+|__index_level_[0-9]+__")
"""Columns in which programs write the numbers of rows."""
_FRACTION_GAP, _FRACTION_SHARE = 5.0, 0.1
"""A column counts as mixed where no score lies between its fractions and its percentages, and these start as many
times higher and by as large a share of the highest: a percentage below 1 has others not far above it."""


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Models x columns. `scores` is (models, columns), NaN where a cell is missing; `size` likewise (models,).

    `families` is empty where the table has none; then nothing that needs a family or an outcome can be asked.
    `dropped` names models of which an identical second row was left out; `taken` the columns that are benchmarks
    because nobody named any; `notes` say what was decided while the table was read.
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
    notes: tuple[Note, ...] = ()

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
    scores = np.column_stack([numbers(raw, name, models, roles.missing) for name in roles.columns])
    notes = (*raw.notes, *_cells_without_score(raw, roles))
    table = ScoreTable(raw.source, models, families, size, roles.columns, scores, roles, taken=taken, notes=notes)
    table = without_repeats(table, raw)
    _check(table)
    return _without_composites(table, raw)


def _cells_without_score(raw: Raw, roles: Roles) -> Iterator[Note]:
    """How many cells hold a sign that is read as no score, and how many sizes are 0 or below."""
    signs: Counter[str] = Counter()
    where: dict[str, None] = {}
    for name in roles.columns:
        found = [text for text in raw.texts(name) if text and is_missing(text, roles.missing)]
        signs.update(found)
        where.update(dict.fromkeys([name] if found else []))
    if signs:
        counted = ", ".join(
            f"{count} {'cell holds' if count == 1 else 'cells hold'} {text!r}" for text, count in signs.most_common(6)
        )
        listed = ", ".join(list(where)[:6]) + (f" and {len(where) - 6} more" if len(where) > 6 else "")
        yield Note(kind="missing", where=tuple(where), message=f"{counted}, read as no score (in {listed})")
    unsized = [text for text in raw.texts(roles.size) if is_no_size(text)] if roles.size else []
    if unsized:
        values = ", ".join(dict.fromkeys(unsized))
        message = f"{roles.size}: {len(unsized)} of {raw.frame.height} rows hold {values}, read as no size"
        yield Note(kind="missing", where=(roles.size,), message=message)


def _without_composites(table: ScoreTable, raw: Raw) -> ScoreTable:
    """The table without benchmarks that are made of an outcome, where nobody named them.

    Raises UserError where one was named: what holds the outcome predicts it whatever the models can do.
    """
    outcomes, roles = tuple(table.roles.outcomes), table.roles
    if not outcomes:
        return table
    columns = {name: table.column(name) for name in table.names}
    kept = {model: row for row, model in enumerate(raw.texts(roles.model))}
    rows = [kept[model] for model in table.models]
    for name in _numeric(raw, roles):
        if name not in columns:
            columns[name] = _lenient(raw, name)[rows]
    columns = {name: columns[name] for name in raw.frame.columns if name in columns}
    halves = {name: _half_a_digit(raw.texts(name)) for name in columns}
    found = composites(columns, halves, (*roles.predictors, *roles.controls), outcomes)
    named = [one for one in found if one.column not in table.taken]
    if named:
        raise UserError(
            f"{table.source}: {named[0].message}: it predicts {named[0].outcome} because it is made of it; leave "
            f"{named[0].column} out, or make another outcome of what it does not hold"
        )
    return _left_out(table, found)


def _left_out(table: ScoreTable, found: Sequence[Composite]) -> ScoreTable:
    if not found:
        return table
    leaving = {one.column for one in found}
    notes = [
        Note(kind="composite", where=(one.column, one.outcome), message=f"left out: {one.message}")
        for one in {one.column: one for one in reversed(found)}.values()
    ]
    roles = replace(table.roles, benchmarks=tuple(name for name in table.roles.benchmarks if name not in leaving))
    if not roles.predictors:
        raise UserError(
            f"{table.source}: {found[0].message}, and no other benchmark is left; name one with --benchmark"
        )
    return replace(
        table,
        roles=roles,
        names=roles.columns,
        scores=np.column_stack([table.column(name) for name in roles.columns]),
        taken=tuple(name for name in table.taken if name not in leaving),
        notes=(*table.notes, *notes),
    )


def _lenient(raw: Raw, column: str) -> Floats:
    """The numbers of a column without a role, NaN for anything else."""
    values = (number_in(text) for text in plain(raw.texts(column)))
    return np.array([np.nan if value is None or not np.isfinite(value) else value for value in values])


def _half_a_digit(texts: Sequence[str]) -> float:
    """Half a unit of the last digit that any cell of a column is written with."""
    digits = (text.strip("%").replace(",", ".").partition(".")[2] for text in texts if "e" not in text.lower())
    return 0.5 * 10.0 ** -max((len(part) for part in digits if part.isdigit()), default=0)


def _numeric(raw: Raw, roles: Roles) -> tuple[str, ...]:
    """Columns without a role whose cells are numbers: benchmarks, where none is named."""
    used = {roles.model, roles.family, roles.size, *roles.predictors, *roles.controls, *roles.outcomes}
    found = []
    for name in raw.frame.columns:
        if name in used or _ROW_NUMBERS.fullmatch(name):
            continue
        filled = [text for text in raw.texts(name) if not is_missing(text, roles.missing)]
        numeric = sum(number_in(text) is not None for text in plain(filled))
        # A column with a stray text is still meant as scores: it is refused later, by its cell.
        if filled and numeric > len(filled) / 2:
            found.append(name)
    return tuple(found)


def _check(table: ScoreTable) -> None:
    n, roles = len(table.models), table.roles
    if n < LEAST_MODELS:
        raise UserError(f"{table.source}: {n} models; at least {LEAST_MODELS} are needed to say anything")
    if roles.outcomes and not table.families:
        raise UserError(
            f"{table.source}: predicting an outcome needs the family of each model; give --family COL, or --models "
            f"models.csv, which is written with suggestions from names ({_suggested(table.models)})"
        )
    if roles.outcomes and not roles.size:
        raise UserError(
            f"{table.source}: predicting an outcome needs the size of each model; give --size COL, "
            "or --models models.csv, which is written with sizes from names where they say one"
        )
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
