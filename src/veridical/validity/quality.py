"""Data quality: what stands in the way of a conclusion, said before any is drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import numpy as np

from veridical.stats.units import Floats
from veridical.validity.results import Note
from veridical.validity.table import ScoreTable

EDGE = 0.01
"""Scores this near 0 or 1 (0 or 100) are at the floor or ceiling; noted where a share of `CROWD` of models are."""
CROWD = 0.1
SENTINELS = (-1.0, -9.0, -99.0, -100.0, -999.0, -9999.0, 999.0, 9999.0, 99999.0)
"""Named where they lie outside all other scores of a column. A choice of Veridical."""
SAME = 3
"""Models under different names are held to be one from so many scores on that are all equal."""


def quality(table: ScoreTable) -> list[Note]:
    """Everything worth knowing of the data, in the order in which one would mend it."""
    parts = (_taken, _copies, _alike, _same_columns, _missing, _sentinels, _constant, _scales, _edges, _singletons)
    return [*table.notes, *(note for part in parts for note in part(table))]


def _taken(table: ScoreTable) -> Iterator[Note]:
    if table.taken:
        message = f"no benchmark was named, so every column of numbers is one: {_listed(table.taken, 12)}"
        yield Note(kind="benchmarks", where=table.taken, message=f"{message}; name those that are with --benchmark")


def _copies(table: ScoreTable) -> Iterator[Note]:
    if table.dropped:
        named = tuple(dict.fromkeys(table.dropped))
        yield Note(kind="duplicate", where=named, message=f"identical second rows were left out: {_listed(named)}")
    alike: dict[str, list[str]] = {}
    for model in table.models:
        alike.setdefault(re.sub(r"[^a-z0-9.]", "", model.rpartition("/")[2].lower()), []).append(model)
    groups = {tuple(models) for models in alike.values() if len(models) > 1}
    by_scores: dict[bytes, list[str]] = {}
    for model, row in zip(table.models, table.scores, strict=True):
        if np.isfinite(row).sum() >= SAME:
            by_scores.setdefault(row.tobytes(), []).append(model)
    groups |= {tuple(models) for models in by_scores.values() if len(models) > 1}
    for models in sorted(groups):
        yield Note(kind="same model", where=models, message=f"{_listed(models)} look like one model; both are kept")


def _alike(table: ScoreTable) -> Iterator[Note]:
    """Families of one name but for case and punctuation: leaving one out leaves the other in."""
    alike: dict[str, list[str]] = {}
    for family in table.family_names:
        alike.setdefault(re.sub(r"[\W_]", "", family.casefold()) or family, []).append(family)
    for families in alike.values():
        if len(families) > 1:
            message = f"{_listed(families)} look like one family; they are held out one by one: give them one name"
            yield Note(kind="same family", where=tuple(families), message=message)


def _same_columns(table: ScoreTable) -> Iterator[Note]:
    """Columns with one score for every model, in one unit or another (fractions and percentages)."""
    columns: dict[bytes, list[str]] = {}
    for name in table.names:
        values = table.column(name)
        there = np.isfinite(values)
        if not there.any():
            continue
        lowest, spread = values[there].min(), float(np.ptp(values[there]))
        scaled = np.where(there, np.round((values - lowest) / (spread or 1.0), 9) + 0.0, np.nan)
        if spread == 0:
            scaled[there] = lowest
        columns.setdefault(scaled.tobytes(), []).append(name)
    for names in columns.values():
        if len(names) < 2:
            continue
        same = all(np.array_equal(table.column(names[0]), table.column(name), equal_nan=True) for name in names)
        message = f"{_listed(names)} hold the same scores{'' if same else ' but for their unit'}"
        yield Note(kind="same column", where=tuple(names), message=message)


def _missing(table: ScoreTable) -> Iterator[Note]:
    n = len(table.models)
    for name in table.names:
        missing = int(np.isnan(table.column(name)).sum())
        if missing:
            message = f"{name}: {missing} of {n} models have no score"
            if name in table.roles.controls and table.roles.outcomes:
                message += ", and are left out of partial correlations and of every gain, over size alone too"
            yield Note(kind="missing", where=(name,), message=message)
    without = tuple(model for model, size in zip(table.models, table.size, strict=True) if np.isnan(size))
    if without and table.roles.size:
        left_out = "have no size and are left out wherever size is controlled"
        message = f"{len(without)} of {n} models {left_out}: {_listed(without)}"
        yield Note(kind="missing", where=without, message=message)


def _sentinels(table: ScoreTable) -> Iterator[Note]:
    """Numbers that stand for no score in many tables, far from all other scores of their column."""
    for name in table.names:
        values = table.column(name)
        values = values[np.isfinite(values)]
        for sentinel in SENTINELS:
            rest, count = values[values != sentinel], int((values == sentinel).sum())
            if not count or not len(rest) or not _far(sentinel, rest):
                continue
            message = (
                f"{name}: {count} of {len(values)} scores are {sentinel:g}, outside all others ({rest.min():g} to "
                f"{rest.max():g}), and are used as scores; if they stand for no score, give --missing={sentinel:g}"
            )
            yield Note(kind="sentinel", where=(name,), message=message)


def _far(sentinel: float, rest: Floats) -> bool:
    if sentinel < 0:
        return bool(rest.min() >= 0)
    return bool(rest.max() < sentinel / 5)


def _constant(table: ScoreTable) -> Iterator[Note]:
    for name in table.names:
        values = table.column(name)
        values = values[np.isfinite(values)]
        if len(values) and values.min() == values.max():
            yield Note(kind="constant", where=(name,), message=f"{name}: all {len(values)} scores are {values[0]:g}")
    known = table.size[np.isfinite(table.size)]
    if len(known) and known.min() == known.max():
        message = f"{table.roles.size}: all {len(known)} sizes are {known[0]:g}, so that size predicts nothing here"
        yield Note(kind="constant", where=(table.roles.size,), message=message)


def _scales(table: ScoreTable) -> Iterator[Note]:
    """Columns whose scale decides a number (of items that they rest on), and is not named by table or roles."""
    for name in table.names:
        scale = table.scale(name) if name in table.roles.items else None
        if scale is not None and not scale.known:
            remedy = "; list it under 'percent' in the roles file where they are percentages" if scale.top == 1 else ""
            yield Note(kind="scale", where=(name,), message=f"{name}: scores are taken for {scale.words}{remedy}")


def _edges(table: ScoreTable) -> Iterator[Note]:
    for name in table.names:
        values = table.column(name)
        values, scale = values[np.isfinite(values)], table.scale(name)
        if scale is None or values.min() == values.max():
            continue
        for kind, there in (("ceiling", values >= scale.top * (1 - EDGE)), ("floor", values <= scale.top * EDGE)):
            if there.mean() >= CROWD:
                message = (
                    f"{name}: {int(there.sum())} of {len(values)} models are at the {kind} of 0 to {scale.top:g}, and "
                    "cannot be distinguished"
                )
                yield Note(kind=kind, where=(name,), message=message)


def _singletons(table: ScoreTable) -> Iterator[Note]:
    single = tuple(family for family, count in Counter(table.families).items() if count == 1)
    if single:
        message = f"{len(single)} of {len(table.family_names)} families have one model: {_listed(single)}"
        yield Note(
            kind="singleton family",
            where=single,
            message=f"{message}; they are no evidence within families, and stay fixed in permutations within families",
        )


def _listed(names: tuple[str, ...] | list[str], most: int = 6) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
