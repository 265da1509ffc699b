"""What readouts are fitted on: hidden states and option scores of a run, and the text of the questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from veridical.errors import UserError
from veridical.readouts.rows import Rows
from veridical.runs.hidden import Hidden, StatesKey, read_hidden
from veridical.runs.load import Run
from veridical.stats.units import Floats


@dataclass(frozen=True)
class RunSource:
    """The features of one run under one prompt."""

    run: Run
    prompt: str
    _read: dict[tuple[str, str], Hidden] = field(default_factory=dict, repr=False, compare=False)

    @property
    def model(self) -> str:
        """The model's name."""
        return self.run.name

    def layers(self, suite: str, input: str) -> Sequence[int]:
        """The layers whose states the run stores, for a suite under an input."""
        return self.hidden(suite, input).layers

    def hidden(self, suite: str, input: str) -> Hidden:
        """The states of a suite under an input, read once. Raises UserError where the run stores none."""
        if (suite, input) in self._read:
            return self._read[suite, input]
        found = read_hidden(self.run.path, StatesKey(suite, self.prompt, input))
        if found is None:
            raise UserError(
                f"{self.run.path} holds no hidden states of {suite} ({self.prompt}, {input}): run readout again"
            )
        return self._read.setdefault((suite, input), found)

    def states(self, rows: Rows, input: str, layer: int) -> Floats:
        """Hidden states (n, width) of the last prompt token at a layer."""
        return self.hidden(rows.suite.name, input).at(layer, rows.items)

    def option_scores(self, rows: Rows, input: str, names: Sequence[str]) -> Floats:
        """Log-likelihoods (n, labels) of the labels in `names`, in the first order; NaN where one was not scored."""
        frame = self.run.frame.filter(
            suite=rows.suite.name, prompt=self.prompt, input=input, mode="loglikelihood", order=0, repeat=0
        )
        code = {name: place for place, name in enumerate(names)}
        place = {item: row for row, item in enumerate(rows.items)}
        scores = np.full((len(rows), len(names)), np.nan)
        for item, labels, values in (
            frame.filter(pl.col("scores").is_not_null()).select("item", "labels", "scores").rows()
        ):
            for label, value in zip(labels, values, strict=True):
                if item in place and label in code:
                    scores[place[item], code[label]] = value
        return scores
