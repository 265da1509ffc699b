"""A small imperfective suite with planted answers, and the measures that those answers give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.judge import baseline_frame, contrasts, judge
from veridical.judge.frame import SCHEMA
from veridical.judge.measure import Measure
from veridical.prompts.template import Prompt

MODELS = ("smollm2", "hf/example/Larger-1.7B-Instruct")


class Study(NamedTuple):
    suite: Suite
    frame: pl.DataFrame
    measures: Sequence[Measure]


LABELS = ("True", "False", "Unknown")
GOLD = {"A": "False", "B": "True", "C": "Unknown", "D": "True", "completed": "True"}
PROMPTS = ("zero-shot", "dap", "cot", "counterfactual")
TELIC = (
    ("Creation", "build a shed", "was building a shed", "built a shed"),
    ("Change_of_State", "mend a kettle", "was mending a kettle", "mended a kettle"),
    ("Consumption", "eat a pear", "was eating a pear", "ate a pear"),
    ("Motion_to_Goal", "walk to the pier", "was walking to the pier", "walked to the pier"),
)
ATELIC = (("push a cart", "was pushing a cart", "pushed a cart"), ("hum", "was humming", "hummed"))


def make_suite(verbs: int = 20, name: str = "imperfective", title: str = "The imperfective paradox") -> Suite:
    """`verbs` telic and as many atelic verbs: sets of A, C and completed, and of B and D."""
    items: list[Item] = []
    members: list[Member] = []

    def add(verb: str, group: str, verb_class: str, premise: str, hypothesis: str) -> None:
        item = Item(
            fields={"premise": premise, "hypothesis": hypothesis},
            choices=tuple(Choice(label=label, continuation=label) for label in LABELS),
            gold=(GOLD[group],),
            factors={"group": group, "verb_class": verb_class},
        )
        items.append(item)
        members.append(Member(set=verb, item=item.id, role=group))

    for number in range(verbs):
        verb_class, verb, progressive, past = TELIC[number % len(TELIC)]
        verb_set, did = f"{verb} {number}", f"Neighbour {number} {past}."
        start = f"Neighbour {number} {progressive}"
        add(verb_set, "A", verb_class, f"{start} when the storm ended it for good.", did)
        add(verb_set, "C", verb_class, f"{start}.", did)
        add(verb_set, "completed", verb_class, f"{start}, and it was done by dark.", did)
        verb, progressive, past = ATELIC[number % len(ATELIC)]
        verb_set, did = f"{verb} {number}", f"Neighbour {number} {past}."
        start = f"Neighbour {number} {progressive}"
        add(verb_set, "B", "Activity", f"{start} until the storm came up.", did)
        add(verb_set, "D", "Activity", f"{start}.", did)
    return Suite(
        name=name,
        version="1.0.0",
        title=title,
        labels=LABELS,
        measures="imperfective",
        prompts=tuple(Prompt(name=prompt, user="{{ premise }} {{ hypothesis }}") for prompt in PROMPTS),
        groupings=(Grouping(name="verb", members=tuple(members)),),
        items=tuple(items),
    )


Chances = Mapping[str, Sequence[float]]
"""Probabilities of True, False and Unknown by group."""


def planted(bias: float, caution: float) -> Chances:
    """A model that completes the story with chance `bias` and says Unknown too often with chance `caution`."""
    return {
        "A": (bias * 0.5, 1 - bias * 0.5 - caution / 2, caution / 2),
        "B": (1 - caution, 0.0, caution),
        "C": (bias, 0.02, 0.98 - bias),
        "D": (1 - caution, 0.0, caution),
        "completed": (1 - caution / 2, 0.0, caution / 2),
    }


def answer(
    suite: Suite, key: Mapping[str, str], chances: Chances, seed: int, *, failing: float = 0.0
) -> list[dict[str, Any]]:
    """A frame row for every item, drawn from `chances`; a share `failing` has no answer."""
    generator = np.random.default_rng(seed)
    rows = []
    for item in suite.items:
        p = np.asarray(chances[str(item.factors["group"])], dtype=float).clip(1e-3)
        p = p / p.sum()
        label: str | None = LABELS[int(generator.choice(3, p=p))]
        status = "ok"
        if generator.random() < failing:
            label, status = None, "unparsed"
        scores = np.log(p) + generator.normal(0, 0.1, 3) - 1
        if label is not None:
            scores[LABELS.index(label)] = scores.max() + 0.3
        generated = key.get("mode") == "generate"
        rows.append(
            {
                "suite": suite.name, "answerer": "model", "input": "full", "mode": "loglikelihood", **key,
                "order": 0, "repeat": 0, "item": item.id, "status": status, "label": label,
                "labels": list(LABELS), "scores": None if generated else scores.tolist(),
                "label_mass": None if generated else 0.5, "margin": None,
                "text": f'{{"reasoning": "It may have ended early.", "label": "{label}"}}' if generated else None,
                "detail": None if status == "ok" else "no label in the text",
            }
        )  # fmt: skip
    return rows


def frame_of(rows: Iterable[dict[str, Any]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), schema=SCHEMA)


def measures_of(suite: Suite, frame: pl.DataFrame) -> list[Measure]:
    return [*judge(suite, frame, draws=200), *contrasts(suite, frame, draws=200)]


def make_frame(suite: Suite, models: Sequence[str]) -> pl.DataFrame:
    """Every prompt of every model, later models better; a hypothesis-only input; the constant answerers."""
    rows: list[dict[str, Any]] = []
    strength = {"zero-shot": (0.95, 0.02), "dap": (0.6, 0.05), "cot": (0.4, 0.3), "counterfactual": (0.05, 0.9)}
    for place, model in enumerate(models):
        for mode in ("loglikelihood", "generate"):
            for number, (prompt, (bias, caution)) in enumerate(strength.items()):
                if mode == "loglikelihood" and prompt in ("cot", "counterfactual"):
                    continue
                chances = planted(max(0.02, bias - 0.3 * place), caution)
                failing = 0.04 if prompt == "cot" else 0
                key = {"model": model, "prompt": prompt, "mode": mode}
                seed = place * 10 + number + 5 * (mode == "generate")
                rows += answer(suite, key, chances, seed, failing=failing)
        blind = dict.fromkeys(GOLD, (0.5, 0.2, 0.3))
        key = {"model": model, "prompt": "zero-shot", "input": "hypothesis_only"}
        rows += answer(suite, key, blind, seed=place + 99)
    return pl.concat([frame_of(rows), baseline_frame(suite)])
