"""Where the features of a readout come from: what the analysis asks of whoever has the hidden states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from veridical.readouts.rows import Rows
from veridical.stats.units import Floats


class StateSource(Protocol):
    """The hidden states and option scores of one model under one prompt."""

    @property
    def model(self) -> str:
        """The model's name."""

    @property
    def prompt(self) -> str:
        """The prompt's name."""

    def layers(self, suite: str, input: str) -> Sequence[int]:
        """The layers whose states there are, for a suite under an input."""

    def states(self, rows: Rows, input: str, layer: int) -> Floats:
        """Hidden states (n, width) of the last prompt token at a layer."""

    def option_scores(self, rows: Rows, input: str, names: Sequence[str]) -> Floats:
        """Log-likelihoods (n, labels) of the labels in `names`, in the first order; NaN where one was not scored."""
