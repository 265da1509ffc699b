"""Judging: from responses to measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import polars as pl

from veridical.items import Response, Suite
from veridical.judge.answering import Answering, answerings
from veridical.judge.baselines import baseline_answerings
from veridical.judge.estimate import JudgeSettings, estimate
from veridical.judge.frame import frame_of
from veridical.judge.measure import Measure
from veridical.judge.registry import measure_set
from veridical.judge.repeats import over_repeats
from veridical.judge.table import table_of


def judge(
    suite: Suite,
    responses: pl.DataFrame | Iterable[Response],
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    by: Sequence[str] = (),
    bases: Mapping[str, str] | None = None,
) -> list[Measure]:
    """Every measure of the suite's measure set for every answering among responses.

    `suite` holds the items that were asked, all of them: they are the denominators, and one without a response
    counts as not answered (status `missing`). `responses` are `Response` records, or a frame with the columns
    of `veridical.judge.frame.SCHEMA`; they may be of any number of models, prompts, inputs, modes and answerers, and
    those to other suites are left aside. `by` names item factors by which accuracy is to be given too. `bases` says
    which model a model was fine-tuned from. A measure that does not apply has no record.
    The same arguments give the same records, and a record does not depend on what else is judged.

    Raises UserError where the suite names an unknown measure set or the responses are not the suite's.
    """
    frame = responses if isinstance(responses, pl.DataFrame) else frame_of(responses)
    table, settings = table_of(suite), JudgeSettings(level, draws, seed, bases or {})
    return [*_judged(suite, answerings(table, frame), settings, by), *over_repeats(table, frame, settings)]


def judge_baselines(
    suite: Suite, *, level: float = 0.95, draws: int = 10_000, seed: int = 0, by: Sequence[str] = ()
) -> list[Measure]:
    """`judge` of the suite's `baseline_frame`, without making it: five answers to every item take room.

    Items of whose choices nothing is known are left out: what a constant answer would get there cannot be said.
    """
    table = table_of(suite)
    if table.unknown.any():
        suite = suite.narrowed({item for item, unknown in zip(table.index, table.unknown, strict=True) if not unknown})
        table = table_of(suite)
    return _judged(suite, baseline_answerings(table), JudgeSettings(level, draws, seed), by)


def _judged(suite: Suite, answers: Iterable[Answering], settings: JudgeSettings, by: Sequence[str]) -> list[Measure]:
    measures = measure_set(suite.measures)
    found: list[Measure] = []
    for answering in answers:
        found.extend(estimate(quantity, settings) for quantity in measures.quantities(answering, by))
        found.extend(measures.records(answering, settings))
    return found
