"""One row a model: what several rows of one model come to."""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import replace

import numpy as np

from veridical.errors import UserError
from veridical.validity.reading import Raw
from veridical.validity.results import Note
from veridical.validity.table import ScoreTable


def without_repeats(table: ScoreTable, raw: Raw) -> ScoreTable:
    """The table with one row a model, by the rule of its roles: the first row, or the mean of those that there are.

    Identical second rows are left out whatever the rule. Raises UserError where rows differ and the rule is to refuse,
    or where a mean would be over rows of two families.
    """
    rows: dict[str, list[int]] = {}
    for row, model in enumerate(table.models):
        rows.setdefault(model, []).append(row)
    repeated = {model: found for model, found in rows.items() if len(found) > 1}
    if not repeated:
        return table
    differing = {model: found for model, found in repeated.items() if not _same(table, found)}
    rule = table.roles.duplicates
    if differing and rule == "refuse":
        model, found = next(iter(differing.items()))
        numbered = " and ".join(str(raw.number(row)) for row in found[:2])
        more = f" (and so do {len(differing) - 1} more models)" if len(differing) > 1 else ""
        raise UserError(
            f"{raw.source}: model {model!r} has {raw.unit}s {numbered}, and they differ{more}; give "
            "--duplicates first or mean, or keep one"
        )
    scores, kept = table.scores.copy(), [found[0] for found in rows.values()]
    for model, found in differing.items() if rule == "mean" else ():
        if table.families and len({table.families[row] for row in found}) > 1:
            raise UserError(f"{raw.source}: model {model!r} has rows of two families, which have no mean; give it one")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a column that no row has stays without a score
            scores[found[0]] = np.nanmean(table.scores[found], axis=0)
    notes = []
    if differing:
        extra = sum(len(found) - 1 for found in differing.values())
        rule_used = "the first of each is used" if rule == "first" else "the mean of each model's rows is used"
        listed = ", ".join(list(differing)[:6]) + (f" and {len(differing) - 6} more" if len(differing) > 6 else "")
        has = "1 model has" if len(differing) == 1 else f"{len(differing)} models have"
        message = f"{has} {extra} further {'row' if extra == 1 else 'rows'} that differ; {rule_used}: {listed}"
        notes.append(Note(kind="duplicate", where=tuple(differing), message=message))
    return replace(
        table,
        models=tuple(table.models[row] for row in kept),
        families=tuple(table.families[row] for row in kept) if table.families else (),
        size=table.size[kept],
        scores=scores[kept],
        dropped=tuple(Counter({m: len(f) - 1 for m, f in repeated.items() if m not in differing}).elements()),
        notes=(*table.notes, *notes),
    )


def _same(table: ScoreTable, rows: list[int]) -> bool:
    facts = np.column_stack([table.scores, table.size])[rows]
    families = {table.families[row] for row in rows} if table.families else set()
    return all(np.array_equal(facts[0], one, equal_nan=True) for one in facts[1:]) and len(families) <= 1
