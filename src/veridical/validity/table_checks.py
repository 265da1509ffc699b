"""What a table of scores must have to be analysed: enough models and families, sizes, and columns in one unit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from veridical.errors import UserError
from veridical.validity.models_file import family_in_name
from veridical.validity.table import LEAST_FAMILIES, LEAST_MODELS, ScoreTable

_FRACTION_GAP, _FRACTION_SHARE = 5.0, 0.1
"""A column counts as mixed where no score lies between its fractions and its percentages, and these start as many
times higher and by as large a share of the highest: a percentage below 1 has others not far above it."""


def check_table(table: ScoreTable) -> None:
    """Raise UserError for a table that cannot be analysed, with what is missing or mixed."""
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
    low = [name for name, top in highest.items() if top <= 1 and name not in roles.percent]
    high = [name for name in highest if name not in low]
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


def _suggested(models: Sequence[str], most: int = 4) -> str:
    named = [f"{model} is {family_in_name(model)}" for model in models[:most]]
    return "; ".join(named) + ("; …" if len(models) > most else "")
