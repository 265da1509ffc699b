"""Small suites and frames of responses with known answers, for the tests of judging."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.judge.frame import SCHEMA
from veridical.judge.measure import Measure
from veridical.prompts.template import Prompt

LABELS = ("True", "False", "Unknown")
GOLD = {"A": "False", "B": "True", "C": "Unknown", "D": "True", "completed": "True"}
PROMPTS = tuple(Prompt(name=name, user="{{ text }}") for name in ("zero-shot", "dap", "cot", "counterfactual"))
CLASSES = ("Creation", "Change_of_State", "Consumption", "Motion_to_Goal")


def item(text: str, gold: Sequence[str] = ("True",), labels: Sequence[str] = LABELS, **factors: str) -> Item:
    choices = tuple(Choice(label=label, continuation=label) for label in labels)
    return Item(fields={"text": text}, choices=choices, gold=tuple(gold), factors=factors, name=text)


def suite(items: Sequence[Item], members: Sequence[Member] = (), measures: str = "accuracy") -> Suite:
    groupings = (Grouping(name="set", members=tuple(members)),) if members else ()
    return Suite(
        name="small",
        version="1",
        labels=LABELS,
        prompts=PROMPTS,
        measures=measures,
        items=tuple(items),
        groupings=groupings,
    )


def in_sets(sets: Mapping[str, Sequence[Item]], measures: str = "accuracy", roles: Sequence[str] = ()) -> Suite:
    """A suite of named sets; the i-th item of each takes the i-th role."""
    members = [
        Member(set=name, item=one.id, role=roles[i] if roles else "")
        for name, items in sets.items()
        for i, one in enumerate(items)
    ]
    items = {one.id: one for group in sets.values() for one in group}
    return suite(list(items.values()), members, measures)


def paradox(
    n_telic: int = 100,
    n_atelic: int = 100,
    *,
    completed: bool = False,
    classes: Sequence[str] = CLASSES,
    groups: str = "ABCD",
) -> Suite:
    """Telic verbs with A and C (and completed), atelic ones with B and D; a set is a verb. Named `A0`, `C17`."""
    sets: dict[str, list[Item]] = {}
    members: list[Member] = []
    for i in range(n_telic):
        roles = ["A", "C", *(["completed"] if completed else [])]
        verb_class = classes[i % len(classes)]
        sets[f"telic{i}"] = [
            _paradox_item(role, i, verb_class) for role in roles if role in groups or role == "completed"
        ]
    for i in range(n_atelic):
        sets[f"atelic{i}"] = [_paradox_item(role, i, "Activity") for role in "BD" if role in groups]
    for name, items in sets.items():
        members.extend(Member(set=name, item=one.id, role=str(one.factors["group"])) for one in items)
    return suite([one for items in sets.values() for one in items], members, "imperfective")


def quads(n: int, classes: Sequence[str] = ("Creation", "Motion_to_Goal")) -> Suite:
    """Sets of A, B, C and D with one verb each; the class is the telic member's."""
    sets = {}
    for i in range(n):
        verb_class = classes[i % len(classes)]
        sets[f"quad{i}"] = [_paradox_item(g, i, verb_class if g in "AC" else "Activity") for g in "ABCD"]
    return in_sets(sets, "imperfective-quads", "ABCD")


def _paradox_item(group: str, i: int, verb_class: str) -> Item:
    return item(f"{group}{i}", (GOLD[group],), group=group, verb_class=verb_class, verb=f"verb{i}")


Answer = str | None
"""A label; None is a question that was not answered: `unparsed`."""


def frame(
    asked: Suite,
    answers: Mapping[str, Answer],
    *,
    model: str = "m",
    prompt: str = "zero-shot",
    mode: str = "loglikelihood",
    input: str = "full",
    order: int = 0,
    status: str = "unparsed",
    scores: Mapping[str, Sequence[float] | None] | None = None,
    label_mass: Mapping[str, float | None] | None = None,
) -> pl.DataFrame:
    """Responses by item name; an item that `answers` lacks has no row."""
    by_name = {one.name: one for one in asked.items}
    rows = [
        {
            "suite": asked.name,
            "model": model,
            "answerer": "model",
            "input": input,
            "prompt": prompt,
            "mode": mode,
            "order": order,
            "repeat": 0,
            "item": by_name[name].id,
            "status": "ok" if answer is not None else status,
            "label": answer,
            "labels": list(by_name[name].labels),
            "scores": (scores or {}).get(name),
            "label_mass": (label_mass or {}).get(name),
        }
        for name, answer in answers.items()
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def group_answers(counts: Mapping[str, Mapping[str, int]], offset: int = 0) -> dict[str, Answer]:
    """For each group, so many of each label over its items `G0`, `G1`, ... in that order, `offset` rotated."""
    answers: dict[str, Answer] = {}
    for group, by_label in counts.items():
        given = [label for label, n in by_label.items() for _ in range(n)]
        for i, label in enumerate(given):
            answers[f"{group}{(i + offset) % len(given)}"] = label
    return answers


def get(measures: Sequence[Measure], name: str, **where: str) -> Measure:
    """The one record of that name and slice."""
    found = [m for m in measures if m.measure == name and dict(m.slice) == where]
    assert len(found) == 1, f"{len(found)} records of {name} {where}"
    return found[0]
