"""What runs when: shared prefixes first, then the subtrees below them in batches of about equal size."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from veridical.engine.trie import Trie


@dataclass(frozen=True, slots=True)
class Extend:
    """Run `length` tokens of a segment from `offset` on, and keep their keys and values for what is below."""

    segment: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class RunSubtrees:
    """Run whole subtrees that continue the prefix as it stands."""

    tops: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Retreat:
    """Drop the pieces of one segment from the end of the prefix: everything below it is done."""

    pieces: int


Step = Extend | RunSubtrees | Retreat


def steps(
    trie: Trie, batch_tokens: int, rows: Mapping[int, int], max_rows: int, wanted: Collection[int] | None = None
) -> Iterator[Step]:
    """A depth-first walk that never runs more than `batch_tokens` tokens, or needs more than `max_rows` logits.

    `rows` says how many positions of a segment need their logits. A subtree that fits a batch runs in one piece
    with its neighbours; the top of a larger one is a prefix, whose keys and values are kept just as long as
    something below it is to be run. So memory holds one path of prefixes, however many sequences there are.
    `wanted` are the segments of which something is to be read (all where None): steps that serve none of them are
    left out, and the others are the same.
    """
    if batch_tokens < 1 or max_rows < 1:
        raise ValueError(f"a batch of {batch_tokens} tokens and {max_rows} rows holds nothing")
    return _Walk(trie, batch_tokens, rows, max_rows, wanted).below(trie.roots)


class _Walk:
    def __init__(
        self,
        trie: Trie,
        batch_tokens: int,
        rows: Mapping[int, int],
        max_rows: int,
        wanted: Collection[int] | None,
    ) -> None:
        self.trie, self.batch_tokens, self.rows, self.max_rows = trie, batch_tokens, rows, max_rows
        # The share of a batch that a whole subtree takes: by its tokens or by its logits, whichever is more.
        self.tokens = [segment.size for segment in trie.segments]
        self.logits = [rows.get(index, 0) for index in range(len(trie.segments))]
        everything = range(len(trie.segments)) if wanted is None else wanted
        self.wanted = [False] * len(trie.segments)  # of a segment or of something below it
        for index in everything:
            self.wanted[index] = True
        for index in reversed(list(trie.walk())):
            if (parent := trie.segments[index].parent) >= 0:
                self.logits[parent] += self.logits[index]
                self.wanted[parent] |= self.wanted[index]

    def below(self, tops: Sequence[int]) -> Iterator[Step]:
        # An explicit stack, of what is still to be done: a chain of prefixes may be as deep as a text is long.
        yield from self._batches([top for top in tops if self._whole(top)])
        pending: list[int | Retreat] = self._larger(tops)
        while pending:
            top = pending.pop()
            if isinstance(top, Retreat):
                yield top
                continue
            segment = self.trie.segments[top]
            length = len(segment.tokens)
            step = self.batch_tokens
            if self.rows.get(top, 0) > self.max_rows:
                step = min(step, self.max_rows)
            offsets = range(0, length, step)
            for offset in offsets:
                yield Extend(top, offset, min(step, length - offset))
            yield from self._batches([child for child in segment.children if self._whole(child)])
            pending.append(Retreat(len(offsets)))
            pending.extend(self._larger(segment.children))

    def _larger(self, tops: Sequence[int]) -> list[int | Retreat]:
        """Wanted subtrees that do not fit a batch, last first."""
        return [top for top in reversed(tops) if self.wanted[top] and not self._whole(top)]

    def _whole(self, top: int) -> bool:
        """Whether a subtree fits a batch as it is."""
        return self._fits(self.tokens[top], self.logits[top])

    def _fits(self, tokens: int, logits: int) -> bool:
        return tokens <= self.batch_tokens and logits <= self.max_rows

    def _batches(self, tops: Sequence[int]) -> Iterator[RunSubtrees]:
        """Subtrees in batches, less those of which none is wanted.

        Like sizes are together, since their attention is then padded less.
        """
        return (batch for batch in self._all_batches(tops) if any(self.wanted[top] for top in batch.tops))

    def _all_batches(self, tops: Sequence[int]) -> Iterator[RunSubtrees]:
        batch: list[int] = []
        tokens = logits = 0
        for top in sorted(tops, key=self.tokens.__getitem__, reverse=True):
            if batch and not self._fits(tokens + self.tokens[top], logits + self.logits[top]):
                yield RunSubtrees(tuple(batch))
                batch, tokens, logits = [], 0, 0
            batch.append(top)
            tokens, logits = tokens + self.tokens[top], logits + self.logits[top]
        if batch:
            yield RunSubtrees(tuple(batch))
