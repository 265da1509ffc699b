"""Greedy generation: shared prefixes once, and a finished sequence's slot refilled at once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import torch
from transformers import PreTrainedModel

from veridical.engine.attention import NAME, PackedLayout, Prefix, attention_of, laid_out
from veridical.engine.families import Family, families
from veridical.engine.logits import only_rows
from veridical.engine.memory import Budget
from veridical.engine.packing import Packed, pack, pack_piece
from veridical.engine.passes import Pass
from veridical.engine.slots import SlotLayout, Slots
from veridical.engine.trie import Trie

SLOT_MEMORY = 2**30
"""Bytes of keys and values that the slots of a batch may take."""
MOST_SLOTS = 64
PART = 4 * MOST_SLOTS
PART_ON_ACCELERATOR = 64 * MOST_SLOTS
"""Prompts that are finished before the next are begun: what a resumed run may have to generate again.

At the end of a part slots run empty. That costs little on a processor, where a step of fewer sequences is shorter; on
an accelerator it is not, and there many more are generated in a minute.
"""

_NONE = -1
"""In the place of a token: there is no best one."""

Limit = int | Sequence[int]
"""Most new tokens: of every prompt, or one number a prompt."""

Ends = Callable[[Sequence[int]], bool]
"""Whether new tokens are a whole answer, though the last of them is not a stop token."""


@dataclass(frozen=True, slots=True)
class Generated:
    """Token ids without the stop token, and why they end.

    `stop`, also where `Ends` said so, of which the last token is then one; `length` at the limit; `non_finite` where
    the logits of the next token were not numbers, so that there is no best one.
    """

    tokens: tuple[int, ...]
    finish: Literal["stop", "length", "non_finite"]


@dataclass(slots=True)
class _Open:
    """A sequence in the making; `tokens` ends with the one that is to be run next."""

    prompt: int
    position: int
    limit: int
    tokens: list[int] = field(default_factory=list)


class Generator:
    """Greedy decoding of many prompts with one model."""

    def __init__(
        self, model: PreTrainedModel, budget: Budget, stop: frozenset[int], ends: Ends = lambda tokens: False
    ) -> None:
        self.model = model
        self.budget = budget
        self.stop = stop
        self.ends = ends

    def generate(
        self, prompts: Sequence[tuple[int, ...]], max_new_tokens: Limit, wanted: Collection[int] | None = None
    ) -> Iterator[tuple[int, Generated]]:
        """(index, what was generated) for each non-empty prompt, as it is finished.

        Where some alone are `wanted`, prompts run in the parts in which all would, and parts without a wanted one are
        left out: where logits tie but for rounding, which moves with the batch, the texts are those of generating all.
        """
        limits = [max_new_tokens] * len(prompts) if isinstance(max_new_tokens, int) else max_new_tokens
        return self.budget.each(
            len(prompts),
            lambda indices, places: self._generate([prompts[i] for i in indices], [limits[i] for i in indices], places),
            wanted,
        )

    @torch.inference_mode()
    def _generate(
        self, prompts: Sequence[tuple[int, ...]], limits: Sequence[int], wanted: set[int]
    ) -> Iterator[tuple[int, Generated]]:
        for family in families(prompts):
            parts = self._parts(family, prompts)
            chosen = [part for part in parts if not wanted.isdisjoint(part)]
            prefix = self._shared(prompts[family.prompts[0]][: family.n_shared]) if chosen else Prefix()
            for part in chosen:
                finished = self._run(Family(family.n_shared, tuple(part)), prefix, prompts, limits)
                yield from ((index, text) for index, text in finished if index in wanted)

    def passes(self, prompts: Sequence[tuple[int, ...]], limits: Sequence[int]) -> list[Pass]:
        """The parts in which all of these prompts would be generated for; each prompt is a place of one of them."""
        parts = (part for family in families(prompts) for part in self._parts(family, prompts))
        return [Pass(sum(len(prompts[place]) + limits[place] for place in part), tuple(part)) for part in parts]

    def _parts(self, family: Family, prompts: Sequence[tuple[int, ...]]) -> list[list[int]]:
        """Prompts of a family that are finished before the next are begun."""
        # In order of their tokens, neighbours begin alike and share what is to be run of them.
        ordered = sorted(family.prompts, key=prompts.__getitem__)
        size = PART if self.model.device.type == "cpu" else PART_ON_ACCELERATOR
        return [ordered[start : start + size] for start in range(0, len(ordered), size)]

    def _run(
        self, family: Family, prefix: Prefix, prompts: Sequence[tuple[int, ...]], limits: Sequence[int]
    ) -> Iterator[tuple[int, Generated]]:
        waiting = list(reversed(family.prompts))
        capacity = max(len(prompts[index]) + limits[index] for index in waiting) - family.n_shared
        slots = Slots(prefix, self._n_slots(capacity, len(waiting)), capacity)
        active: list[_Open] = []
        while waiting or active:
            # Prefilling a few prompts at a time costs a pass over the weights for little; wait for an eighth.
            if waiting and (not active or slots.free * 8 >= slots.n + slots.free):
                batch = self._next_batch(waiting, prompts, family.n_shared, slots.free)
                logits = self._prefill(batch, prompts, family.n_shared, slots)
                active.extend(_Open(index, len(prompts[index]), limits[index]) for index in batch)
                fresh = active[-len(batch) :]
            else:
                logits = self._step(active, slots)
                fresh = active
            for sequence, token in zip(fresh, _best(logits), strict=True):
                sequence.tokens.append(token)
            yield from self._finished(active, slots)

    def _finished(self, active: list[_Open], slots: Slots) -> Iterator[tuple[int, Generated]]:
        for slot in reversed(range(len(active))):
            sequence = active[slot]
            last = sequence.tokens[-1]
            ended = last == _NONE or last in self.stop or self.ends(sequence.tokens)
            if not ended and len(sequence.tokens) < sequence.limit:
                continue
            slots.leave(slot)
            active[slot] = active[-1]
            active.pop()
            if last == _NONE or last in self.stop:
                yield sequence.prompt, Generated(tuple(sequence.tokens[:-1]), "non_finite" if last == _NONE else "stop")
            else:
                yield sequence.prompt, Generated(tuple(sequence.tokens), "stop" if ended else "length")

    def _next_batch(
        self, waiting: list[int], prompts: Sequence[tuple[int, ...]], n_shared: int, free: int
    ) -> list[int]:
        """Prompts for the free slots, as many as one pass holds; taken off `waiting`."""
        batch: list[int] = []
        tokens = 0
        while waiting and len(batch) < free:
            tokens += len(prompts[waiting[-1]]) - n_shared
            if batch and tokens > self.budget.batch_tokens:
                break
            batch.append(waiting.pop())
        return batch

    def _shared(self, tokens: tuple[int, ...]) -> Prefix:
        prefix = Prefix()
        for start in range(0, len(tokens), self.budget.batch_tokens):
            piece = tokens[start : start + self.budget.batch_tokens]
            packed = pack_piece(piece, start, dtype=self.model.dtype, device=self.model.device)
            longer = Prefix()
            self._forward(packed, PackedLayout(packed, prefix, longer), rows=[])
            prefix = longer
        return prefix

    def _prefill(
        self, batch: Sequence[int], prompts: Sequence[tuple[int, ...]], n_shared: int, slots: Slots
    ) -> torch.Tensor:
        """Run what the prompts have of their own; returns the logits of each one's first new token."""
        trie = Trie([prompts[index][n_shared:] for index in batch])
        packed = pack(trie, trie.roots, n_shared, dtype=self.model.dtype, device=self.model.device, start=n_shared)
        kept = Prefix()
        last = [packed.first[end] + len(trie.segments[end].tokens) - 1 for end in trie.ends]
        logits = self._forward(packed, PackedLayout(packed, slots.prefix, kept), rows=last)
        if len(batch) > 1 and _NONE in _best(logits):
            # A NaN of one prompt may have reached the others through their padding.
            return torch.cat([self._prefill([index], prompts, n_shared, slots) for index in batch])
        for end in trie.ends:
            path = torch.tensor(_places(trie, packed, end), device=self.model.device) + n_shared
            slots.enter(
                [k[0].index_select(1, path) for k in kept.keys], [v[0].index_select(1, path) for v in kept.values]
            )
        return logits

    def _step(self, active: Sequence[_Open], slots: Slots) -> torch.Tensor:
        """One token for every active sequence; returns their next logits, [n, vocabulary]."""
        device = self.model.device
        ids = torch.tensor([sequence.tokens[-1] for sequence in active], device=device)
        positions = torch.tensor([sequence.position + len(sequence.tokens) - 1 for sequence in active], device=device)
        with attention_of(self.model, NAME), laid_out(SlotLayout(slots, device)):
            logits: torch.Tensor = self.model(
                input_ids=ids.unsqueeze(0), position_ids=positions.unsqueeze(0), use_cache=False
            ).logits[0]
        slots.lengths[: slots.n] += 1
        return logits

    def _forward(self, packed: Packed, layout: PackedLayout, rows: Sequence[int]) -> torch.Tensor:
        wanted = torch.tensor(rows, dtype=torch.long, device=packed.ids.device)
        with attention_of(self.model, NAME), laid_out(layout), only_rows(self.model, wanted):
            output = self.model(
                input_ids=packed.ids.unsqueeze(0), position_ids=packed.positions.unsqueeze(0), use_cache=False
            )
        logits: torch.Tensor = output.logits[0]
        return logits

    def _n_slots(self, capacity: int, n_prompts: int) -> int:
        config = self.model.config.get_text_config()
        heads = getattr(config, "num_key_value_heads", None) or config.num_attention_heads
        size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
        a_token: int = 2 * config.num_hidden_layers * heads * size * self.model.dtype.itemsize
        return max(1, min(MOST_SLOTS, n_prompts, self.budget.batch_tokens, SLOT_MEMORY // (a_token * capacity)))


def _best(logits: torch.Tensor) -> list[int]:
    """The token of the largest logit in each row of [n, vocabulary]; `_NONE` where one is NaN, or the largest infinite.

    The arg max takes a NaN for the largest, so its value shows whether there is one.
    """
    best = logits.argmax(dim=-1, keepdim=True)
    return torch.where(logits.gather(-1, best).isfinite(), best, _NONE).squeeze(-1).tolist()


def _places(trie: Trie, packed: Packed, end: int) -> list[int]:
    """Where in the batch the tokens of the sequence that ends in `end` stand, first to last."""
    path: list[int] = []
    while end >= 0:
        path[:0] = range(packed.first[end], packed.first[end] + len(trie.segments[end].tokens))
        end = trie.segments[end].parent
    return path
