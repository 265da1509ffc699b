"""Small suites of seeds and variants with planted answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from veridical.items import Grouping, Item, Member, Suite

from .judging import LABELS, PROMPTS, Answer, item


class Planted(NamedTuple):
    """A seed that is right or not, and how many of its variants are."""

    seed_right: bool
    right: int
    n: int


TABLE = {
    "s0": Planted(True, 4, 4),
    "s1": Planted(True, 3, 4),
    "s2": Planted(True, 2, 4),
    "s3": Planted(False, 3, 4),
    "s4": Planted(False, 0, 4),
}
"""Seeds right 3 of 5, variants 12 of 20. With 4 variants each, a seed passes CT up to .25 with one right (4 seeds do),
up to .5 with two (4), up to .75 with three (3), up to 1 with four (1)."""


def make(seeds: Mapping[str, Planted], **factors: Mapping[str, str]) -> tuple[Suite, dict[str, Answer]]:
    """The suite and its answers by name: `s0` a seed, `s0.0`, `s0.1`, ... its variants, the right ones first.

    Gold labels rotate over seeds, so that nobody is right by saying one thing. `factors` give an item's factors by
    its name.
    """
    items: list[Item] = []
    members: list[Member] = []
    answers: dict[str, Answer] = {}
    for place, (name, planted) in enumerate(seeds.items()):
        gold, wrong = LABELS[place % 3], LABELS[(place + 1) % 3]
        outcomes = {name: planted.seed_right} | {f"{name}.{i}": i < planted.right for i in range(planted.n)}
        for one, right in outcomes.items():
            made = item(one, (gold,), **{f: values[one] for f, values in factors.items() if one in values})
            items.append(made)
            members.append(Member(set=name, item=made.id, role="seed" if one == name else "variant"))
            answers[one] = gold if right else wrong
    return suite_of(items, members), answers


def suite_of(items: list[Item], members: list[Member]) -> Suite:
    return Suite(
        name="small",
        version="1",
        labels=LABELS,
        prompts=PROMPTS,
        measures="merge",
        items=tuple(items),
        groupings=(Grouping(name="seed", members=tuple(members)),),
    )
