"""Token sequences as a radix trie: every distinct prefix stands once.

A segment is a maximal run of tokens without a branch. The trie holds ids only; it knows no model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

Tokens = Sequence[int]


@dataclass(slots=True)
class Segment:
    """A run of tokens without a branch, `start` tokens into every sequence that passes through it.

    `size` counts the tokens of the whole subtree, this segment's among them. `parent` is -1 at the top.
    """

    tokens: Tokens
    start: int
    parent: int
    children: list[int] = field(default_factory=list)
    size: int = 0

    @property
    def end(self) -> int:
        """Position in the sequence just after the segment's last token."""
        return self.start + len(self.tokens)


class Trie:
    """A radix trie over `sequences` (non-empty tuples of token ids).

    `segments` is a forest in no particular order; `ends[i]` is the segment in which sequence i ends, exactly at
    that segment's end. Equal sequences share an end.
    """

    def __init__(self, sequences: Sequence[tuple[int, ...]]) -> None:
        self.segments: list[Segment] = []
        self.ends: list[int] = [-1] * len(sequences)
        self.roots: list[int] = []
        if any(not sequence for sequence in sequences):
            raise ValueError("a sequence without tokens has no place in a trie")
        self._insert_sorted(sequences)
        self._link()

    @property
    def n_tokens(self) -> int:
        """Distinct tokens: what a forward pass over the trie has to compute."""
        return sum(len(segment.tokens) for segment in self.segments)

    def _insert_sorted(self, sequences: Sequence[tuple[int, ...]]) -> None:
        # In sorted order a sequence shares its longest prefix with the one before it, so the path to that one
        # (a stack) is all that has to be looked at: linear in the number of tokens.
        segments, path = self.segments, list[int]()
        previous: tuple[int, ...] = ()
        for index in sorted(range(len(sequences)), key=sequences.__getitem__):
            sequence = sequences[index]
            shared = common_prefix(previous, sequence)
            below = -1
            while path and segments[path[-1]].end > shared:
                below = path.pop()
            if below >= 0 and segments[below].start < shared:
                path.append(self._split(below, shared))
            if shared < len(sequence):
                segments.append(Segment(sequence[shared:], shared, path[-1] if path else -1))
                path.append(len(segments) - 1)
            self.ends[index] = path[-1]
            previous = sequence

    def _split(self, index: int, at: int) -> int:
        """Cut a segment in two `at` tokens from the top; the lower part keeps the index, and its ends."""
        lower = self.segments[index]
        cut = at - lower.start
        upper = Segment(lower.tokens[:cut], lower.start, lower.parent)
        self.segments.append(upper)
        lower.tokens, lower.start, lower.parent = lower.tokens[cut:], at, len(self.segments) - 1
        return lower.parent

    def _link(self) -> None:
        for index, segment in enumerate(self.segments):
            home = self.roots if segment.parent < 0 else self.segments[segment.parent].children
            home.append(index)
        for index in reversed(list(self.walk())):
            segment = self.segments[index]
            segment.size = len(segment.tokens) + sum(self.segments[child].size for child in segment.children)

    def walk(self, top: int | None = None) -> Iterator[int]:
        """Segments depth first, parents before children; below `top` (included) or everywhere."""
        pending = list(reversed(self.roots)) if top is None else [top]
        while pending:
            index = pending.pop()
            yield index
            pending.extend(reversed(self.segments[index].children))

    def position(self, index: int, depth: int) -> tuple[int, int]:
        """(segment, offset in it) of the token `depth` places into a sequence that ends in segment `index`."""
        while self.segments[index].start > depth:
            index = self.segments[index].parent
        return index, depth - self.segments[index].start


def common_prefix(first: Tokens, second: Tokens) -> int:
    """Length of the longest common prefix."""
    limit = min(len(first), len(second))
    if tuple(first[:limit]) == tuple(second[:limit]):
        return limit
    return int(np.argmin(np.asarray(first[:limit]) == np.asarray(second[:limit])))
