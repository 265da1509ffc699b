"""Keys and values of sequences that are being generated: a slot each, over one shared prefix."""

from __future__ import annotations

import torch

from veridical.engine.attention import Prefix


class Slots:
    """A cache of `n_slots` rows of `capacity` tokens, after a prefix that all of them share.

    Rows 0 to n - 1 are in use, without a gap, so that a step works on views and copies nothing: `leave` moves the
    last row into the place of the one that is done.
    """

    def __init__(self, prefix: Prefix, n_slots: int, capacity: int) -> None:
        self.prefix = prefix
        self.capacity = capacity
        self.n = 0
        self.lengths = torch.zeros(n_slots, dtype=torch.long)
        self._n_slots = n_slots
        self.keys: list[torch.Tensor] = []
        self.values: list[torch.Tensor] = []

    @property
    def free(self) -> int:
        """Number of sequences that can still be taken in."""
        return self._n_slots - self.n

    def enter(self, keys: list[torch.Tensor], values: list[torch.Tensor]) -> int:
        """Take in a sequence by its keys and values after the prefix, [heads, length, head size] a layer."""
        if not self.keys:
            self.keys = [self._rows(state) for state in keys]
            self.values = [self._rows(state) for state in values]
        slot, length = self.n, keys[0].shape[1]
        for layer, (key, value) in enumerate(zip(keys, values, strict=True)):
            self.keys[layer][slot, :, :length] = key
            self.values[layer][slot, :, :length] = value
        self.lengths[slot] = length
        self.n += 1
        return slot

    def leave(self, slot: int) -> None:
        """Free a slot; the last one in use moves into it."""
        last = self.n - 1
        # What the next one here does not write over has no weight, but no weight times NaN is NaN.
        for states in self.values:
            states[slot].zero_()
        if slot != last:
            length = int(self.lengths[last])
            for states in (*self.keys, *self.values):
                states[slot, :, :length] = states[last, :, :length]
            self.lengths[slot] = length
        self.n = last

    def _rows(self, state: torch.Tensor) -> torch.Tensor:
        heads, _, size = state.shape
        return state.new_zeros((self._n_slots, heads, self.capacity, size))


class SlotLayout:
    """One new token for every slot in use: it sees the prefix and its own slot, itself included.

    The shared prefix is one dense product for all slots, so it is read once a step and not once a sequence.
    """

    def __init__(self, slots: Slots, device: torch.device) -> None:
        self.slots = slots
        self.rows = torch.arange(slots.n, device=device)
        self.lengths = slots.lengths[: slots.n].to(device)
        self.longest = int(slots.lengths[: slots.n].max()) + 1
        hidden = torch.arange(self.longest, device=device)[None, :] > self.lengths[:, None]
        self.hidden = hidden[:, None, None, :]

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float | None
    ) -> torch.Tensor:
        """Attention output of one layer for the new token of each slot; the token's key and value are stored in its
        slot."""
        n, heads, size = len(self.rows), query.shape[1], query.shape[3]
        kv_heads = key.shape[1]
        keys, values = self.slots.keys[layer][:n], self.slots.values[layer][:n]
        keys[self.rows, :, self.lengths] = key[0].transpose(0, 1)
        values[self.rows, :, self.lengths] = value[0].transpose(0, 1)
        keys, values = keys[:, :, : self.longest], values[:, :, : self.longest]
        # Query heads that share a key head stand together: [n, kv_heads, heads per kv_head, size].
        grouped = query[0].transpose(0, 1).reshape(n, kv_heads, heads // kv_heads, size)
        grouped = grouped * (size**-0.5 if scale is None else scale)
        own = torch.matmul(grouped, keys.transpose(2, 3)).float().masked_fill_(self.hidden, float("-inf"))
        if not self.slots.prefix.n_tokens:
            weights = torch.softmax(own, dim=-1).to(value.dtype)
            return torch.matmul(weights, values).reshape(n, heads, -1)
        by_head = grouped.transpose(0, 1).reshape(kv_heads, -1, size)
        shared = torch.matmul(by_head, self.slots.prefix.keys[layer][0].transpose(1, 2)).float()
        shared = shared.view(kv_heads, n, heads // kv_heads, -1).transpose(0, 1)
        weights = torch.softmax(torch.cat([shared, own], dim=-1), dim=-1).to(value.dtype)
        n_shared = shared.shape[-1]
        of_prefix = weights[..., :n_shared].transpose(0, 1).reshape(kv_heads, -1, n_shared)
        output = torch.matmul(of_prefix, self.slots.prefix.values[layer][0])
        output = output.view(kv_heads, n, heads // kv_heads, -1).transpose(0, 1)
        return (output + torch.matmul(weights[..., n_shared:], values)).reshape(n, heads, -1)
