"""Tables of scores with a planted truth."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from veridical.validity.roles import Roles
from veridical.validity.table import ScoreTable


def planted(n_families: int = 12, per_family: int = 6, seed: int = 0, **roles: Any) -> ScoreTable:
    """`needed` is size + `skill` + noise, `sized` is size + noise; `skill` and `idle` are both size + their own part.

    `copy` is `skill` with a little noise, `poor` with much. So `skill` adds to size for `needed` and for nothing else,
    and `idle` adds to nothing.
    """
    rng = np.random.default_rng(seed)
    n = n_families * per_family
    codes = np.repeat(np.arange(n_families), per_family)
    log_size = rng.uniform(0, 2, n)
    own = rng.normal(size=(2, n))
    columns = {
        "skill": log_size + own[0],
        "idle": log_size + own[1],
        "copy": log_size + own[0] + 0.1 * rng.normal(size=n),
        "poor": log_size + own[0] + 2 * rng.normal(size=n),
        "check": log_size + rng.normal(size=n),
        "needed": log_size + own[0] + 0.3 * rng.normal(size=n),
        "sized": log_size + 0.3 * rng.normal(size=n),
    }
    given: dict[str, Any] = {"benchmarks": ("skill", "idle"), "outcomes": {"needed": "", "sized": ""}} | roles
    chosen = Roles(model="model", family="family", size="size", **given)
    return made(columns, codes, 10**log_size, chosen)


def made(columns: dict[str, np.ndarray], codes: np.ndarray, size: np.ndarray, roles: Roles) -> ScoreTable:
    """A table of these columns, of which those with a role are kept."""
    names = roles.columns
    return ScoreTable(
        source="planted",
        models=tuple(f"m{place}" for place in range(len(codes))),
        families=tuple(f"f{code}" for code in codes),
        size=size,
        names=names,
        scores=np.stack([columns[name] for name in names], axis=1),
        roles=roles,
    )


def without(table: ScoreTable, model: int, column: str) -> ScoreTable:
    """The table with one cell emptied."""
    scores = table.scores.copy()
    scores[model, table.names.index(column)] = np.nan
    return replace(table, scores=scores)
