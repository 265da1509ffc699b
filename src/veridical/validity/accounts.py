"""What became of the rows of a table of scores: those that are used, and those that are left out, by reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from veridical.files.ledger import Ledger, account
from veridical.validity.reading import Raw
from veridical.validity.table import ScoreTable


def account_of_rows(table: ScoreTable, models: Sequence[str]) -> str:
    """The rows of a wide table, each a model; `models` are those of its rows.

    Raises UserError where their counts do not agree.
    """
    rows = Ledger()
    rows.take(len(models))
    rows.use(len(table.models))
    identical = len(table.dropped)
    differing = sum(n - 1 for n in Counter(models).values()) - identical
    rows.leave("identical second row", identical)
    rows.leave(f"further row of a model, {_rule(table)}", differing)
    rows.check(table.source)
    scores = np.isfinite(table.scores)
    held = f"{np.count_nonzero(scores):,} of {scores.size:,} cells hold a score"
    return f"{account(rows, 'rows read', 'models')}; {held}"


def account_of_scores(table: ScoreTable, raw: Raw) -> str:
    """The rows of a long table, each a score. Raises UserError where their counts do not agree."""
    rows = Ledger()
    rows.take(len(raw.cells) + raw.merged)
    rows.leave(f"further score of a model on a benchmark, {_rule(table)}", raw.merged)
    places = {name: place for place, name in enumerate(table.names)}
    for row, name in raw.cells:
        if name not in places:
            rows.leave("on a benchmark without a role")
        elif not np.isfinite(table.scores[row, places[name]]):
            rows.leave("without a score")
    rows.use(int(np.count_nonzero(np.isfinite(table.scores))))
    rows.check(table.source)
    return account(rows, "rows read", "scores")


def _rule(table: ScoreTable) -> str:
    return "the first is used" if table.roles.duplicates == "first" else "the mean is used"
