"""Answers as the frames that a run folder holds: requests, responses and the harness's own scores."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from veridical.interop.imports.answer import Answer, as_text, number
from veridical.interop.imports.columns import list_column, score_column
from veridical.items import FULL, Mode
from veridical.runs.imported import IMPORTED_REQUESTS, IMPORTED_RESPONSES, SCORES

Row = tuple[str, str, Answer, list[str]]
"""Key, item, answer and the labels of the item's choices."""


def request_frame(suite: str, rows: Sequence[Row]) -> pl.DataFrame:
    """The answers as the run's requests; `contexts` are what was put to the model."""
    return pl.DataFrame(
        {
            "key": [key for key, *_ in rows],
            "suite": suite,
            "item": [item for _, item, *_ in rows],
            "input": FULL,
            "prompt": [answer.reading for _, _, answer, _ in rows],
            "order": 0,
            "mode": [_mode(answer) for _, _, answer, _ in rows],
            "repeat": [answer.repeat for _, _, answer, _ in rows],
            "labels": list_column([labels for *_, labels in rows]),
            "notes": list_column([[]] * len(rows)),
            "joined": False,
            "sequences": None,
            "unconditional": None,
            "max_new_tokens": None,
            "messages": None,
            "continuations": None,
            "contexts": list_column([answer.contexts for _, _, answer, _ in rows]),
        },
        schema=IMPORTED_REQUESTS,
    )


def response_frame(rows: Sequence[Row]) -> pl.DataFrame:
    """The answers as the run's responses."""
    answers = [answer for _, _, answer, _ in rows]
    frame = pl.DataFrame(
        {
            "key": [key for key, *_ in rows],
            "status": [answer.status.value for answer in answers],
            "text": [answer.text for answer in answers],
            "n_tokens": None,
            "finish": "stop",
            "detail": [answer.detail for answer in answers],
            "label": [answer.label for answer in answers],
        },
        schema={name: kind for name, kind in IMPORTED_RESPONSES.items() if name != "scores"},
    )
    return frame.with_columns(scores=score_column(answers)).select(list(IMPORTED_RESPONSES))


def own_scores(suite: str, rows: Sequence[Row]) -> pl.DataFrame:
    """The harness's own scores of the answers, one a row."""
    held = [(item, answer) for _, item, answer, _ in rows for _ in answer.metrics]
    values = [_score(value) for _, _, answer, _ in rows for value in answer.metrics.values()]
    return pl.DataFrame(
        {
            "suite": suite,
            "item": [item for item, _ in held],
            "prompt": [answer.reading for _, answer in held],
            "repeat": [answer.repeat for _, answer in held],
            "metric": [metric for _, _, answer, _ in rows for metric in answer.metrics],
            "value": [value for value, _ in values],
            "json": [text for _, text in values],
        },
        schema=SCORES,
    )


def _mode(answer: Answer) -> Mode:
    return "loglikelihood" if answer.text is None else "generate"


def _score(value: object) -> tuple[float | None, str | None]:
    found = number(value)
    if found is None or found != found or found in (float("inf"), float("-inf")):
        return None, as_text(value)
    return found, None
