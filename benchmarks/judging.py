"""Judging: accuracy with its bootstrap over sets, ours against SciPy's `bootstrap` on the same rows.

    python benchmarks/judging.py

5,000 sets of 4 items, 10,000 draws of whole sets on both sides. Estimates must be equal and interval ends within .005.
Prints how long a suite of 550 items answered 8 times takes to judge and to compare, then the ratio of times.
"""

from __future__ import annotations

import time

import numpy as np
import polars as pl
from harness import report
from scipy.stats import bootstrap

from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.judge import contrasts, judge
from veridical.judge.frame import SCHEMA
from veridical.prompts.template import Prompt

SETS, SIZE, DRAWS = 5_000, 4, 10_000
LABELS = ("True", "False")


def suite_of(n_sets: int, size: int, prompts: int = 1) -> Suite:
    """`n_sets` sets of `size` items; the gold label is True throughout."""
    choices = tuple(Choice(label=label, continuation=label) for label in LABELS)
    items = tuple(Item(fields={"text": str(i)}, choices=choices, gold=("True",)) for i in range(n_sets * size))
    members = tuple(Member(set=str(i // size), item=item.id) for i, item in enumerate(items))
    return Suite(
        name="judged",
        version="1",
        labels=LABELS,
        prompts=tuple(Prompt(name=f"p{i}", user="{{ text }}") for i in range(prompts)),
        items=items,
        groupings=(Grouping(name="set", members=members),),
    )


def answers(suite: Suite, right: np.ndarray, model: str = "m", prompt: str = "p0") -> pl.DataFrame:
    """Responses of which `right` says which are right."""
    given = pl.DataFrame({"item": suite.columns.ids, "label": np.where(right, *LABELS)})
    key = {"suite": suite.name, "model": model, "answerer": "model", "input": "full", "prompt": prompt}
    constants = {**key, "mode": "generate", "order": 0, "repeat": 0, "status": "ok"}
    named = given.with_columns(**{name: pl.lit(value) for name, value in constants.items()})
    empty = {name: pl.lit(None) for name in SCHEMA if name not in named.columns}
    return named.with_columns(**empty).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def main() -> None:
    rng = np.random.default_rng(0)
    suite = suite_of(SETS, SIZE)
    # Sets differ in difficulty, so that the bootstrap over sets is not that over items.
    right = rng.random((SETS, SIZE)) < rng.beta(2, 2, size=(SETS, 1))
    frame = answers(suite, right.ravel())
    start = time.perf_counter()
    ours = next(m for m in judge(suite, frame, draws=DRAWS) if m.measure == "accuracy")
    middle = time.perf_counter()
    theirs = bootstrap(
        (right.mean(axis=1),), np.mean, n_resamples=DRAWS, method="percentile", batch=100, rng=0
    ).confidence_interval
    end = time.perf_counter()
    assert ours.value is not None
    assert abs(ours.value - right.mean()) < 1e-12
    assert ours.low is not None
    assert abs(ours.low - theirs.low) < 0.005
    assert ours.high is not None
    assert abs(ours.high - theirs.high) < 0.005

    small = suite_of(110, 5, prompts=2)
    shape = (len(small.items),)
    frames = [answers(small, rng.random(shape) < 0.6, f"m{m}", f"p{p}") for m in range(4) for p in range(2)]
    whole = pl.concat(frames)
    began = time.perf_counter()
    judge(small, whole)
    judged = time.perf_counter()
    contrasts(small, whole)
    compared = time.perf_counter()
    seconds = {
        "every measure of 20,000 items, seconds": middle - start,
        "SciPy's bootstrap of one mean, seconds": end - middle,
        "550 items answered 8 times, judged, seconds": judged - began,
        "the same compared, seconds": compared - judged,
    }
    shown = {name: round(value, 2) for name, value in seconds.items()}
    report("judging", shown, (end - middle) / (middle - start), "SciPy's seconds for one mean over ours for everything")


if __name__ == "__main__":
    main()
