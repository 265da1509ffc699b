"""What readouts and their baselines answer, as responses like any model's."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from veridical.judge.frame import SCHEMA
from veridical.stats.units import Ints
from veridical.status import Status

READOUT = "readout"
OPTION_LOGITS = "option_logits"
CATEGORY_OUT = "readout_category_out"
BEST_LAYER = "readout_best_layer"
TEXT_BASELINES = ("text_words", "text_characters")
MODE = "readout"

ANSWERERS = {
    READOUT: "linear readout of the hidden state of the last prompt token",
    CATEGORY_OUT: "the readout, fitted without the category that it answers",
    BEST_LAYER: "the readout at the layer chosen on the fitted set",
    OPTION_LOGITS: "linear classifier on the scores of the options",
    "text_words": "linear classifier on word TF-IDF of the question",
    "text_characters": "linear classifier on character TF-IDF of the question",
}
"""Answerer to what it is."""


def responses(
    suite: str,
    model: str,
    prompt: str,
    answerer: str,
    input: str,
    items: Sequence[str],
    names: Sequence[str],
    codes: Ints,
) -> pl.DataFrame:
    """Answers (codes into `names`, one an item) in the columns of `veridical.judge.frame.SCHEMA`."""
    columns = {
        "suite": suite,
        "model": model,
        "answerer": answerer,
        "input": input,
        "prompt": prompt,
        "mode": MODE,
        "order": 0,
        "repeat": 0,
        "status": Status.OK.value,
    }
    frame = pl.DataFrame({"item": list(items), "label": [names[code] for code in codes.tolist()]})
    return frame.select(
        (pl.col(name) if name in frame.columns else pl.lit(columns.get(name))).cast(kind).alias(name)
        for name, kind in SCHEMA.items()
    )
