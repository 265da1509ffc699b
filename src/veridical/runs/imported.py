"""A run that another harness made: where it came from, and its answers as the frame that measures read.

In addition to the files of every run such a folder has `scores.parquet`: the score that the harness itself gave to each
answer. Where an item has no choices, that score is the answer: its labels are `correct` and `incorrect`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from veridical.items import Suite
from veridical.judge.answers import TIE
from veridical.judge.frame import SCHEMA
from veridical.runs.parts import read_table, read_tables
from veridical.runs.provenance import ANSWERS, LIKELIHOODS, HarnessTask, Imported
from veridical.runs.store import REQUESTS, RESPONSES
from veridical.status import Status

ABOVE_ZERO = 1e-3
"""Nats by which rounding may lift a log-likelihood above 0. Our choice: half precision rounds so."""

CORRECT, INCORRECT = "correct", "incorrect"
"""The labels of an item of which is known only how the harness graded the answer."""

SCORES_NAME = "scores.parquet"
SCORES = pl.Schema(
    {
        "suite": pl.String(),
        "item": pl.String(),
        "prompt": pl.String(),
        "repeat": pl.Int64(),
        "metric": pl.String(),
        "value": pl.Float64(),
        "json": pl.String(),
    }
)
"""One row a score that the harness gave: `value` where it is a finite number, `json` where it is anything else."""

IMPORTED_REQUESTS = pl.Schema({**REQUESTS, "contexts": pl.List(pl.String())})
"""`contexts` are the texts that were put to the model, one for all choices or one a choice, where the log has them."""

IMPORTED_RESPONSES = pl.Schema({**RESPONSES, "label": pl.String()})
"""`label` is the answer as the harness read it from a text."""


def imported_frame(
    folder: Path, name: str, asks: pl.DataFrame, imported: Imported, suites: Mapping[str, Suite]
) -> pl.DataFrame:
    """The answers in the columns of `veridical.judge.frame.SCHEMA`, by column. `asks` are those of `read_asks`."""
    tasks = {task.suite: task for task in imported.tasks}
    answers = read_tables(folder, "responses", IMPORTED_RESPONSES)
    joined = _side_by_side(asks.drop("notes", "joined"), answers).lazy()
    del answers
    parts = [pl.DataFrame(schema=SCHEMA)]
    for suite in suites:
        own = joined.filter(suite=suite)
        task = tasks[suite]
        if task.judged_by in (LIKELIHOODS, ANSWERS):
            rows = _chosen(own, with_mass=task.label_mass)
        else:
            rows = _graded(own, _harness_scores(folder, suite, task.judged_by), task)
        parts.append(_in_schema(rows, name))
    return pl.concat(parts)


def _side_by_side(asks: pl.DataFrame, answers: pl.DataFrame) -> pl.DataFrame:
    """Asks with their answers. Both were written together, in one order: no copy of either has to be made."""
    if asks["key"].equals(answers["key"]):
        return asks.hstack(answers.drop("key"))
    return asks.join(answers, on="key", how="left", maintain_order="left")


def read_harness_scores(folder: Path) -> pl.DataFrame:
    """Every score that the harness gave, in the columns of `SCORES`."""
    return read_table(folder, SCORES_NAME, SCORES)


def _harness_scores(folder: Path, suite: str, metric: str) -> pl.DataFrame:
    scores = read_harness_scores(folder).filter(suite=suite, metric=metric)
    return scores.select("item", "prompt", "repeat", grade="value", other="json")


def _graded(rows: pl.LazyFrame, grades: pl.DataFrame, task: HarnessTask) -> pl.LazyFrame:
    """Right or wrong as the harness's score says; what is neither is not ok."""
    if task.readings:
        rows = rows.filter(pl.col("prompt").is_in(list(task.readings)))
    graded = rows.join(grades.lazy(), on=["item", "prompt", "repeat"], how="left", maintain_order="left")
    was_ok = pl.col("status") == Status.OK.value
    known = was_ok & pl.col("grade").is_in([0.0, 1.0])
    right = pl.col("grade") == (0 if task.inverted else 1)
    status = (
        pl.when(known | ~was_ok)
        .then("status")
        .when(pl.col("grade").is_between(0, 1))
        .then(pl.lit(Status.AMBIGUOUS.value))
        .when(pl.col("other").is_in(_NOT_FINITE))
        .then(pl.lit(Status.NON_FINITE.value))
        .otherwise(pl.lit(Status.UNPARSED.value))
    )
    return graded.with_columns(
        status=status,
        label=pl.when(known & right).then(pl.lit(CORRECT)).when(known).then(pl.lit(INCORRECT)),
        labels=pl.lit(None),
        scores=pl.lit(None),
    )


_NOT_FINITE = ("NaN", "nan", "Infinity", "-Infinity", "inf", "-inf")


def _chosen(rows: pl.LazyFrame, *, with_mass: bool) -> pl.LazyFrame:
    """The choice with the greatest log-likelihood, or the label that the harness read from a text.

    Probabilities of choices add up to a mass `with_mass` alone, and only where every score of the suite is a
    log-likelihood of some text: one above 0 is of a density, or was rescaled.
    """
    totals = pl.col("scores").list.eval(pl.element().struct.field("total"))
    read = rows.with_columns(totals=totals, text_label=pl.col("label")).with_columns(
        best=pl.col("totals").list.max(),
        second=pl.col("totals").list.sort(descending=True).list.get(1, null_on_oob=True),
        scored=pl.col("totals").list.len() > 0,
    )
    margin = pl.when(pl.col("totals").list.len() > 1).then(pl.col("best") - pl.col("second"))
    ok = pl.col("status") == Status.OK.value
    read = read.with_columns(margin=pl.when(ok & pl.col("scored")).then(margin))
    below_zero = pl.when(ok & pl.col("scored")).then("best").max() <= ABOVE_ZERO
    tied = ok & pl.col("scored") & (pl.col("margin") <= TIE)
    best_label = pl.col("labels").list.get(pl.col("totals").list.arg_max(), null_on_oob=True)
    unread = ok & ~pl.col("scored") & pl.col("text_label").is_null()  # its choices, or what was said, are not known
    read = read.with_columns(
        status=pl.when(tied)
        .then(pl.lit(Status.TIED.value))
        .when(unread)
        .then(pl.lit(Status.UNPARSED.value))
        .otherwise("status"),
        label=pl.when(ok & ~tied & pl.col("scored")).then(best_label).when(ok & ~pl.col("scored")).then("text_label"),
        label_mass=pl.when(ok & pl.col("scored") & pl.lit(with_mass) & below_zero).then(
            pl.col("totals").list.eval(pl.element().clip(upper_bound=0.0).exp()).list.sum()
        ),
    )
    # A tie has no label, and its choices have their probabilities all the same.
    usable = pl.col("scored") & pl.col("status").is_in([Status.OK.value, Status.TIED.value])
    # None of the logs says how many tokens a choice has.
    lengths = {"chars": "n_chars", "bytes": "n_bytes", "unconditional": "unconditional"}
    return read.with_columns(
        **{name: pl.when(usable).then(_known(part)) for name, part in lengths.items()},
        labels=pl.when(usable).then("labels"),
        scores=pl.when(usable).then("totals"),
    )


def _known(part: str) -> pl.Expr:
    """A part of every choice's score, null where a choice lacks it."""
    values = pl.col("scores").list.eval(pl.element().struct.field(part))
    return pl.when(values.list.drop_nulls().list.len() == values.list.len()).then(values)


def _in_schema(rows: pl.LazyFrame, model: str) -> pl.DataFrame:
    constant = {"model": pl.lit(model), "answerer": pl.lit("model")}
    there = rows.collect_schema().names()
    constant |= {column: pl.lit(None) for column in SCHEMA if column not in (*there, *constant)}
    return rows.with_columns(**constant).select(pl.col(name).cast(kind) for name, kind in SCHEMA.items()).collect()
