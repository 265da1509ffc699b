"""A table of scores: models with family and size, and what they score on benchmarks, controls and outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from veridical.stats.units import Bools, Floats, Ints
from veridical.validity.results import Note
from veridical.validity.roles import Roles
from veridical.validity.scale import Scale, scale_of

LEAST_MODELS, LEAST_FAMILIES = 8, 3


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Models x columns. `scores` is (models, columns), NaN where a cell is missing; `size` likewise (models,).

    `families` is empty where the table has none; then nothing that needs a family or an outcome can be asked.
    `dropped` names models of which an identical second row was left out; `taken` the columns that are benchmarks
    because nobody named any; `notes` say what was decided while the table was read, `account` what became of its rows.
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
    account: str = ""

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

    def scale(self, name: str) -> Scale | None:
        """The scale of a column's scores; None where they are neither fractions nor percentages."""
        return scale_of(name, self.column(name), self.roles.percent)

    def complete(self, *columns: Floats) -> Bools:
        """Models that have every one of these columns, and a size, shape (models,)."""
        return np.asarray(np.isfinite(np.column_stack([self.size, *columns])).all(axis=1), dtype=np.bool_)
