"""The same scores read under another normalisation: which choice would have been the answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from veridical.judge.answering import STATUSES, Answering
from veridical.judge.answers import TIE
from veridical.judge.frame import LENGTHS
from veridical.status import Status

DIVISORS: Mapping[str, str] = {"token": "tokens", "char": "chars", "byte": "bytes"}
"""Normalisation to the column of the frame by which the summed log-likelihood is divided."""
NORMALISATIONS = ("sum", *DIVISORS, "unconditional")


def under(answering: Answering, normalisation: str) -> Answering | None:
    """The answering as it is under one of `NORMALISATIONS`; None where what that needs was not stored, or says nothing.

    As `veridical.judge.answers.read_scores` reads each question: choices whose best scores tie are `tied`, scores that
    are not finite `non_finite`. A question that was not scored keeps its status.
    """
    scored = answering.rows.filter(
        pl.col("scores").list.len() > 0,
        pl.col("scores").list.len() == pl.col("labels").list.len(),
        *(pl.col(name).list.len() == pl.col("scores").list.len() for name in LENGTHS[:3]),
    )
    if scored.is_empty() or (normalisation == "unconditional" and not _can_be_corrected(scored)):
        return None
    width = int(scored["scores"].list.len().max())  # type: ignore[arg-type]
    totals = _matrix(scored["scores"], width)
    values = totals
    if normalisation in DIVISORS:
        values = totals / _matrix(scored[DIVISORS[normalisation]], width)
    elif normalisation == "unconditional":
        values = totals - _matrix(scored["unconditional"], width)
    there = np.arange(width) < scored["scores"].list.len().to_numpy()[:, None]
    finite = (np.isfinite(values) & np.isfinite(totals) | ~there).all(axis=1)
    ranked = np.where(there, values, -np.inf)
    best = np.argmax(np.where(np.isnan(ranked), -np.inf, ranked), axis=1)
    tied = np.zeros(len(scored), dtype=bool)
    if width > 1:
        second, first = np.partition(ranked, width - 2, axis=1)[:, -2:].T
        tied = finite & (first - second <= TIE)
    codes = _matrix(
        scored["labels"].list.eval(pl.element().replace_strict(answering.table.code, default=-1)), width, -1
    )
    chosen = codes[np.arange(len(scored)), best].astype(np.int64)
    status = np.where(finite, np.where(tied, _code(Status.TIED), _code(Status.OK)), _code(Status.NON_FINITE))
    positions = scored["position"].to_numpy()
    label, statuses = answering.label.copy(), answering.status.copy()
    label[0, positions] = np.where(status == _code(Status.OK), chosen, -1)
    statuses[0, positions] = status
    return replace(answering, label=label, status=statuses)


def _can_be_corrected(scored: pl.DataFrame) -> bool:
    """Whether every choice was scored after nothing too, and not nothing else (BLiMP's sentences, which stand alone).

    Where only some were, the accuracy would be of two normalisations at once.
    """
    stored = (scored["unconditional"].list.len() == scored["scores"].list.len()).fill_null(False)
    return stored.all() and not scored.filter(pl.col("scores") != pl.col("unconditional")).is_empty()


def _code(status: Status) -> int:
    return STATUSES.index(status.value)


def _matrix(lists: pl.Series, width: int, fill: float = np.nan) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Lists of numbers as rows of one width."""
    lengths = lists.list.len().to_numpy()
    result = np.full((len(lists), width), fill)
    result[np.arange(width) < lengths[:, None]] = lists.explode().to_numpy()
    return result
