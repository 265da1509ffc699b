"""Which measures judge which suite: a table of names, open for more, whose modules are imported when asked for.

It imports nothing else, so that suites can register their measures without NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

MEASURE_SETS: dict[str, str] = {
    "accuracy": "veridical.judge.generic:MEASURE_SET",
    "graded": "veridical.judge.generic:GRADED",
}
"""Name of a measure set (`Suite.measures`) to where it is: `module:attribute`. Open for more: `register`."""

REGISTRARS = ["veridical.suites.registry"]
"""Modules that register measure sets when they are imported; they are, where a name is not known yet."""


def register(name: str, where: str) -> None:
    """Add a measure set under a name that suites can use. `where` is `module:attribute`, imported on use.

    Raises ValueError where the name stands for another one already.
    """
    if MEASURE_SETS.setdefault(name, where) != where:
        raise ValueError(f"measure set {name!r} is {MEASURE_SETS[name]} already")


def measure_sets() -> Mapping[str, str]:
    """Every measure set by name, those of the package's suites among them."""
    for module in REGISTRARS:
        import_module(module)
    return MEASURE_SETS
