"""One model loaded twice and asked the same sample: what a dtype does to the labels."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from veridical.items import FULL
from veridical.judge.agreement import agreement
from veridical.judge.answering import answerings
from veridical.judge.answers import read_scores
from veridical.judge.estimate import JudgeSettings
from veridical.judge.frame import SCHEMA
from veridical.judge.measure import Measure
from veridical.judge.table import SuiteTable
from veridical.models.protocol import GenerationSettings, LanguageModel
from veridical.progress import Progress
from veridical.runs.job import prepare
from veridical.runs.load import NEAR_TIE
from veridical.runs.plan import AskOptions, Plan, plan
from veridical.runs.store import ASK
from veridical.status import Status
from veridical.suites.registry import load

SUITE, PROMPT = "imperfective", "zero-shot"
N_SETS = 30


@dataclass(frozen=True, slots=True)
class DtypeAgreement:
    """The share of items with the same label, and on how many items each side's two best choices nearly tie.

    Items that are too long for the model are left aside and counted; `measure` is None where that is all of them.
    """

    measure: Measure | None
    near_ties: tuple[int, int]
    n_too_long: int = 0


def sample() -> Plan:
    """`N_SETS` sets of the imperfective suite, each item to be asked once by log-likelihood."""
    return plan(load(SUITE), AskOptions(prompts=(PROMPT,), inputs=(FULL,), limit=N_SETS, orders=1))


def answers(model: LanguageModel, asked: Plan, name: str, progress: Progress) -> pl.DataFrame:
    """What the model chooses, in the columns of `veridical.judge.frame.SCHEMA`, under the name given."""
    prepared = prepare(model, [asked], asked.asks, GenerationSettings())
    rows: list[dict[str, object]] = []
    with progress.steps(f"asking {name}", len(prepared)) as step:
        for position, outcome in model.answer([request for _, request, _ in prepared]):
            ask = prepared[position][0]
            row: dict[str, object] = {"model": name, "answerer": "model", "status": outcome.status.value}
            row |= {part: getattr(ask, part) for part in ASK}
            if outcome.scores:
                labels = asked.suite.by_id[ask.item].labels
                reading = read_scores(labels, outcome.scores, asked.suite.normalisation)
                row |= {"status": reading.status.value, "label": reading.label, "margin": reading.margin}
            rows.append(row)
            step()
    return pl.DataFrame(rows, schema=SCHEMA)


def compare(asked: Plan, one: pl.DataFrame, other: pl.DataFrame, *, seed: int = 0) -> DtypeAgreement:
    """How far two frames of answers to one plan, under two names, agree."""
    near = [frame.filter(pl.col("margin") < NEAR_TIE).height for frame in (one, other)]
    both = pl.concat([one, other])
    too_long = set(both.filter(pl.col("status") == Status.TOO_LONG.value)["item"])
    items = {ask.item for ask in asked.asks} - too_long
    if not items:
        return DtypeAgreement(None, (near[0], near[1]), len(too_long))
    suite = asked.suite.narrowed(items)
    first, second = answerings(SuiteTable(suite), both)
    measure = agreement(first, second, JudgeSettings(seed=seed))
    return DtypeAgreement(measure, (near[0], near[1]), len(too_long))
