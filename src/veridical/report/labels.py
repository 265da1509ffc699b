"""What measures are called, and in which order they stand: the part of a presentation that arranging results needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from veridical.report.texts import MEASURES, MeasureText

MeasureOfSlice = tuple[str, str]
"""A measure and the slice that it is of, in words."""


@dataclass(frozen=True, slots=True)
class MeasureLabels:
    """The names and the order of the measures of one kind of suite.

    `texts` are the suite's own measures in words. `groups` are the values of the factor `group` that have a column
    each, with a gloss; `leading` the measures that stand right behind them. `compared` are the differences that the
    terminal prints, with their tests where `tested`.
    """

    texts: Mapping[str, MeasureText] = field(default_factory=dict)
    groups: Mapping[str, str] = field(default_factory=dict)
    leading: tuple[str, ...] = ()
    compared: tuple[MeasureOfSlice, ...] = ()
    tested: bool = False

    def label(self, measure: str) -> str:
        """The heading of a measure; an unknown one is its own name with spaces."""
        text = self.texts.get(measure) or MEASURES.get(measure)
        return text.label if text else measure.replace("_", " ")


GENERIC_LABELS = MeasureLabels(compared=(("accuracy", ""), ("set_accuracy", "")), tested=True)
