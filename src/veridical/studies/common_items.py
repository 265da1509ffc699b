"""What models that are compared were both asked."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import polars as pl


def common_items(suite: str, frame: pl.DataFrame) -> Iterator[str]:
    """Remarks on models that were asked different items: over how many every two are compared, and which share none.

    `frame` holds the responses to the suite of this name (`veridical.judge.frame.SCHEMA`).
    """
    own = frame.select("model", "item").unique(maintain_order=True)
    asked = {part["model"][0]: frozenset(part["item"]) for part in own.partition_by("model", maintain_order=True)}
    common = {(one, other): len(asked[one] & asked[other]) for one, other in combinations(asked, 2)}
    apart = [f"{one} and {other}" for (one, other), n in common.items() if not n]
    if apart:
        more = f" and {len(apart) - 3} more pairs" if len(apart) > 3 else ""
        yield f"{suite}: no item was asked of both {'; '.join(apart[:3])}{more}: they are not compared."
    compared = [n for n in common.values() if n]
    if compared and len(set(asked.values())) > 1:
        least, most, every = min(compared), max(compared), len(frozenset().union(*asked.values()))
        items = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        yield (
            f"{suite}: models were asked different items; every two are compared over the items that both were asked, "
            f"{items} of {every:,}."
        )
