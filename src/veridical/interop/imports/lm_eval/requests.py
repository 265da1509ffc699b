"""What a sample record holds of its requests: a context and a continuation each, and what came back."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from veridical.interop.imports.answer import as_text, number


@dataclass(frozen=True, slots=True)
class Requests:
    """What a record holds of its requests: contexts, continuations (None where text was generated), what came back."""

    contexts: list[str]
    continuations: list[str] | None
    returned: list[Any]


def requests_of(record: Mapping[str, Any]) -> Requests | None:
    """The requests of a record, None where they are not there; responses that do not fit them are left out."""
    arguments, returned = record.get("arguments"), record.get("filtered_resps")
    if not isinstance(returned, list):
        returned = record.get("resps")
    if not isinstance(arguments, dict | list) or not arguments:
        return None
    returned = returned if isinstance(returned, list) else []
    pairs = [_in_order(one) for one in _in_order(arguments)]
    contexts = [as_text(pair[0]) if pair else "" for pair in pairs]
    if all(len(pair) > 1 and isinstance(pair[1], str) for pair in pairs):
        fitting = returned if len(returned) == len(pairs) else []
        return Requests(contexts, [pair[1] for pair in pairs], fitting)
    return Requests(contexts, None, returned)


def _in_order(value: Any) -> list[Any]:
    """`gen_args_0`, `gen_args_1`, ... and `arg_0`, `arg_1` in the order of their numbers."""
    if not isinstance(value, dict):
        return value if isinstance(value, list) else [value]
    if _are_in_order(tuple(value)):
        return list(value.values())
    return [inner for _, inner in sorted(value.items(), key=lambda pair: _trailing(pair[0]))]


@lru_cache(maxsize=1024)
def _are_in_order(names: tuple[str, ...]) -> bool:
    numbers = [_trailing(name) for name in names]
    return numbers == sorted(numbers)


def _trailing(name: str) -> int:
    digits = re.search(r"(\d{1,9})$", name)
    return int(digits[1]) if digits else 0


def scores_of(returned: Sequence[Any]) -> tuple[list[float], list[bool]] | None:
    """Log-likelihoods and greedy flags; None where what came back is something else."""
    totals: list[float] = []
    greedy: list[bool] = []
    for given in returned:
        one = given
        while isinstance(one, list) and len(one) == 1:
            one = one[0]
        pair = one if isinstance(one, list) else [one]
        value = number(pair[0]) if pair else None
        if value is None:
            return None
        totals.append(value)
        if len(pair) > 1:
            greedy.append(pair[1] in (True, "True", "true"))
    return (totals, greedy) if totals else None
