"""The score by which answers are to be judged, as `--metric` names it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from veridical.errors import UserError, unknown
from veridical.interop.imports.answer import Answer
from veridical.interop.imports.grading import PREFERRED
from veridical.runs.provenance import HarnessTask

LOOKED_AT = 2_500
"""Answers among which the score is looked for. Our choice."""


@dataclass(frozen=True)
class WantedMetric:
    """A metric, and the reading (a filter, a scorer) under which it was asked for; under any where that is empty."""

    metric: str
    reading: str = ""


def find_metric(name: str | None, answers: Iterator[Answer]) -> tuple[WantedMetric | None, Iterator[Answer]]:
    """What a name means among the scores of the first answers, None where it means none; and all answers.

    A score is named as notices and tables name it: by its metric (`mean`), with its reading or split
    (`mean (toxicity)`, lm-eval's `acc,none`), or, where a reading has a name of its own, by that (`toxicity`).
    """
    if name is None:
        return None, answers
    first: list[Answer] = []
    found: WantedMetric | None = None
    for answer in answers:
        first.append(answer)
        found = _meaning(name, answer) or found
        if len(first) >= LOOKED_AT or (found is not None and found.metric == name):
            break
    return found, chain(first, answers)


def _meaning(name: str, answer: Answer) -> WantedMetric | None:
    if name in answer.metrics:
        return WantedMetric(name)
    for metric in answer.metrics:
        for part in (answer.reading, answer.part, "none"):
            if part and name in (f"{metric} ({part})", f"{metric},{part}"):
                return WantedMetric(metric, answer.reading)
    if name == answer.reading and answer.metrics:
        return WantedMetric(next((one for one in PREFERRED if one in answer.metrics), min(answer.metrics)), name)
    return None


def check_judged(name: str, where: str, tasks: Sequence[tuple[HarnessTask, WantedMetric | None]]) -> None:
    """Raise UserError where the score called `name` judges none of the tasks; with each stands what it means there."""
    if any(wanted is not None and task.judged_by == wanted.metric for task, wanted in tasks):
        return
    if any(wanted for _, wanted in tasks):
        raise UserError(f"--metric {name}: it is not 0 or 1 for the answers in {where}, so that it grades none")
    known = [one for task, _ in tasks for one in task.metrics if one.n]
    several = len({one.reading for one in known}) > 1
    names = [f"{one.metric} ({one.reading})" if several else one.metric for one in known]
    raise unknown(f"--metric: no score of single answers in {where} is called", name, dict.fromkeys(names))
