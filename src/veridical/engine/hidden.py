"""Hidden states, taken from the passes that score: chosen layers, chosen places, nothing else kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers import PreTrainedModel

from veridical.engine.trie import Trie

TokenSpan = tuple[int, int]
"""Token positions [start, stop) of a sequence; a single last token is (n - 1, n)."""


class HiddenStates:
    """Mean hidden state over one span of each sequence, at each of some layers.

    Layers count as in transformers' `hidden_states`: 0 is the embedding, k the output of block k, so that the
    penultimate of L blocks is L - 1. (Mamba's own tuple leaves the embedding out; Veridical's does not.) The output of
    block L is taken before the final norm, unlike transformers' last entry.

    `states` is [sequences, layers, width] in float32, and whole once the passes that score the sequences are
    done; a sequence without a span (None) stays zero.
    """

    def __init__(self, model: PreTrainedModel, layers: Sequence[int], spans: Sequence[TokenSpan | None]) -> None:
        self._blocks = blocks(model)
        if odd := [layer for layer in layers if not 0 <= layer <= len(self._blocks)]:
            raise ValueError(f"layers {odd} of a model with {len(self._blocks)} blocks")
        if any(span is not None and span[0] >= span[1] for span in spans):
            raise ValueError("a span of no tokens has no mean")
        self.layers = tuple(layers)
        self.spans = tuple(spans)
        width = model.config.get_text_config().hidden_size
        self.states: npt.NDArray[np.float32] = np.zeros((len(spans), len(layers), width), dtype=np.float32)

    def begin(self, sequences: Sequence[int]) -> None:
        """Forget what was taken of these sequences: they are about to run, perhaps again."""
        self.states[list(sequences)] = 0

    def not_finite(self, sequences: Sequence[int]) -> list[int]:
        """Places in `sequences` of those with a state that is not a finite number."""
        return np.flatnonzero(~np.isfinite(self.states[list(sequences)]).all(axis=(1, 2))).tolist()

    def places(self, trie: Trie, sequences: Sequence[int], wanted: Collection[int]) -> dict[int, list[tuple[int, int]]]:
        """Segment to (offset in it, sequence), for every position of the spans of the sequences `wanted`.

        `trie` is over `sequences`.
        """
        found: dict[int, list[tuple[int, int]]] = {}
        for end, sequence in zip(trie.ends, sequences, strict=True):
            span = self.spans[sequence] if sequence in wanted else None
            for position in range(*span) if span else ():
                segment, offset = trie.position(end, position)
                found.setdefault(segment, []).append((offset, sequence))
        return found

    @contextmanager
    def taken(self, reading: Sequence[tuple[int, int]]) -> Iterator[None]:
        """Within this context a forward pass adds its part to `states`.

        `reading` is (place in the flattened [batch * sequence] of hidden states, sequence).
        """
        if not reading:
            yield
            return
        rows = torch.tensor([row for row, _ in reading])
        owners = torch.tensor([sequence for _, sequence in reading])
        shares = torch.tensor([1.0 / (s[1] - s[0]) for _, owner in reading if (s := self.spans[owner])])
        with ExitStack() as hooks:
            for number, layer in enumerate(self.layers):
                hooks.callback(self._hook(layer, number, rows, owners, shares).remove)
            yield

    def _hook(
        self, layer: int, number: int, rows: torch.Tensor, owners: torch.Tensor, shares: torch.Tensor
    ) -> torch.utils.hooks.RemovableHandle:
        def take(hidden: torch.Tensor) -> None:
            picked = hidden.reshape(-1, hidden.shape[-1]).index_select(0, rows.to(hidden.device))
            target = torch.from_numpy(self.states)[:, number]
            target.index_add_(0, owners, picked.float().cpu() * shares[:, None])

        def before(module: torch.nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
            take(arguments[0] if arguments else named["hidden_states"])

        def after(module: torch.nn.Module, arguments: tuple[Any, ...], output: Any) -> None:
            take(output[0] if isinstance(output, tuple) else output)

        if layer == 0:
            return self._blocks[0].register_forward_pre_hook(before, with_kwargs=True)
        return self._blocks[layer - 1].register_forward_hook(after)


def blocks(model: PreTrainedModel) -> torch.nn.ModuleList:
    """The model's stack of blocks: the one list of modules that is as long as its configuration says.

    Raises ValueError where there is none, or more than one.
    """
    count = model.config.get_text_config().num_hidden_layers
    found = [
        module
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.ModuleList) and len(module) == count and "expert" not in name
    ]
    # Lists inside a block are as long by accident only; the stack itself comes first.
    if not found:
        raise ValueError(f"{type(model).__name__} has no list of {count} blocks to take hidden states from")
    return found[0]
