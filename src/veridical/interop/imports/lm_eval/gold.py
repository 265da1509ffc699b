"""What a logged target names: a position among the choices, one of their texts, or several of these."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from veridical.interop.imports.answer import as_text


def gold_positions(target: object, texts: Sequence[str], *, index_first: bool) -> tuple[int, ...]:
    """Positions of the right choices; empty where the target names none of them.

    `index_first` decides for a target that could be both an index and a text.
    """
    found = [_position(one, texts, index_first) for one in _targets(target)]
    return tuple(dict.fromkeys(place for place in found if place is not None))


def _targets(target: object) -> list[object]:
    if isinstance(target, str) and target.startswith("[") and target.endswith("]"):
        try:
            target = ast.literal_eval(target)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return [target]
    return list(target) if isinstance(target, list | tuple) else [target]


def _position(target: object, texts: Sequence[str], index_first: bool) -> int | None:
    if index_first and (index := _index(target)) is not None and 0 <= index < len(texts):
        return index
    readings = target_readings(target, texts)
    return readings[0 if index_first else -1] if readings else None


def target_readings(target: object, texts: Sequence[str]) -> list[int]:
    """What a target may mean, as an index and as a text."""
    found: list[int] = []
    index = _index(target)
    if index is not None and 0 <= index < len(texts):
        found.append(index)
    text = as_text(target)
    named = next((p for p, own in enumerate(texts) if own == text), None)
    if named is None:
        named = next((p for p, own in enumerate(texts) if own.strip() == text.strip()), None)
    if named is not None and named not in found:
        found.append(named)
    return found


def _index(target: object) -> int | None:
    if isinstance(target, int):
        return int(target)
    if isinstance(target, str) and len(target) < 8 and (digits := target.strip()).isascii() and digits.isdigit():
        return int(digits)
    return None
