"""The frame of responses: what every measure reads, whoever answered.

One row is one response. `scores` and `labels` run in parallel over the item's choices in the suite's order,
not in the order in which the prompt named them; `scores` holds summed log-likelihoods and is null where
nothing was scored. `label` is set exactly where `status` is `ok`.
"""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from veridical.items import Response

KEY = ("suite", "model", "answerer", "input", "prompt", "mode")
"""What distinguishes one answering of a suite from another; `order` and `repeat` vary within."""

SCHEMA = pl.Schema(
    {
        "suite": pl.String(),
        "model": pl.String(),
        "answerer": pl.String(),
        "input": pl.String(),
        "prompt": pl.String(),
        "mode": pl.String(),
        "order": pl.Int64(),
        "repeat": pl.Int64(),
        "item": pl.String(),
        "status": pl.String(),
        "label": pl.String(),
        "labels": pl.List(pl.String()),
        "scores": pl.List(pl.Float64()),
        "tokens": pl.List(pl.Int64()),
        "chars": pl.List(pl.Int64()),
        "bytes": pl.List(pl.Int64()),
        "unconditional": pl.List(pl.Float64()),
        "label_mass": pl.Float64(),
        "margin": pl.Float64(),
        "text": pl.String(),
        "detail": pl.String(),
    }
)
"""`tokens`, `chars` and `bytes` are the lengths of the choices and `unconditional` their scores without a context, in
parallel to `scores`, null where they are not known. `label_mass` is the probability the model gives to the choices
together; `margin` the difference in log-likelihood between the best and the second choice (near ties are small
ones)."""

LENGTHS = ("tokens", "chars", "bytes", "unconditional")
"""What other normalisations of `scores` need."""


def frame_of(responses: Iterable[Response]) -> pl.DataFrame:
    """Responses as a frame, for answers that did not come from a run of Veridical."""
    rows = [
        {
            **response.model_dump(mode="json", exclude={"scores"}),
            "labels": list(response.scores),
            "scores": list(response.scores.values()) or None,
        }
        for response in responses
    ]
    return pl.DataFrame(rows, schema=SCHEMA)
