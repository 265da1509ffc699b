"""Answers made into a frame by column say what is said of each question alone."""

from __future__ import annotations

import math
import random
from typing import Any

import polars as pl
import pytest

from veridical.items import Choice, Item, Suite
from veridical.judge.answers import read_scores, read_text
from veridical.judge.frame import SCHEMA
from veridical.models.protocol import THINKING_OPEN, ChoiceScore
from veridical.prompts.template import Prompt
from veridical.runs.answered import NO_ANSWER, answered_frame
from veridical.runs.store import ASKS, RESPONSES

NORMALISATIONS = ("sum", "token", "char", "byte", "unconditional")
TEXTS = ("Answer: a", "It is b.", "", "a or b", "neither", None, "<think>so</think> a", "Answer: a because")


def suite_of(normalisation: str, n: int = 40) -> Suite:
    """Items of one to four choices."""
    items = tuple(
        Item(
            fields={"text": f"{k}"},
            choices=tuple(Choice(label=label, continuation=label) for label in "abcd"[: 1 + k % 4]),
            gold=("a",),
        )
        for k in range(n)
    )
    prompts = (Prompt(name="second", user="{{ text }}"), Prompt(name="first", user="{{ text }}?"))
    return Suite(name="s", version="1", labels=tuple("abcd"), prompts=prompts, items=items, normalisation=normalisation)


def drawn_score(source: random.Random, awry: bool) -> dict[str, Any]:
    odd = source.random() if awry else 1.0
    total = source.choice([-1.0, -1.0 - 5e-7, -2.5, -0.125 * source.randrange(1, 80)])
    return {
        "total": float("-inf") if odd < 0.05 else float("nan") if odd < 0.08 else total,
        "n_tokens": 0 if 0.1 < odd < 0.13 else source.randrange(1, 5),
        "n_chars": 0 if 0.13 < odd < 0.15 else source.randrange(1, 9),
        "n_bytes": source.randrange(1, 9),
        "unconditional": None if 0.2 < odd < 0.25 else -0.5 * source.randrange(1, 9),
        "joined": False,
    }


def drawn(suite: Suite, seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Asks and answers of every kind, in random order."""
    source = random.Random(seed)
    asks: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for item in suite.items:
        for prompt, mode, order in (
            ("first", "loglikelihood", 0),
            ("second", "loglikelihood", 1),
            ("first", "generate", 0),
        ):
            key = f"{len(asks):032d}"
            notes = [THINKING_OPEN] if source.random() < 0.2 else []
            ask = {"key": key, "suite": "s", "item": item.id, "input": "full", "prompt": prompt, "order": order}
            asks.append(
                {**ask, "mode": mode, "repeat": 0, "labels": list(item.labels), "notes": notes, "joined": False}
            )
            if source.random() < 0.1:
                continue
            n = len(item.labels) + (source.random() < 0.05)
            scores = [] if mode == "generate" else [drawn_score(source, source.random() < 0.4) for _ in range(n)]
            status = source.choice(["ok"] * 8 + ["too_long", "truncated" if mode == "generate" else "non_finite"])
            text = source.choice(TEXTS) if mode == "generate" else None
            finish = "length" if status == "truncated" else "stop"
            answers.append(
                {"key": key, "status": status, "scores": scores, "text": text, "n_tokens": 1, "finish": finish}
                | {"detail": source.choice(["", "why"])}
            )
    source.shuffle(asks)
    source.shuffle(answers)
    return pl.DataFrame(asks, schema=ASKS), pl.DataFrame(answers, schema=RESPONSES)


def alone(suite: Suite, ask: dict[str, Any], answer: dict[str, Any] | None) -> dict[str, Any]:
    """What one answer says, by the functions that read one question."""
    row: dict[str, Any] = dict.fromkeys(SCHEMA)
    row |= {"model": "m", "answerer": "model"}
    row |= {name: ask[name] for name in ("suite", "input", "prompt", "mode", "order", "repeat", "item")}
    if answer is None:
        return {**row, "status": "error", "detail": NO_ANSWER}
    labels = suite.by_id[ask["item"]].labels
    row |= {"text": answer["text"], "detail": answer["detail"], "status": answer["status"]}
    scores = [ChoiceScore(**score) for score in answer["scores"]]
    if answer["status"] == "truncated" or (answer["status"] == "ok" and ask["mode"] == "generate"):
        reading = read_text(labels, answer["text"], answer["finish"], thinking_open=THINKING_OPEN in ask["notes"])
        row["detail"] = reading.detail or answer["detail"]
    elif answer["status"] == "ok":
        try:
            reading = read_scores(labels, scores, suite.normalisation)
        except ValueError as error:
            return {**row, "status": "error", "detail": str(error)}
        if reading.scores:
            row |= {"labels": list(labels), "scores": [score.total for score in scores]}
            row |= {"tokens": [s.n_tokens for s in scores], "chars": [s.n_chars for s in scores]}
            row |= {"bytes": [s.n_bytes for s in scores]}
            without = [score.unconditional for score in scores]
            row["unconditional"] = None if None in without else without
    else:
        return row
    return {
        **row,
        "status": reading.status.value,
        "label": reading.label,
        "margin": reading.margin,
        "label_mass": reading.label_mass,
    }


@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_each_row_is_what_is_said_of_its_question_alone(normalisation: str) -> None:
    suite = suite_of(normalisation)
    seen: set[str] = set()
    for seed in range(6):
        asks, answers = drawn(suite, seed)
        by_key = {row["key"]: row for row in answers.iter_rows(named=True)}
        expected = [alone(suite, ask, by_key.get(ask["key"])) for ask in asks.iter_rows(named=True)]
        # The suite's second prompt is listed first; log-likelihoods come before texts.
        prompts, modes = ["second", "first"], ["loglikelihood", "generate"]
        expected.sort(
            key=lambda row: (prompts.index(row["prompt"]), modes.index(row["mode"]), row["item"], row["order"])
        )
        found = answered_frame("m", asks, answers, {"s": suite})
        assert found.schema == SCHEMA
        for one, other in zip(found.iter_rows(named=True), expected, strict=True):
            for name in ("label_mass", "margin"):
                a, b = one.pop(name), other.pop(name)
                assert (a is None) == (b is None), (one, name)
                assert a is None or math.isclose(a, b, rel_tol=1e-12)
            assert one == other
            seen.add(one["status"])
    assert seen >= {"ok", "tied", "empty", "non_finite", "error", "too_long", "truncated", "unparsed", "ambiguous"}


def test_classes_have_no_length() -> None:
    suite = suite_of("token")
    item = suite.items[1]
    ask = {"key": "k", "suite": "s", "item": item.id, "input": "full", "prompt": "", "order": 0, "mode": "classify"}
    asks = pl.DataFrame([{**ask, "repeat": 0, "labels": [], "notes": [], "joined": False}], schema=ASKS)
    score = {"n_chars": 1, "n_bytes": 1, "unconditional": None, "joined": False}
    # By tokens the second would win: -1.5 / 3 is above -1.
    scores = [{**score, "total": -1.0, "n_tokens": 1}, {**score, "total": -1.5, "n_tokens": 3}]
    answers = pl.DataFrame([{"key": "k", "status": "ok", "scores": scores, "detail": ""}], schema=RESPONSES)
    assert answered_frame("m", asks, answers, {"s": suite})["label"].to_list() == ["a"]
