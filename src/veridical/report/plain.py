"""Measures as a terminal may show them: names come from suite files, from models and from what was answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from veridical.errors import printable
from veridical.judge.measure import Measure


def plain(measure: Measure) -> Measure:
    """The measure with every name in it in one printable line, so that it can neither break a table nor steer."""
    changed = {name: shown for name, value in measure if (shown := _shown(value)) != value}
    return measure.model_copy(update=changed) if changed else measure


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {_shown(key): _shown(inner) for key, inner in value.items()}
    return value
