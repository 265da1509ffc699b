"""Judging takes no time that anyone would notice; limits are several times what it takes on two slow cores."""

from __future__ import annotations

from time import perf_counter

import numpy as np
import polars as pl

from veridical.items import Item
from veridical.judge import contrasts, judge
from veridical.judge.frame import LENGTHS, SCHEMA

from .judging import LABELS, frame, item, paradox, suite


def test_a_suite_of_550_items_answered_8_times_takes_seconds() -> None:
    asked = paradox(110, 110, completed=True)
    source = np.random.default_rng(0)
    frames = []
    for model in range(4):
        for prompt in ("zero-shot", "dap"):
            scores = {one.name: source.normal(size=3).tolist() for one in asked.items}
            answers = {name: LABELS[int(np.argmax(values))] for name, values in scores.items()}
            mass = {name: float(source.random()) for name in scores}
            frames.append(frame(asked, answers, model=f"m{model}", prompt=prompt, scores=scores, label_mass=mass))
    responses = pl.concat(frames)
    assert len(responses) == 8 * 550
    start = perf_counter()
    judge(asked, responses)
    middle = perf_counter()
    contrasts(asked, responses)
    end = perf_counter()
    assert middle - start < 10
    assert end - middle < 20


def test_accuracy_of_100_000_items_takes_seconds() -> None:
    n = 100_000
    base = item("0")
    # items made without validation one by one: making them is not what is timed
    items = [Item.model_construct(**{**base.__dict__, "fields": {"text": str(i)}, "name": str(i)}) for i in range(n)]
    asked = suite([base]).model_copy(update={"items": tuple(items)})
    ids = [one.id for one in items]
    given = np.array(LABELS)[np.random.default_rng(0).integers(3, size=n)]
    responses = pl.DataFrame(
        {"item": ids, "label": given, "suite": "small", "model": "m", "answerer": "model", "input": "full"}
        | {"prompt": "p", "mode": "generate", "order": 0, "repeat": 0, "status": "ok"}
        | dict.fromkeys(("labels", "scores", *LENGTHS, "label_mass", "margin", "text", "detail")),
        schema=SCHEMA,
    )
    start = perf_counter()
    measures = judge(asked, responses)
    assert perf_counter() - start < 15
    assert abs(measures[0].value - 1 / 3) < 0.01
