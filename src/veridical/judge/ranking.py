"""Measures of which choices are liked best, beyond the single best: two right answers, and pairs of opposite items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl

from veridical.judge.answering import Answering, Bounded
from veridical.judge.answers import TIE
from veridical.judge.normalised import DIVISORS
from veridical.judge.quantity import Quantity, Sample, over_items
from veridical.judge.table import SuiteTable
from veridical.stats.units import Bools, Floats, Ints

_VIEWS: Mapping[str, tuple[pl.Expr, str]] = {
    **{name: (pl.col("scores") / pl.col(column), column) for name, column in DIVISORS.items()},
    "unconditional": (pl.col("scores") - pl.col("unconditional"), "unconditional"),
}
"""Normalisation to the value of a choice, and the column that it needs in addition to the scores."""


def two_best_accuracy(answering: Answering) -> Iterator[Quantity]:
    """Share of items with two gold labels whose two best choices, by score, are these two.

    Applies to items with two gold labels of three choices or more, where choices were scored; scores are taken under
    the suite's normalisation. It is TimeDial's measure (Qin et al. 2021). A tie between the lower right choice and the
    best wrong one leaves an item open, as does one that was not scored: the value counts it as 0, the upper bound as 1.
    """
    applies, lead = with_two_right(answering.table), _lead(answering)
    if lead is None:
        return
    sample = over_items(answering, _above(lead), applies)
    if sample is not None:
        yield Quantity(answering, "two_best_accuracy", sample)


def forced_choice(answering: Answering) -> Iterator[Quantity]:
    """Share of pairs of opposite items that the model distinguishes, whatever its preference for one of the labels.

    A pair is a set of two items with the same two choices and opposite gold labels. It is distinguished where the gold
    label of the one has higher log-odds in it than in the other: so would a model answer that had to say which of
    the two is which (TRIP's plausible story of two, the log-odds of Trott et al. 2023). Open pairs as above.
    """
    lead = _lead(answering)
    sets, items = opposite_pairs(answering.table)
    if lead is None or len(sets) == 0:
        return
    values = _above(lead[items].sum(axis=1))
    yield Quantity(answering, "forced_choice", Sample(values, answering.table.set_units(sets), np.unique(items)))


def with_two_right(table: SuiteTable) -> Bools:
    """The items (items,) with two gold labels among more."""
    found: Bools = (table.n_gold == 2) & (table.n_choices > 2)
    return found


def opposite_pairs(table: SuiteTable) -> tuple[Ints, Ints]:
    """Codes of the sets (pairs,) that are a pair of opposite items, and the positions of the two items (pairs, 2)."""
    members: dict[int, list[int]] = {}
    for item, code in zip(table.member_item.tolist(), table.member_set.tolist(), strict=True):
        members.setdefault(code, []).append(item)
    found = [(code, *pair) for code, pair in members.items() if len(pair) == 2 and _opposite(table, *pair)]
    rows = np.array(found, dtype=np.int64).reshape(-1, 3)
    return rows[:, 0], rows[:, 1:]


def _opposite(table: SuiteTable, one: int, other: int) -> bool:
    a, b = table.items[one], table.items[other]
    return len(a.choices) == 2 and a.choices == b.choices and len(a.gold) == len(b.gold) == 1 and a.gold != b.gold


def _above(lead: Floats) -> Bounded:
    """1 where the lead is above a tie; open where it is one, or not known (NaN)."""
    best, settled = lead > TIE, np.abs(lead) > TIE
    value = best.astype(np.float64)
    return Bounded(value, value, (best | ~settled).astype(np.float64))


def _lead(answering: Answering) -> Floats | None:
    """For every item, its lowest gold score less its highest other score; NaN where that is not known."""
    table = answering.table
    value, *needs = _VIEWS.get(table.suite.normalisation, (pl.col("scores"),))
    columns = ["labels", "scores", *needs]
    scored = answering.rows.filter(
        pl.col("scores").list.len() > 0,
        *(pl.col(name).list.len() == pl.col("scores").list.len() for name in columns),
    )
    if scored.is_empty():
        return None
    long = scored.select("position", *columns).explode(columns).with_columns(value=value.cast(pl.Float64()))
    values = long["value"].to_numpy()
    items = long["position"].to_numpy()
    codes = np.array([table.code.get(label, -1) for label in long["labels"]], dtype=np.int64)
    gold = table.pairs_are_gold(items, codes)
    lowest, highest = np.full(table.n_items, np.inf), np.full(table.n_items, -np.inf)
    np.minimum.at(lowest, items[gold], values[gold])
    np.maximum.at(highest, items[~gold], values[~gold])
    lead: Floats = lowest - highest
    lead[~np.isfinite(lead)] = np.nan
    lead[items[~np.isfinite(values)]] = np.nan
    return lead
