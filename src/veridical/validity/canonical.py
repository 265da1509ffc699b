"""One order of models and columns, so that no number depends on the order in which a table's rows stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from veridical.stats.units import Floats
from veridical.validity.table import ScoreTable


def in_canonical_order(
    table: ScoreTable, answers: Mapping[str, Floats] | None = None
) -> tuple[ScoreTable, dict[str, Floats]]:
    """The table with its models ordered by family and name, and `answers` (models, sets) with their rows alike.

    Columns stand in the order of their roles; benchmarks that nobody named, which are taken from the table in the
    order of its columns, by name.
    """
    families = table.families or ("",) * len(table.models)
    order = sorted(range(len(table.models)), key=lambda row: (families[row], table.models[row]))
    roles = table.roles
    if table.taken:
        roles = replace(roles, benchmarks=tuple(sorted(roles.benchmarks)))
    columns = [table.names.index(name) for name in roles.columns]
    ordered = replace(
        table,
        models=tuple(table.models[row] for row in order),
        families=tuple(table.families[row] for row in order) if table.families else (),
        size=table.size[order],
        names=roles.columns,
        scores=np.ascontiguousarray(table.scores[order][:, columns]),
        roles=roles,
        dropped=tuple(sorted(table.dropped)),
        taken=tuple(sorted(table.taken)),
    )
    return ordered, {name: sets[order] for name, sets in (answers or {}).items()}
