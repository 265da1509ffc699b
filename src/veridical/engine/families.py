"""Prompts that are generated for together, because they begin alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from veridical.engine.trie import Trie

WORTH_SHARING_TOKENS = 16
WORTH_SHARING_PROMPTS = 32
"""A prefix is split off for these many prompts or more, or where all share it.

Families run one after the other, so each holds the next until its longest answer is done. Fewer prompts than half of
the slots leave steps so empty that this costs more than a prefix read once a step saves.
"""


@dataclass(frozen=True, slots=True)
class Family:
    """Prompts (by index) that share the first `n_shared` tokens, and run together after them."""

    n_shared: int
    prompts: tuple[int, ...]


def families(prompts: Sequence[tuple[int, ...]]) -> list[Family]:
    """Every prompt in exactly one family; each keeps at least its last token to itself.

    The last token of a prompt is where its answer begins, so it is never part of what is shared.
    """
    trie = Trie(prompts)
    below: dict[int, list[int]] = {index: [] for index in range(len(trie.segments))}
    for prompt, end in enumerate(trie.ends):
        below[end].append(prompt)
    for index in reversed(list(trie.walk())):
        if (parent := trie.segments[index].parent) >= 0:
            below[parent].extend(below[index])
    return list(_split(trie, below, trie.roots, 0, range(len(prompts))))


def _split(
    trie: Trie, below: dict[int, list[int]], children: Sequence[int], n_shared: int, prompts: Sequence[int]
) -> Iterator[Family]:
    """The family at this node, less the children that are worth a family of their own."""
    rest = set(prompts)
    for child in children:
        segment = trie.segments[child]
        # A prompt that ends inside the shared part would have nothing of its own left.
        reach = min(segment.end, min(len_ for len_ in _lengths(trie, below[child])) - 1)
        enough = len(below[child]) >= WORTH_SHARING_PROMPTS or len(below[child]) == len(prompts) > 1
        if enough and reach - n_shared >= WORTH_SHARING_TOKENS:
            rest -= set(below[child])
            grandchildren = segment.children if reach == segment.end else ()
            yield from _split(trie, below, grandchildren, reach, below[child])
    if rest:
        yield Family(n_shared, tuple(sorted(rest)))


def _lengths(trie: Trie, prompts: Sequence[int]) -> Iterator[int]:
    return (trie.segments[trie.ends[prompt]].end for prompt in prompts)
