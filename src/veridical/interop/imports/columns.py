"""Lists as columns of a frame, made from flat values.

Polars makes a series of each list, which takes ten times as long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from veridical.interop.imports.answer import Answer
from veridical.runs.imported import IMPORTED_RESPONSES


def score_column(answers: list[Answer]) -> pl.Series:
    """The scores of the choices, made by column: a hundred thousand rows of structs would take Python seconds."""
    totals = [score for answer in answers for score in answer.scores]
    texts = pl.Series([text for answer in answers for text in _parallel(answer.lengths, answer)], dtype=pl.String())
    alone = [value for answer in answers for value in _parallel(answer.unconditional, answer)]
    long = pl.DataFrame(
        {
            "total": pl.Series(totals, dtype=pl.Float64()),
            "n_tokens": pl.Series([None] * len(totals), dtype=pl.Int64()),
            "n_chars": texts.str.len_chars().cast(pl.Int64()),
            "n_bytes": texts.str.len_bytes().cast(pl.Int64()),
            "unconditional": pl.Series(alone, dtype=pl.Float64()),
            "joined": pl.Series([False] * len(totals), dtype=pl.Boolean()),
        }
    )
    structs = long.to_struct("scores")
    return gathered(structs, [len(answer.scores) for answer in answers]).cast(IMPORTED_RESPONSES["scores"])


def _parallel(values: Sequence[Any], answer: Answer) -> Sequence[Any]:
    """Values in parallel to an answer's scores, None for each where there are none."""
    return values if len(values) == len(answer.scores) else [None] * len(answer.scores)


def list_column(lists: Sequence[Sequence[str]]) -> pl.Series:
    """Lists of texts as a column."""
    flat = pl.Series([text for texts in lists for text in texts], dtype=pl.String())
    return gathered(flat, [len(texts) for texts in lists])


def gathered(flat: pl.Series, lengths: Sequence[int]) -> pl.Series:
    """Consecutive values as lists of these lengths."""
    rows = pl.DataFrame({"row": range(len(lengths)), "n": lengths}, schema={"row": pl.UInt32(), "n": pl.UInt32()})
    owner = rows.select(pl.col("row").repeat_by("n").explode().drop_nulls())["row"]
    found = pl.DataFrame({"row": owner, "value": flat}).group_by("row", maintain_order=True).agg("value")
    return rows.join(found, on="row", how="left", maintain_order="left")["value"].fill_null([])
