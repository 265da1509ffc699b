"""What every way of scoring has in common: a budget that is kept to, and nothing given out that a neighbour spoiled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence

from transformers import PreTrainedModel

from veridical.engine.finite import finite_or_alone
from veridical.engine.hidden import HiddenStates
from veridical.engine.logits import rows_that_fit
from veridical.engine.memory import Budget
from veridical.engine.passes import Pass
from veridical.engine.targets import Scored


class Scorer(ABC):
    """Scores sequences with one model. `n_tokens_run` counts what went through it, padding included."""

    def __init__(self, model: PreTrainedModel, budget: Budget) -> None:
        self.model = model
        self.budget = budget
        self.max_rows = rows_that_fit(model)
        self.n_tokens_run = 0

    def score(
        self,
        sequences: Sequence[Scored],
        hidden: HiddenStates | None = None,
        wanted: Collection[int] | None = None,
    ) -> Iterator[tuple[int, float]]:
        """(index, log-likelihood of the continuation) for each sequence that has one, as it is finished.

        `hidden` takes the hidden states of the same sequences from the same passes. Where some alone are `wanted`,
        batches are planned of all `sequences` and those without a wanted one are left out: scores, which move in their
        last digits with their batch, are to the bit those of scoring everything.
        """
        return self.budget.each(
            len(sequences),
            lambda indices, places: self._score([sequences[i] for i in indices], indices, hidden, places),
            wanted,
        )

    def _score(
        self, sequences: Sequence[Scored], indices: Sequence[int], hidden: HiddenStates | None, wanted: set[int]
    ) -> Iterator[tuple[int, float]]:
        def alone(place: int) -> Iterator[tuple[int, float]]:
            return self._together([sequences[place]], [indices[place]], hidden, {0})

        return finite_or_alone(self._together(sequences, indices, hidden, wanted), alone, indices, wanted, hidden)

    @abstractmethod
    def passes(self, sequences: Sequence[Scored]) -> list[Pass]:
        """The passes in which all of these sequences would be scored; each sequence is a place of one of them."""

    @abstractmethod
    def _together(
        self, sequences: Sequence[Scored], indices: Sequence[int], hidden: HiddenStates | None, wanted: set[int]
    ) -> Iterator[tuple[int, float]]:
        """(place in `sequences`, log-likelihood) of the wanted places, batched as this way does.

        `indices` name the sequences as `hidden` does.
        """
