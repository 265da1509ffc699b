"""The answers of a run in the columns that measures read, made by column: a run may hold millions.

What is computed here of scores is what `veridical.judge.answers.read_scores` computes of one question.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import polars as pl

from veridical.items import FULL, Suite
from veridical.judge.answers import NO_UNCONDITIONAL, TIE, Reading, read_text
from veridical.judge.frame import SCHEMA
from veridical.models.protocol import THINKING_OPEN, FinishReason
from veridical.runs.plan import MODES
from veridical.status import Status

NO_ANSWER = "no answer is stored: the run was stopped early, or the model failed"

SLICE = 100_000
"""Rows that are read together: what is computed on the way takes several times the memory of what is kept."""

_RANKS = ("_prompt", "_mode", "_input")
_LENGTHS = {"tokens": "n_tokens", "chars": "n_chars", "bytes": "n_bytes", "unconditional": "unconditional"}


def answered_frame(name: str, asks: pl.DataFrame, responses: pl.DataFrame, suites: Mapping[str, Suite]) -> pl.DataFrame:
    """One row an ask, in the columns of `veridical.judge.frame.SCHEMA`; an ask without an answer is an `error`.

    `asks` and `responses` are those of `veridical.runs.store`. The order of rows does not depend on the calls that
    asked them: prompts, modes and inputs as the suite lists them, items by their ids.
    """
    rows = responses.select("key").with_row_index("row")
    asked = asks.drop("joined", "labels").join(rows, on="key", how="left", maintain_order="left").drop("key")
    answers = responses.drop("key")
    named = [suites[suite] for suite in sorted(set(asks["suite"]))]
    parts = (part for suite in named for part in _of_suite(name, suite, asked.filter(suite=suite.name), answers))
    return pl.concat([pl.DataFrame(schema=SCHEMA), *parts])


def _of_suite(name: str, suite: Suite, asked: pl.DataFrame, answers: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The rows of one suite in slices; `row` of an ask is that of its answer."""
    labels = {item.id: list(item.labels) for item in suite.items}
    known = pl.DataFrame(
        {"item": list(labels), "labels": list(labels.values())},
        schema={"item": pl.String(), "labels": pl.List(pl.String())},
    )
    inputs = [FULL, *(input for input in suite.inputs if input != FULL)]
    ranks = (_rank("prompt", [prompt.name for prompt in suite.prompts]), _rank("mode", MODES), _rank("input", inputs))
    columns = [pl.col(column).cast(kind) for column, kind in SCHEMA.items()]
    for part in asked.with_columns(*ranks).sort(*_RANKS, "item", "order", "repeat").iter_slices(SLICE):
        rows = part.hstack(answers.select(pl.all().gather(part["row"])))
        rows = rows.join(known, on="item", how="left", maintain_order="left").with_columns(
            model=pl.lit(name), answerer=pl.lit("model"), came=pl.col("status")
        )
        yield _read_texts(_scored(rows.lazy(), suite.normalisation).collect()).select(columns)


def _rank(column: str, names: Sequence[str]) -> pl.Expr:
    """Where each value stands among names, from 0; -1 where it does not."""
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    ranks = pl.col(column).replace_strict(places, default=-1, return_dtype=pl.Int64) if places else pl.lit(-1)
    return ranks.alias(f"_{column}")


def _scored(rows: pl.LazyFrame, normalisation: str) -> pl.LazyFrame:
    """The rows with what their scores say; those that hold a text keep the status that came."""
    is_scored = (pl.col("came") == Status.OK.value) & (pl.col("mode") != "generate")
    n_scores, n_labels = pl.col("scores").list.len(), pl.col("labels").list.len()
    rows = rows.with_columns(
        _values=pl.when(pl.col("mode") == "classify")
        .then(_each(pl.element().struct.field("total")))
        .otherwise(_each(_normalised(normalisation))),
        _totals=_each(pl.element().struct.field("total")),
        **{f"_{column}": _each(pl.element().struct.field(part)) for column, part in _LENGTHS.items()},
    )
    lacks = (pl.col("mode") != "classify") & (pl.lit(normalisation == "unconditional"))
    ranked = pl.col("_values").list.sort(descending=True, nulls_last=True)
    fault = (
        pl.when((n_scores != n_labels) | (n_labels == 0))
        .then(pl.format("{} scores for {} labels", n_scores, n_labels))
        .when(_any_zero("_tokens", "_chars", "_bytes"))
        .then(None)
        .when(lacks & (pl.col("_unconditional").list.drop_nulls().list.len() < n_scores))
        .then(pl.lit(NO_UNCONDITIONAL))
    )
    rows = rows.with_columns(
        _fault=pl.when(is_scored).then(fault),
        margin=pl.when(n_scores > 1).then(ranked.list.get(0, null_on_oob=True) - ranked.list.get(1, null_on_oob=True)),
    )
    finite = pl.concat_list("_values", "_totals").list.eval(pl.element().is_finite().fill_null(False)).list.all()
    status = (
        pl.when(pl.col("came").is_null() | pl.col("_fault").is_not_null())
        .then(pl.lit(Status.ERROR.value))
        .when(~is_scored)
        .then("came")
        .when(_any_zero("_tokens", "_chars", "_bytes"))
        .then(pl.lit(Status.EMPTY.value))
        .when(~finite)
        .then(pl.lit(Status.NON_FINITE.value))
        .when(pl.col("margin") <= TIE)
        .then(pl.lit(Status.TIED.value))
        .otherwise(pl.lit(Status.OK.value))
    )
    rows = rows.with_columns(status=status)
    usable = is_scored & pl.col("status").is_in([Status.OK.value, Status.TIED.value])
    best = pl.col("labels").list.get(pl.col("_values").list.arg_max(), null_on_oob=True)
    mass = pl.col("_totals").list.eval(pl.element().clip(upper_bound=0.0).exp()).list.sum()
    whole = pl.col("_unconditional").list.drop_nulls().list.len() == n_scores
    return rows.with_columns(
        label=pl.when(usable & (pl.col("status") == Status.OK.value)).then(best),
        margin=pl.when(usable).then("margin"),
        label_mass=pl.when(usable).then(mass),
        scores=pl.when(usable).then("_totals"),
        tokens=pl.when(usable).then("_tokens"),
        chars=pl.when(usable).then("_chars"),
        bytes=pl.when(usable).then("_bytes"),
        unconditional=pl.when(usable & whole).then("_unconditional"),
        detail=pl.when(pl.col("came").is_null()).then(pl.lit(NO_ANSWER)).otherwise(pl.coalesce("_fault", "detail")),
        item_labels=pl.col("labels"),
        labels=pl.when(usable).then("labels"),
    )


def _each(value: pl.Expr) -> pl.Expr:
    """A value of every choice's score."""
    return pl.col("scores").list.eval(value)


def _normalised(normalisation: str) -> pl.Expr:
    total = pl.element().struct.field("total")
    match normalisation:
        case "token" | "char" | "byte":
            return total / pl.element().struct.field(f"n_{normalisation}s")
        case "unconditional":
            return total - pl.element().struct.field("unconditional")
        case _:
            return total


def _any_zero(*columns: str) -> pl.Expr:
    return pl.any_horizontal(pl.col(column).list.min().fill_null(1) == 0 for column in columns)


def _read_texts(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with what texts say, where a text was written: a reply that was cut off is read as well."""
    written = (pl.col("came") == Status.TRUNCATED.value) | (
        (pl.col("came") == Status.OK.value) & (pl.col("mode") == "generate")
    )
    places = rows.select(written.fill_null(False).arg_true()).to_series()
    if places.is_empty():
        return rows
    found: list[dict[str, Any]] = []
    texts = rows[places].select("item_labels", "text", "finish", "notes", "detail")
    for labels, text, finish, notes, detail in texts.iter_rows():
        reading = _read(tuple(labels), text, finish, THINKING_OPEN in (notes or ()))
        found.append({"status": reading.status.value, "label": reading.label, "detail": reading.detail or detail or ""})
    read = pl.DataFrame(found, schema={"status": pl.String(), "label": pl.String(), "detail": pl.String()})
    return rows.with_columns(rows[column].scatter(places, read[column]) for column in read.columns)


@lru_cache(maxsize=100_000)
def _read(labels: tuple[str, ...], text: str | None, finish: FinishReason, thinking_open: bool) -> Reading:
    """As `read_text`: many replies are a label alone, and are equal."""
    return read_text(labels, text, finish, thinking_open=thinking_open)
