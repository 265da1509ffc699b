"""The list of sets for the page: every item with every answer, compact enough for thousands of items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import polars as pl

from veridical.items import Item, Suite
from veridical.judge.frame import KEY
from veridical.report.results import AnsweringKey, Results

MOST_CHARACTERS = 2_000_000
"""Of all sets on a page, about: with more it would take a browser seconds to open, and be too large to send."""
_ITEM, _RESPONSE, _SCORE = 120, 45, 9
"""Characters of an item without its fields, of a response without its text and scores, and of a score."""
TEXT_LIMIT = 4_000
"""Characters of a generated text that the page keeps; the run's own files keep it whole."""


def set_list(
    suite: Suite, results: Results, frame: pl.DataFrame, most_characters: int = MOST_CHARACTERS
) -> dict[str, Any]:
    """Sets, items and answers of one suite as the page's script reads them.

    `answerings` names the columns; `sets` holds `[name, [[item, role], …]]`; `items` holds fields, gold, factors
    and choices; `answers[item][answering]` is a list of responses, one for every choice order and repeat. An item
    and an answering are identified by their positions. Constant answers are left out: they do not depend on the item.
    Sets that come after about `most_characters` are left out too, and counted in `left_out`.
    """
    n_sets = len(set(suite.places.sets))
    listed = _first(suite, frame.lazy().filter(suite=suite.name), most_characters)
    if len(listed) < n_sets:
        places = zip(suite.places.sets, suite.places.items, strict=True)
        suite = suite.narrowed({item for name, item in places if name in listed})
    sets = suite.grouping().sets()
    wanted = pl.col("suite") == suite.name
    items = tuple(suite.items)
    positions = {item: position for position, item in enumerate(suite.columns.ids)}
    columns: dict[AnsweringKey, int] = {}
    answers: list[dict[int, list[dict[str, Any]]]] = [{} for _ in items]
    if len(listed) < n_sets:
        wanted &= pl.col("item").is_in(list(positions))
    own = frame.filter(wanted)
    for row in own.sort("order", "repeat", maintain_order=True).iter_rows(named=True):
        answering = AnsweringKey(*(row[key] for key in KEY))
        position = positions.get(row["item"])
        if answering.constant or position is None:
            continue
        column = columns.setdefault(answering, len(columns))
        answers[position].setdefault(column, []).append(_response(row, items[position]))
    return {
        "suite": suite.name,
        "answerings": [_name(results, answering) for answering in columns],
        "first": next((i for i, answering in enumerate(columns) if not answering.reference), 0),
        "sets": [
            [name, [[positions[member.item], member.role] for member in members]]
            for name, members in sets.items()
            if name in listed
        ],
        "items": [_item(item) for item in items],
        "answers": answers,
        "left_out": n_sets - len(listed),
    }


def _first(suite: Suite, responses: pl.LazyFrame, most_characters: int) -> set[str]:
    """The first sets that come to about no more than that many characters, one at least."""
    texts = [pl.col(name).fill_null("").str.len_chars() for name in ("text", "detail", "label")]
    size = _RESPONSE + pl.sum_horizontal(texts).clip(upper_bound=TEXT_LIMIT)
    size += _SCORE * pl.col("scores").list.len().fill_null(0)
    sizes = dict(responses.group_by("item").agg(size=size.sum()).collect().select("item", "size").iter_rows())
    members: dict[str, list[str]] = {}
    for name, item in zip(suite.places.sets, suite.places.items, strict=True):
        members.setdefault(name, []).append(item)
    positions = {item: position for position, item in enumerate(suite.columns.ids)}
    found: set[str] = set()
    room = most_characters
    for name, items in members.items():
        for item in items:
            room -= sizes.get(item, 0) + _ITEM + sum(map(len, suite.items[positions[item]].fields.values()))
        if room < 0 and found:
            break
        found.add(name)
    return found


def _name(results: Results, answering: AnsweringKey) -> str:
    name = results.name(answering, model=True)
    # A frame may hold several models where only one was measured in full.
    return name if answering.model in name or len(results.models) < 2 else f"{answering.model} · {name}"


def _item(item: Item) -> dict[str, Any]:
    return {
        "fields": dict(item.fields),
        "gold": list(item.gold),
        "factors": {key: str(value) for key, value in item.factors.items()},
        "labels": list(item.labels),
        "name": item.name or item.id,
    }


def _response(row: Mapping[str, Any], item: Item) -> dict[str, Any]:
    """One response; keys with default values are left out, since there may be a hundred thousand of them."""
    response: dict[str, Any] = {"s": row["status"]}
    if row["label"] is not None:
        response["l"] = row["label"]
        response["r"] = int(row["label"] in item.gold) if item.gold else None
    if row["scores"]:
        scores = dict(zip(row["labels"] or item.labels, row["scores"], strict=False))
        response["ll"] = [_rounded(scores.get(label)) for label in item.labels]
    if row["text"]:
        text = row["text"]
        response["t"] = text if len(text) <= TEXT_LIMIT else f"{text[:TEXT_LIMIT]} […{len(text):,} characters in all]"
    if row["detail"]:
        response["d"] = row["detail"]
    if row["order"]:
        response["o"] = row["order"]
    if row["repeat"]:
        response["n"] = row["repeat"]
    return response


def _rounded(score: float | None) -> float | None:
    """Three decimals; None for what JSON cannot hold."""
    return None if score is None or not math.isfinite(score) else round(score, 3)
