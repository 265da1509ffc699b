"""Suites of published files and of rows changed by hand, and answers put into them, for the tests of benchmarks."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from tests.suites.commonsense.asking import PUBLISHED
from veridical.items import Factor, Item, Response, Suite
from veridical.judge.frame import frame_of
from veridical.judge.judgement import judge
from veridical.judge.measure import Measure
from veridical.status import Status
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.build import Built
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy

REAL = Path(__file__).parents[4] / "shared" / "data"
"""Public data beside the checkout; tests that read it are skipped where it is not there."""


def published(task: str, folder: str | None = None) -> Built:
    """The suite of our small files in the published form."""
    return benchmark(TASKS[task], Copy(folder=PUBLISHED / (folder or task)))


def of_file(task: str, path: Path) -> Built:
    return benchmark(TASKS[task], Copy(file=path))


def named(suite: Suite) -> dict[str, Item]:
    """Items by the name that the source gave them."""
    return {item.name: item for item in suite.items}


def gold_text(item: Item) -> set[str]:
    """The continuations of the gold choices."""
    return {choice.continuation for choice in item.choices if choice.label in item.gold}


def write_csv(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def judged(suite: Suite, says: Callable[[Item], str | Mapping[str, float]]) -> Callable[..., Measure]:
    """The measures of a model that answers with a label, or scores labels, as a function of name and slice."""
    responses = [_response(suite, item, says(item)) for item in suite.items]
    measures = judge(suite, _with_lengths(suite, frame_of(responses)), draws=200)

    def find(measure: str, **where: Factor) -> Measure:
        found = [m for m in measures if m.measure == measure and dict(m.slice) == where]
        assert len(found) == 1, (measure, where, [(m.measure, dict(m.slice)) for m in measures])
        return found[0]

    return find


def _with_lengths(suite: Suite, frame: pl.DataFrame) -> pl.DataFrame:
    """The frame with the lengths of the choices in characters and bytes, and a token a word."""
    texts = [[choice.continuation for choice in suite.by_id[item].choices] for item in frame["item"]]
    return frame.with_columns(
        tokens=pl.Series([[len(text.split()) for text in row] for row in texts], dtype=pl.List(pl.Int64())),
        chars=pl.Series([[len(text) for text in row] for row in texts], dtype=pl.List(pl.Int64())),
        bytes=pl.Series([[len(text.encode()) for text in row] for row in texts], dtype=pl.List(pl.Int64())),
    )


def _response(suite: Suite, item: Item, answer: str | Mapping[str, float]) -> Response:
    scores = answer if not isinstance(answer, str) else {label: -1.0 - (label != answer) for label in item.labels}
    best = max(scores, key=lambda label: scores[label])
    return Response(
        suite=suite.name,
        item=item.id,
        model="planted",
        prompt=suite.prompts[0].name,
        mode="loglikelihood",
        status=Status.OK,
        label=best,
        scores={label: scores[label] for label in item.labels},
    )
