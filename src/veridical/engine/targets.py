"""Which log-probabilities have to be read, and where in the trie they stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import numpy as np

from veridical.engine.trie import Trie


class Scored(Protocol):
    """A context and the continuation to score, as token ids; neither is empty."""

    @property
    def context(self) -> tuple[int, ...]:
        """Token ids before the continuation."""

    @property
    def continuation(self) -> tuple[int, ...]:
        """Token ids to be scored."""


def run_tokens(sequence: Scored) -> tuple[int, ...]:
    """What has to run to score a sequence: all of it but the last token, which nothing follows."""
    return (*sequence.context, *sequence.continuation[:-1])


class Targets:
    """Every token to be scored, by number; sums come together as forward passes read them.

    Target i is token `tokens[i]` of sequence `sequence[i]`, predicted at position `position[i]` of it.
    """

    def __init__(self, sequences: Sequence[Scored]) -> None:
        lengths = [len(sequence.continuation) for sequence in sequences]
        self.sequence = np.repeat(np.arange(len(sequences)), lengths)
        self.tokens = np.fromiter((t for s in sequences for t in s.continuation), np.int64, sum(lengths))
        self.position = np.fromiter(
            (len(sequence.context) - 1 + step for sequence in sequences for step in range(len(sequence.continuation))),
            np.int64,
            sum(lengths),
        )
        self._missing = np.array(lengths, dtype=np.int64)
        self._sums = np.zeros(len(sequences), dtype=np.float64)

    def by_segment(self, trie: Trie) -> dict[int, list[tuple[int, int]]]:
        """Segment to (offset in it, target): where in `trie`, made of these sequences, each target is read."""
        places: dict[int, list[tuple[int, int]]] = {}
        for target, (sequence, position) in enumerate(zip(self.sequence, self.position, strict=True)):
            segment, offset = trie.position(trie.ends[sequence], int(position))
            places.setdefault(segment, []).append((offset, target))
        return places

    def add(self, targets: Iterable[int], values: Iterable[float]) -> Iterator[tuple[int, float]]:
        """Take in log-probabilities; yields (sequence, its sum) for each sequence that is now complete."""
        for target, value in zip(targets, values, strict=True):
            sequence = int(self.sequence[target])
            self._sums[sequence] += value
            self._missing[sequence] -= 1
            if self._missing[sequence] == 0:
                yield sequence, float(self._sums[sequence])
