"""Whether a continuation is what greedy decoding would have written, from the passes that score it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from transformers import PreTrainedModel

from veridical.engine.hidden import HiddenStates
from veridical.engine.targets import Scored


class Likeliest(HiddenStates):
    """The likeliest token at every place where one of a continuation is scored.

    Goes where `HiddenStates` goes in `Engine.score`, and takes the best logit where those take states. Not for an
    encoder-decoder.
    """

    def __init__(self, model: PreTrainedModel, sequences: Sequence[Scored]) -> None:
        self._model = model
        self._continuations = [sequence.continuation for sequence in sequences]
        before = [len(sequence.context) - 1 for sequence in sequences]
        self.spans = tuple(
            (start, start + len(tokens)) for start, tokens in zip(before, self._continuations, strict=True)
        )
        self._best: list[list[int]] = [[] for _ in sequences]

    def begin(self, sequences: Sequence[int]) -> None:
        """Forget what was taken of these sequences: they are about to run, perhaps again."""
        for sequence in sequences:
            self._best[sequence].clear()

    def not_finite(self, sequences: Sequence[int]) -> list[int]:
        """None: scores that are not finite are reported elsewhere."""
        return []

    @contextmanager
    def taken(self, reading: Sequence[tuple[int, int]]) -> Iterator[None]:
        """Within this context a forward pass whose logits are those of `reading`'s places, in order, is read."""
        if not reading:
            yield
            return
        rows = {place: row for row, place in enumerate(sorted({place for place, _ in reading}))}

        def read(module: torch.nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
            best = output.logits[0].argmax(dim=-1).tolist()
            # A sequence's places grow along it, within a pass and from one pass to the next.
            for place, sequence in sorted(reading):
                self._best[sequence].append(best[rows[place]])

        handle = self._model.register_forward_hook(read)
        try:
            yield
        finally:
            handle.remove()

    def agrees(self, sequence: int) -> bool:
        """Whether every token of a scored sequence's continuation is the likeliest in its place."""
        return tuple(self._best[sequence]) == tuple(self._continuations[sequence])
