"""Attention over our own layouts, in the place of a transformers model's own.

transformers lets an attention function be registered by name and hands it queries, keys and values after the
rotary embedding. Veridical's reads the layout of the current pass from a context variable, so it needs nothing of the
model but that it calls the attention function: no cache class, no mask of the model's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, PreTrainedModel

from veridical.engine.packing import Packed, Stack

NAME = "veridical_packed"

# Arguments of attention functions that this one does not support. A model that asks for one of these takes
# the plain path.
UNSUPPORTED = ("softcap", "s_aux", "position_bias", "sliding_window", "block_mask")


States = tuple[torch.Tensor, torch.Tensor]
"""Keys and values, each [1, heads, tokens, head size]."""


class UnsupportedAttentionError(Exception):
    """This model's attention is more than causal attention over all earlier tokens."""


class Layout(Protocol):
    """How the tokens of one pass see each other and what was cached."""

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None
    ) -> torch.Tensor:
        """Attention of one layer. [1, heads, T, head size] in, [T, heads, head size] out."""


_current: ContextVar[Layout | None] = ContextVar("veridical_layout", default=None)


@contextmanager
def laid_out(layout: Layout) -> Iterator[None]:
    """Within this context the attention of a model in `attention_of(model, NAME)` follows `layout`."""
    token = _current.set(layout)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def attention_of(model: PreTrainedModel, name: str) -> Iterator[None]:
    """Within this context `model` calls the attention function registered as `name`."""
    before = model.config._attn_implementation
    model.set_attn_implementation(name)
    try:
        yield
    finally:
        model.set_attn_implementation(before)


def packed_forward(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    **kwargs: Any,
) -> tuple[torch.Tensor, None]:
    """The attention function that transformers calls; shapes are its own: [1, heads, T, head size]."""
    layout = _current.get()
    layer = getattr(module, "layer_idx", None)
    if layout is None or layer is None:
        raise UnsupportedAttentionError("attention without a layout, or modules that do not know their layer")
    if asked := [name for name in UNSUPPORTED if kwargs.get(name) is not None]:
        raise UnsupportedAttentionError(f"attention with {', '.join(asked)}")
    return layout.attend(layer, query, key, value, scaling).unsqueeze(0), None


AttentionInterface.register(NAME, packed_forward)


@dataclass(slots=True)
class Prefix:
    """The keys and values of a shared prefix, [1, heads, n_tokens, head size] for each layer.

    Never written to once made: a longer prefix is a new one, so no branch sees another's tokens.
    """

    keys: list[torch.Tensor] = field(default_factory=list)
    values: list[torch.Tensor] = field(default_factory=list)

    @property
    def n_tokens(self) -> int:
        """Number of tokens in the prefix; 0 when nothing is cached."""
        return self.keys[0].shape[2] if self.keys else 0

    def take(self, layer: int, key: torch.Tensor, value: torch.Tensor, shared: States | None) -> None:
        """What a layer made of the tokens after the prefix `shared`; layers come in order."""
        self.keys.append(key if shared is None else torch.cat([shared[0], key], dim=2))
        self.values.append(value if shared is None else torch.cat([shared[1], value], dim=2))


class TokenPath:
    """The prefix that a depth-first walk stands on: pieces are added at its end, and taken away again.

    One buffer a layer holds it, with room to grow, so memory is that of the longest path and not of all its prefixes.
    Nothing is written over but what has been taken away.
    """

    def __init__(self) -> None:
        self.prefix = Prefix()
        self._lengths = [0]
        self._keys: list[torch.Tensor] = []
        self._values: list[torch.Tensor] = []

    def take(self, layer: int, key: torch.Tensor, value: torch.Tensor, shared: States | None) -> None:
        """The keys and values of a piece, to be added to the path once all layers have been through."""
        for buffers, states in ((self._keys, key), (self._values, value)):
            if shared is None:  # it begins the path, and most paths are of one piece
                buffers[layer : layer + 1] = [states]
            else:
                buffers[layer] = _written(buffers[layer], self.prefix.n_tokens, states)

    def extend(self, length: int) -> None:
        """Add the piece of `length` tokens that was just taken."""
        self._lengths.append(self._lengths[-1] + length)
        self._stand()

    def retreat(self, pieces: int) -> None:
        """Take away the last pieces."""
        del self._lengths[-pieces:]
        self._stand()

    def _stand(self) -> None:
        # Views of the buffers, made once and not in every pass.
        n = self._lengths[-1]
        shown = ([state[:, :, :n] for state in states] if n else [] for states in (self._keys, self._values))
        self.prefix = Prefix(*shown)


def _written(buffer: torch.Tensor, start: int, states: torch.Tensor) -> torch.Tensor:
    """`buffer` with `states` from `start` on; a larger copy of what is before `start` where they do not fit."""
    end = start + states.shape[2]
    if end > buffer.shape[2]:
        heads, size = states.shape[1], states.shape[3]
        larger = states.new_empty((1, heads, max(end, start + start // 2), size))
        larger[:, :, :start] = buffer[:, :, :start]
        buffer = larger
    buffer[:, :, start:end] = states
    return buffer


@dataclass(slots=True)
class PackedLayout:
    """Packed subtrees after a shared prefix. `keep`, where given, takes this pass to be continued."""

    packed: Packed
    prefix: Prefix
    keep: Prefix | TokenPath | None = None

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None
    ) -> torch.Tensor:
        """Attention output of one layer, [cells, heads, head size], each token attending to what the layout lets it
        see."""
        shared = (self.prefix.keys[layer], self.prefix.values[layer]) if self.prefix.n_tokens else None
        if self.keep is not None:
            self.keep.take(layer, key, value, shared)
        attended = [_attend(stack, query, key, value, shared, scale) for stack in self.packed.stacks]
        return (attended[0] if len(attended) == 1 else torch.cat(attended)).index_select(0, self.packed.cells)


def _attend(
    stack: Stack,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    prefix: States | None,
    scale: float | None,
) -> torch.Tensor:
    """Attention of one stack, a row a cell: [n * s, heads, head size], padding included."""
    n, tall = stack.queries.shape
    wide = stack.keys.shape[1]

    def gather(states: torch.Tensor, places: torch.Tensor, length: int) -> torch.Tensor:
        # Token by token, all heads at once: a token's heads lie side by side, as the projection wrote them.
        rows = states[0].transpose(0, 1).flatten(1).index_select(0, places.flatten())
        return rows.view(n, length, states.shape[1], states.shape[3])

    queries = gather(query, stack.queries, tall)
    keys, values = gather(key, stack.keys, wide), gather(value, stack.keys, wide)
    if prefix is not None:
        keys = torch.cat([prefix[0].transpose(1, 2).expand(n, -1, -1, -1), keys], dim=1)
        values = torch.cat([prefix[1].transpose(1, 2).expand(n, -1, -1, -1), values], dim=1)
    attended = scaled_dot_product_attention(
        queries.transpose(1, 2),
        keys.transpose(1, 2),
        values.transpose(1, 2),
        attn_mask=stack.mask,
        scale=scale,
        enable_gqa=query.shape[1] != key.shape[1],
    )
    return attended.transpose(1, 2).flatten(0, 1)
