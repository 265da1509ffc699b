"""The asks of a plan: made one after another when they are wanted, since there may be millions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import overload

from veridical.items import Item, Mode
from veridical.prompts.template import rotations


@dataclass(frozen=True, slots=True)
class Ask:
    """One question put once. `labels` are in the order in which the prompt names them.

    In mode `classify` there is no prompt (its name is empty) and no order but the item's own.
    """

    suite: str
    item: str
    input: str
    prompt: str
    order: int
    mode: Mode
    repeat: int
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """Items of a suite, asked under one prompt, input and mode, in `orders` rotations of their labels (0: all)."""

    suite: str
    items: Sequence[Item]
    input: str
    prompt: str
    mode: Mode
    orders: int
    repeats: int

    def __len__(self) -> int:
        return self.repeats * sum(len(rotations(item.labels, self.orders)) for item in self.items)

    def __iter__(self) -> Iterator[Ask]:
        for item in self.items:
            for order, labels in enumerate(rotations(item.labels, self.orders)):
                for repeat in range(self.repeats):
                    yield Ask(self.suite, item.id, self.input, self.prompt, order, self.mode, repeat, labels)


@dataclass(frozen=True)
class Asks(Sequence[Ask]):
    """The asks of blocks, one block after another."""

    blocks: tuple[Block, ...]

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _count(self) -> int:
        return sum(map(len, self.blocks))

    def __iter__(self) -> Iterator[Ask]:
        for block in self.blocks:
            yield from block

    @overload
    def __getitem__(self, index: int) -> Ask: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Ask, ...]: ...
    def __getitem__(self, index: int | slice) -> Ask | tuple[Ask, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return tuple(islice(self, start, stop, step)) if step > 0 else tuple(self)[index]
        place = range(len(self))[index]
        return next(islice(self, place, None))

    def firsts(self) -> Iterator[Ask]:
        """The first ask of each block."""
        for block in self.blocks:
            yield from islice(block, 1)

    @property
    def item_ids(self) -> set[str]:
        """The items that are asked."""
        return {item.id for block in self.blocks for item in block.items}
