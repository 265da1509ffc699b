"""One answering of a suite as arrays: what one answerer said to every item that was asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars as pl

from veridical.errors import UserError
from veridical.judge.frame import KEY
from veridical.judge.table import SuiteTable
from veridical.stats.units import Bools, Floats, Ints
from veridical.status import Status

MISSING = "missing"
"""The status of a question that was asked for and for which the frame has no response."""

STATUSES = (*(status.value for status in Status), MISSING)
_OK = STATUSES.index(Status.OK)
_MISSING = STATUSES.index(MISSING)


@dataclass(frozen=True, eq=False)
class Bounded:
    """A value an element with the least and the greatest it could have had.

    `value` counts what is not `ok` as 0; `low` and `high` range over every label it could have had. Floats of
    one shape, over items or over sets.
    """

    value: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class Answering:
    """The responses that share one key, dense over the suite's items.

    `label` and `status` have shape (orders, items): codes into `table.labels` (-1 where there is no answer)
    and into `STATUSES`. Order 0 feeds every measure but order sensitivity; of repeats, the first is read.
    """

    table: SuiteTable
    key: Mapping[str, str]
    label: Ints
    status: Ints
    rows: pl.DataFrame
    """The rows of order 0 with their item's `position`."""

    @property
    def answered(self) -> Bools:
        """Whether each item got a valid answer in the first order of the labels, (items,)."""
        answered: Bools = self.status[0] == _OK
        return answered

    def right(self) -> Bounded:
        """1 where the answer is a gold label. Applies to items that have gold (`table.gradable`)."""
        table, answered = self.table, self.answered
        value = answered & table.is_gold(self.label[0])
        any_right = ~answered & (table.n_gold > 0)
        always_right = any_right & (table.n_gold == table.n_choices)
        return _bounded(value, value | always_right, value | any_right)

    def says(self, label: str) -> Bounded:
        """1 where the answer is `label`."""
        table, answered = self.table, self.answered
        value = answered & (self.label[0] == table.code.get(label, -2))
        could = ~answered & table.offers(label)
        must = could & (table.n_choices == 1)
        return _bounded(value, value | must, value | could)

    def probability(self, label: str) -> Bounded:
        """The probability of `label`: softmax of the summed log-likelihoods over the item's choices.

        0 where nothing was scored, where it could be anything in [0, 1].
        """
        items, codes, probabilities = self._probabilities
        return self._scored(items, probabilities * (codes == self.table.code.get(label, -1)))

    def probability_of_gold(self) -> Bounded:
        """The probability of the gold labels together, as `probability` has it."""
        items, codes, probabilities = self._probabilities
        return self._scored(items, probabilities * self.table.pairs_are_gold(items, codes))

    def label_mass(self) -> Bounded:
        """The probability that the model gives to the choices together."""
        known = self.rows.filter(pl.col("label_mass").is_finite())
        return self._scored(known["position"].to_numpy(), known["label_mass"].to_numpy())

    @property
    def has_probabilities(self) -> bool:
        """Whether the choices were scored, so that probabilities of labels are known."""
        return len(self._probabilities[0]) > 0

    @property
    def has_label_mass(self) -> bool:
        """Whether any response has a probability of all labels together."""
        return bool(self.rows["label_mass"].is_finite().any())

    def statuses(self, items: Ints, *, every_order: bool = False) -> dict[str, int]:
        """Number of responses to `items` (positions) by status, those that occur only."""
        status = self.status[:, items] if every_order else self.status[0, items]
        counts = np.bincount(status[status >= 0].ravel(), minlength=len(STATUSES))
        return {name: int(n) for name, n in zip(STATUSES, counts, strict=True) if n}

    def _scored(self, items: Ints, values: Floats) -> Bounded:
        n = self.table.n_items
        value = np.bincount(items, weights=values, minlength=n).astype(np.float64)
        high = np.ones(n)
        high[items] = value[items]
        return Bounded(value, value, high)

    @cached_property
    def _probabilities(self) -> tuple[Ints, Ints, Floats]:
        """(item, label code, probability) of every choice of every item that was scored."""
        long = (
            self.rows.lazy()
            .filter(pl.col("scores").list.len() > 0, pl.col("scores").list.len() == pl.col("labels").list.len())
            .select("position", "labels", "scores")
            .explode("labels", "scores")
            # -inf is a probability of 0; NaN, null and +inf say that the item was not scored
            .filter((pl.col("scores") < np.inf).fill_null(False).all().over("position"))
            .filter(pl.col("scores").max().over("position") > -np.inf)
            .with_columns(weight=(pl.col("scores") - pl.col("scores").max().over("position")).exp())
            .with_columns(probability=pl.col("weight") / pl.col("weight").sum().over("position"))
            .with_columns(code=pl.col("labels").replace_strict(self.table.code, default=-1, return_dtype=pl.Int64))
            .collect()
        )
        return long["position"].to_numpy(), long["code"].to_numpy(), long["probability"].to_numpy()


def _bounded(value: Bools, low: Bools, high: Bools) -> Bounded:
    return Bounded(value.astype(np.float64), low.astype(np.float64), high.astype(np.float64))


def answerings(table: SuiteTable, frame: pl.DataFrame) -> Iterator[Answering]:
    """Every answering of the table's suite in a frame of responses, in the order of appearance.

    An item that an answering lacks is `missing`. Responses to items that the suite does not hold are left
    aside (a part of a suite may be judged), unless none is left.

    Raises UserError where the responses fit the suite in no item, answer with a label that an item does not
    offer, or answer one question twice.
    """
    suite = table.suite
    own = only(frame, (pl.col("suite") == suite.name) & (pl.col("repeat") == 0))
    position = pl.col("item").replace_strict(table.index, default=None, return_dtype=pl.Int64)
    known = only(own.with_columns(position=position), pl.col("position").is_not_null())
    if len(own) and not len(known):
        raise UserError(
            f"none of the {len(own)} responses to suite {suite.name!r} answers an item of it: "
            "they were given to another version of the suite; judge them with the items of their own run"
        )
    coded = known.with_columns(
        label_code=pl.col("label").replace_strict(table.code, default=-1, return_dtype=pl.Int64),
        status_code=pl.col("status").replace_strict(
            {name: code for code, name in enumerate(STATUSES)}, return_dtype=pl.Int64
        ),
    )
    for group in by_key(coded):
        yield _answering(table, group)


def only(frame: pl.DataFrame, rows: pl.Expr) -> pl.DataFrame:
    """The rows for which an expression holds; the frame itself where that is all of them, since it may be large."""
    mask = frame.select(rows).to_series()
    return frame if mask.all() else frame.filter(mask)


def by_key(frame: pl.DataFrame) -> list[pl.DataFrame]:
    """The answerings of a frame, in the order of appearance; the frame itself where it holds one."""
    if len(frame) and all(frame[name].n_unique() == 1 for name in KEY):
        return [frame]
    return frame.partition_by(*KEY, maintain_order=True)


def _answering(table: SuiteTable, rows: pl.DataFrame) -> Answering:
    key = {name: str(rows[name][0]) for name in KEY}
    who = " ".join(value for name, value in key.items() if name != "suite" and value)
    if rows.select("order", "position").is_duplicated().any():
        raise UserError(
            f"{who} answers some question of suite {table.suite.name!r} twice: "
            "two runs go by one name; judge them apart, or give the models different names"
        )
    n_orders = int(rows["order"].max()) + 1  # type: ignore[arg-type]
    label = np.full((n_orders, table.n_items), -1, dtype=np.int64)
    # An item with fewer choices than there are orders has no rotation left to ask: not missing, not asked.
    asked = np.arange(n_orders)[:, None] < np.maximum(table.n_choices, 1)
    status = np.where(asked, _MISSING, -1).astype(np.int64)
    at = (rows["order"].to_numpy(), rows["position"].to_numpy())
    status[at] = rows["status_code"].to_numpy()
    label[at] = np.where(status[at] == _OK, rows["label_code"].to_numpy(), -1)
    for order in range(n_orders):
        stray = (status[order] == _OK) & ~table.is_choice(label[order])
        if stray.any():
            position = int(np.flatnonzero(stray)[0])
            raise UserError(
                f"{who} answers item {list(table.index)[position]} of suite {table.suite.name!r} with a label that it "
                f"does not offer: its labels are {', '.join(table.labels_of[position])}"
            )
    return Answering(table, key, label, status, only(rows, pl.col("order") == 0))
