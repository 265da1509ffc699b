"""Small suites in the shape of `evidence`, with features that know the gold label."""

from __future__ import annotations

import numpy as np

from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.prompts.template import Prompt
from veridical.readouts.rows import Rows
from veridical.readouts.transfer import TransferTask
from veridical.stats.units import Floats, Ints

LABELS = ("Favors", "Challenges", "Unresolved", "Wrong Target")
CATEGORIES = tuple("abcdefgh")


def item(text: str, gold: str, **factors: str) -> Item:
    choices = tuple(Choice(label=label, continuation=label) for label in LABELS)
    return Item(fields={"text": text}, choices=choices, gold=(gold,), factors=dict(factors), name=text)


def suite(name: str, members: list[tuple[Member, Item]]) -> Suite:
    return Suite(
        name=name,
        version="1",
        labels=LABELS,
        measures="evidence",
        prompts=(Prompt(name="ask", user="{{ text }}"),),
        groupings=(Grouping(name="sets", members=tuple(member for member, _ in members)),),
        items=tuple(one for _, one in members),
    )


def fitted(n_scenarios: int = 10) -> Suite:
    """Scenarios of four items, one of each label; two scenarios a category."""
    members = []
    for scenario in range(n_scenarios):
        for label in LABELS:
            one = item(f"scenario {scenario} {label}", label, category=CATEGORIES[scenario % len(CATEGORIES)])
            members.append((Member(set=f"s{scenario}", item=one.id, role=label), one))
    return suite("development", members)


def judged(n_pairs: int = 20) -> Suite:
    """Pairs of an addressed endpoint, Favors and Challenges in turn, and one of the wrong target."""
    members = []
    for pair in range(n_pairs):
        kind = LABELS[pair % 2]
        for role, label in (("addressed", kind), ("wrong_target", "Wrong Target")):
            factors = {"category": CATEGORIES[pair % len(CATEGORIES)], "kind": kind}
            one = item(f"pair {pair} {role}", label, **factors)
            members.append((Member(set=f"p{pair}", item=one.id, role=role), one))
    return suite("primary", members)


def task(n_scenarios: int = 10, n_pairs: int = 20) -> TransferTask:
    return TransferTask(Rows.of(fitted(n_scenarios)), Rows.of(judged(n_pairs)))


def planted(task: TransferTask, strength: float, width: int = 6, seed: int = 0) -> tuple[Floats, Floats]:
    """Noise, with `strength` times an axis of its own for each label added."""
    rng = np.random.default_rng(seed)
    axes = np.eye(task.n_classes, width)

    def drawn(labels: Ints) -> Floats:
        return rng.normal(size=(len(labels), width)) + strength * axes[labels]

    return drawn(task.fitted.labels), drawn(task.gold)
