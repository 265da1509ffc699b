"""Tasks, or runs, that share the values of a field and no items, compared set by set.

A data set and its reworked form (WinoGrande original and shuffled) number their documents alike, so that
`--sets doc_id` says which document of one is which of the other, though no item has the content of another. Each
value that both hold is one pair: right or wrong on each side, where right is every item of the set right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import polars as pl

from veridical.items import FULL, Choice, Grouping, Item, Member, Suite
from veridical.judge.answering import answerings
from veridical.judge.comparison import with_holm
from veridical.judge.estimate import JudgeSettings, contrast
from veridical.judge.frame import KEY, SCHEMA
from veridical.judge.generic import accuracy
from veridical.judge.measure import Measure
from veridical.judge.table import table_of
from veridical.prompts.template import Prompt
from veridical.status import Status

SHARED = 0.95
"""Share of the sets of the larger side that the smaller one must hold too. Our choice: every task of lm-eval numbers
its documents from 0, and tasks of different lengths share numbers that mean nothing."""
MOST_PAIRS = 30
"""Pairs beyond which tasks that share values are counted and not compared: so many are not a paired design."""

RIGHT, WRONG = "right", "wrong"
_LABELS = (Choice(label=RIGHT, continuation=RIGHT), Choice(label=WRONG, continuation=WRONG))


@dataclass(frozen=True)
class Side:
    """One answering over its sets: status and whether it is right, by set. `origin` is the model, whatever the run."""

    key: Mapping[str, str]
    origin: str
    sets: Mapping[str, tuple[str, str | None]]
    items: frozenset[str]
    single: bool
    """Whether every set has one item."""

    def answers(self, other: Side) -> Mapping[str, str]:
        """How `other` differs, by the names of the answering's key."""
        return {name: other.key[name] for name in KEY if other.key[name] != self.key[name]}


@dataclass(frozen=True)
class SetPairs:
    """Every two answerings that are to be compared set by set, and what the reader must know of them."""

    field: str
    pairs: Sequence[tuple[Side, Side]]
    n_possible: int

    def measures(self, settings: JudgeSettings) -> list[Measure]:
        """Differences of the share of sets that are right, with Newcombe's paired interval and McNemar's exact test.

        The measure is `accuracy` where every set has one item on both sides, `set_accuracy` elsewhere.
        """
        return with_holm([_contrast(one, other, settings) for one, other in self.pairs])

    @property
    def suites(self) -> set[str]:
        """The suites that a pair is of."""
        return {side.key["suite"] for pair in self.pairs for side in pair}

    def remarks(self) -> Iterator[str]:
        """How many values are paired, and what that rests on."""
        if self.n_possible > len(self.pairs):
            yield (
                f"{self.n_possible} pairs of tasks or runs share their values of {self.field}: too many to mean one "
                "document each, so that they are not compared; import the two that belong together by themselves."
            )
        counts = {(_name(a, b), _name(b, a)): len(_common(a, b)) for a, b in self.pairs}
        for (one, other), n in counts.items():
            yield (
                f"{one} and {other} are compared over the {n:,} values of {self.field} that both have: right where one "
                "value means one document in both, which their logs do not say."
            )


def set_pairs(
    suites: Sequence[Suite], responses: pl.DataFrame, field: str, origins: Mapping[str, str] | None = None
) -> SetPairs:
    """The pairs among these answers: of one model across two suites, and of two models in one suite.

    `suites` have the sets of `field` as their grouping; `responses` are in the columns of
    `veridical.judge.frame.SCHEMA`. `origins` names, by a model's name in `responses`, the model whose run it is, where
    several runs of one are distinguished by their names. Two sides are a pair where they have no item in common and the
    smaller holds `SHARED` of the sets of the larger.
    """
    sides = [side for suite in suites for side in _sides(suite, responses, origins or {})]
    counts: dict[tuple[str, str], int] = {}
    for side in sides:
        counts[_cell(side)] = counts.get(_cell(side), 0) + 1
    found = [
        (one, other)
        for one, other in combinations(sides, 2)
        if _cell(one) != _cell(other)
        and (one.key["suite"] == other.key["suite"] or one.origin == other.origin)
        and (_asked(one) == _asked(other) or counts[_cell(one)] == counts[_cell(other)] == 1)
        and (one.key["suite"] != other.key["suite"] or not one.items & other.items)
        and len(_common(one, other)) >= SHARED * max(len(one.sets), len(other.sets))
    ]
    return SetPairs(field, found if len(found) <= MOST_PAIRS else (), len(found))


def _cell(side: Side) -> tuple[str, str]:
    return side.key["suite"], side.key["model"]


def _asked(side: Side) -> tuple[str, str]:
    return side.key["prompt"], side.key["mode"]


def _name(side: Side, other: Side) -> str:
    parts = [side.key[name] for name in ("suite", "model") if side.key[name] != other.key[name]]
    return ", ".join(parts)


def _common(one: Side, other: Side) -> list[str]:
    return [name for name in one.sets if name in other.sets]


def _sides(suite: Suite, responses: pl.DataFrame, origins: Mapping[str, str]) -> Iterator[Side]:
    """The answers of models to all of an item, in the first order and repeat, as outcomes of sets."""
    columns, places = suite.columns, suite.places
    gold = pl.DataFrame(
        {"item": list(columns.ids), "gold": [list(one) for one in columns.gold]}, schema_overrides=_GOLD
    )
    members = pl.DataFrame({"set": list(places.sets), "item": list(places.items)}, schema_overrides=_MEMBERS)
    own = responses.filter(suite=suite.name, answerer="model", input=FULL, order=0, repeat=0)
    graded = (
        own.select(*KEY, "item", "status", "label")
        .join(members, on="item", maintain_order="left_right")
        .join(gold.filter(pl.col("gold").list.len() > 0), on="item", maintain_order="left")
    )
    answered = pl.col("status") == Status.OK.value
    right = answered & pl.col("label").is_in(pl.col("gold"))
    by_set = graded.group_by(*KEY, "set", maintain_order=True).agg(
        wrong=(answered & ~right).any(),
        lost=pl.col("status").filter(~answered).first(),
        n=pl.len(),
        items=pl.col("item"),
    )
    for key, rows in by_set.partition_by(*KEY, as_dict=True, maintain_order=True).items():
        named = dict(zip(KEY, map(str, key), strict=True))
        yield Side(
            key=named,
            origin=origins.get(named["model"], named["model"]),
            sets={
                name: (Status.OK.value, WRONG) if wrong else (lost, None) if lost else (Status.OK.value, RIGHT)
                for name, wrong, lost in rows.select("set", "wrong", "lost").iter_rows()
            },
            items=frozenset(rows["items"].explode().to_list()),
            single=bool((rows["n"] == 1).all()),
        )


_GOLD = {"item": pl.String(), "gold": pl.List(pl.String())}
_MEMBERS = {"set": pl.String(), "item": pl.String()}


def _contrast(one: Side, other: Side, settings: JudgeSettings) -> Measure:
    """The difference over the sets that both have, as that of two answerings of a suite with an item a set."""
    names = _common(one, other)
    items = [Item(fields={"set": name}, choices=_LABELS, gold=(RIGHT,)) for name in names]
    suite = Suite(
        name="sets",
        version="1",
        labels=(RIGHT, WRONG),
        prompts=(Prompt(name="sets", user="sets", plain=True),),
        measures="graded",
        items=tuple(items),
        groupings=(Grouping(name="set", members=tuple(Member(set=item.id, item=item.id) for item in items)),),
    )
    rows: list[dict[str, object]] = [
        {"suite": "sets", "model": which, "answerer": "model", "input": FULL, "prompt": "", "mode": one.key["mode"]}
        | {"order": 0, "repeat": 0, "item": item.id, "status": side.sets[name][0], "label": side.sets[name][1]}
        for which, side in (("one", one), ("other", other))
        for name, item in zip(names, items, strict=True)
    ]
    mine, theirs = (next(iter(accuracy(a))) for a in answerings(table_of(suite), pl.DataFrame(rows, schema=SCHEMA)))
    record = contrast(mine, theirs, one.answers(other), settings)
    measure = "accuracy" if one.single and other.single else "set_accuracy"
    return record.model_copy(update={**one.key, "measure": measure})
