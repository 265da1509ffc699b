"""Subtrees of a trie laid end to end: one forward pass without padding, one attention mask a subtree.

Everything but attention works token by token, so a batch is one row of distinct tokens. Attention then runs
over *blocks*: a small subtree is one block in which a token sees its ancestors; in a large one every segment is
a block of its own that sees the segments above it. Blocks of like size are stacked, and only that stack is padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from veridical.engine.trie import Trie

Indices = npt.NDArray[np.int64]

DENSE_BLOCK = 256
"""Largest subtree (tokens) whose attention is one square block; above it the square would be mostly empty."""

PADDING_ALLOWED = 1.25
"""A stack of blocks may hold this many times the cells that its blocks need."""


@dataclass(frozen=True, slots=True)
class AttentionBlock:
    """Queries and keys as places in the batch; `visible[i, j]` says whether query i sees key j."""

    queries: Indices
    keys: Indices
    visible: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Stack:
    """Blocks of like size, padded: `queries` [n, s] and `keys` [n, l] are places in the batch.

    `mask` [n, 1, s, p + l] is additive, over the p cached tokens and then the keys.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    mask: torch.Tensor


@dataclass(frozen=True, slots=True)
class Packed:
    """One forward pass: `ids` and `positions` [T], the stacks that cover its attention, and where things are.

    `cells` [T] says where each token's query stands among the cells of all stacks, one stack's [n * s] after the
    other's. `first[segment]` is the place of a segment's first token.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    stacks: tuple[Stack, ...]
    cells: torch.Tensor
    first: dict[int, int]


def pack(
    trie: Trie, tops: Sequence[int], n_cached: int, *, dtype: torch.dtype, device: torch.device, start: int = 0
) -> Packed:
    """The subtrees below `tops`, whose sequences all continue the same `n_cached` cached tokens.

    `start` is the position of the trie's own beginning, where that is not the beginning of the text.
    """
    ids: list[int] = []
    positions: list[int] = []
    first: dict[int, int] = {}
    blocks: list[AttentionBlock] = []
    for top in tops:
        order = list(trie.walk(top))
        for index in order:
            segment = trie.segments[index]
            first[index] = len(ids)
            ids.extend(segment.tokens)
            positions.extend(range(start + segment.start, start + segment.end))
        blocks.extend(_blocks(trie, top, order, first))
    return _packed(ids, positions, _alike(blocks, n_cached), n_cached, first, dtype=dtype, device=device)


def pack_piece(tokens: Sequence[int], start: int, *, dtype: torch.dtype, device: torch.device) -> Packed:
    """A plain run of tokens after `start` cached ones: a piece of a shared prefix."""
    places = np.arange(len(tokens))
    block = AttentionBlock(places, places, np.tri(len(tokens), dtype=np.bool_))
    positions = range(start, start + len(tokens))
    return _packed(tokens, positions, [[block]], start, {}, dtype=dtype, device=device)


def _packed(
    ids: Sequence[int],
    positions: Sequence[int],
    groups: Sequence[Sequence[AttentionBlock]],
    n_cached: int,
    first: dict[int, int],
    *,
    dtype: torch.dtype,
    device: torch.device,
) -> Packed:
    cells = np.zeros(len(ids), dtype=np.int64)
    stacks: list[Stack] = []
    before = 0
    for group in groups:
        stack = _stack(group, n_cached, dtype=dtype, device=device)
        n, tall = stack.queries.shape
        for row, block in enumerate(group):
            start = before + row * tall
            cells[block.queries] = np.arange(start, start + len(block.queries))
        stacks.append(stack)
        before += n * tall
    return Packed(
        torch.tensor(list(ids), device=device),
        torch.tensor(list(positions), device=device),
        tuple(stacks),
        torch.from_numpy(cells).to(device),
        first,
    )


def _blocks(trie: Trie, top: int, order: Sequence[int], first: dict[int, int]) -> list[AttentionBlock]:
    segments = trie.segments
    above: dict[int, list[Indices]] = {}
    for index in order:
        own = np.arange(first[index], first[index] + len(segments[index].tokens))
        above[index] = [*(above[segments[index].parent] if index != top else []), own]
    if segments[top].size <= DENSE_BLOCK:
        base = first[top]
        places = np.arange(base, base + segments[top].size)
        visible = np.zeros((len(places), len(places)), dtype=np.bool_)
        for path in above.values():
            own = path[-1] - base
            for ancestor in path[:-1]:
                visible[own[0] : own[-1] + 1, ancestor[0] - base : ancestor[-1] + 1 - base] = True
            visible[own[0] : own[-1] + 1, own[0] : own[-1] + 1] = np.tri(len(own), dtype=np.bool_)
        return [AttentionBlock(places, places, visible)]
    blocks = []
    for path in above.values():
        own, keys = path[-1], np.concatenate(path)
        blocks.append(AttentionBlock(own, keys, np.tri(len(own), len(keys), len(keys) - len(own), dtype=np.bool_)))
    return blocks


def _alike(blocks: Sequence[AttentionBlock], n_cached: int) -> list[list[AttentionBlock]]:
    """Blocks grouped so that padding each group to its largest member wastes little."""
    groups: list[list[AttentionBlock]] = []
    needed, tallest, widest = 0, 0, 0
    for block in sorted(blocks, key=lambda b: (len(b.keys), len(b.queries)), reverse=True):
        tall, wide = len(block.queries), len(block.keys) + n_cached
        padded = max(tallest, tall) * max(widest, wide) * (len(groups[-1]) + 1 if groups else 1)
        if groups and padded <= PADDING_ALLOWED * (needed + tall * wide):
            groups[-1].append(block)
            needed, tallest, widest = needed + tall * wide, max(tallest, tall), max(widest, wide)
        else:
            groups.append([block])
            needed, tallest, widest = tall * wide, tall, wide
    return groups


def _stack(blocks: Sequence[AttentionBlock], n_cached: int, *, dtype: torch.dtype, device: torch.device) -> Stack:
    tall = max(len(block.queries) for block in blocks)
    wide = max(len(block.keys) for block in blocks)
    queries = np.zeros((len(blocks), tall), dtype=np.int64)
    keys = np.zeros((len(blocks), wide), dtype=np.int64)
    visible = np.zeros((len(blocks), tall, n_cached + wide), dtype=np.bool_)
    # A padding query must see something, or its softmax is 0/0; its result is never read.
    visible[:, :, 0] = True
    for row, block in enumerate(blocks):
        n_queries, n_keys = block.visible.shape
        queries[row, :n_queries] = block.queries
        keys[row, :n_keys] = block.keys
        visible[row, :n_queries, :n_cached] = True
        visible[row, :n_queries, n_cached : n_cached + n_keys] = block.visible
    mask = torch.zeros((len(blocks), 1, tall, n_cached + wide), dtype=dtype)
    mask.masked_fill_(torch.from_numpy(~visible).unsqueeze(1), float("-inf"))
    return Stack(
        queries=torch.from_numpy(queries).to(device),
        keys=torch.from_numpy(keys).to(device),
        mask=mask.to(device),
    )
