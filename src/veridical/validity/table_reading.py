"""A table of scores made from what a file holds: which columns are what, and which rows and columns are left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from veridical.errors import UserError
from veridical.stats.units import Floats
from veridical.validity.accounts import account_of_rows, account_of_scores
from veridical.validity.cells import has_percent_signs, is_no_size, no_score, number_in, numbers, plain, sizes, texts
from veridical.validity.composites import Composite, composites_both_ways
from veridical.validity.long_table import wide
from veridical.validity.reading import Raw, read_raw
from veridical.validity.repeated_rows import without_repeats
from veridical.validity.results import Note
from veridical.validity.roles import Roles, check_roles, found_column
from veridical.validity.table import ScoreTable
from veridical.validity.table_checks import check_table

_ROW_NUMBERS = re.compile(r"|Unnamed: [0-9]+|__index_level_[0-9]+__")
"""Columns in which programs write the numbers of rows."""


def read_table(path: Path, roles: Roles) -> ScoreTable:
    """The table of scores in a file. Raises UserError, saying what is wrong and where."""
    return table_of(read_raw(path), roles)


def table_of(raw: Raw, roles: Roles, unnamed: Collection[str] = ()) -> ScoreTable:
    """The table of scores in a raw table, wide or long. `unnamed` have a role that nobody gave them."""
    raw = wide(raw, roles)
    known = raw.frame.columns
    named = {role: found_column(role, getattr(roles, role), known, raw.source) for role in ("model", "family", "size")}
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
    roles = replace(roles, percent=tuple(dict.fromkeys((*roles.percent, *_with_percent_signs(raw, roles)))))
    scores = np.column_stack([numbers(raw, name, models, roles.missing) for name in roles.columns])
    notes = (*raw.notes, *_cells_without_score(raw, roles))
    table = ScoreTable(raw.source, models, families, size, roles.columns, scores, roles, taken=taken, notes=notes)
    table = without_repeats(table, raw)
    check_table(table)
    table = _without_composites(table, raw, {*taken, *unnamed})
    return replace(table, account=account_of_scores(table, raw) if raw.cells else account_of_rows(table, models))


def _with_percent_signs(raw: Raw, roles: Roles) -> Iterator[str]:
    """Columns of scores whose cells say themselves that they are percentages."""
    for name in roles.columns:
        if has_percent_signs([text for text in raw.texts(name) if not no_score(text, roles.missing)]):
            yield name


def _cells_without_score(raw: Raw, roles: Roles) -> Iterator[Note]:
    """How many cells hold a sign that is read as no score, and how many sizes are 0 or below."""
    signs: Counter[str] = Counter()
    where: dict[str, None] = {}
    for name in roles.columns:
        found = [text for text in raw.texts(name) if text and no_score(text, roles.missing)]
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


def _without_composites(table: ScoreTable, raw: Raw, unnamed: Collection[str]) -> ScoreTable:
    """The table without benchmarks that are made of an outcome, or an outcome of them, where nobody named them.

    Raises UserError where one was named: what holds the outcome, or is a part of it, predicts it whatever the models
    can do.
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
    found, held = composites_both_ways(columns, halves, (*roles.predictors, *roles.controls), outcomes)
    named = [one for one in found if one.column not in unnamed]
    if named:
        raise UserError(
            f"{table.source}: {named[0].message}: it predicts {named[0].outcome} because it is made of it; leave "
            f"{named[0].column} out, or make another outcome of what it does not hold"
        )
    if parts := [one for one in held if one.outcome not in unnamed]:
        part, outcome = parts[0].outcome, parts[0].column
        raise UserError(
            f"{table.source}: {parts[0].message}: {part} predicts {outcome} because it is a part of it; leave {part} "
            f"out, or make another outcome that does not hold it"
        )
    return _left_out(table, found, held)


def _left_out(table: ScoreTable, found: Sequence[Composite], held: Sequence[Composite]) -> ScoreTable:
    """The table without the columns of `found`, which hold an outcome, and the parts of outcomes in `held`."""
    if not found and not held:
        return table
    reasons = {
        **{one.outcome: one for one in reversed(held)},
        **{one.column: one for one in reversed(found)},
    }
    leaving = set(reasons)
    notes = [
        Note(
            kind="composite",
            where=(left, one.outcome if one.column == left else one.column),
            message=f"left out: {one.message if one.column == left else f'{left}, since {one.message}'}",
        )
        for left, one in reasons.items()
    ]
    roles = replace(
        table.roles,
        benchmarks=tuple(name for name in table.roles.benchmarks if name not in leaving),
        variants={new: old for new, old in table.roles.variants.items() if leaving.isdisjoint((new, old))},
    )
    if not roles.predictors:
        raise UserError(
            f"{table.source}: {(*found, *held)[0].message}, and no other benchmark is left; name one with --benchmark"
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
        filled = [text for text in raw.texts(name) if not no_score(text, roles.missing)]
        numeric = sum(number_in(text) is not None for text in plain(filled))
        # A column with a stray text is still meant as scores: it is refused later, by its cell.
        if filled and numeric > len(filled) / 2:
            found.append(name)
    return tuple(found)
