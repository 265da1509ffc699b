"""How much runs at once, and what to do when it was too much."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

import torch

R = TypeVar("R")
Attempt = Callable[[list[int], set[int]], Iterator[tuple[int, R]]]

LEAST_BATCH_TOKENS = 16

NO_MORE = ("can't allocate memory", "not enough memory", "out of memory", "_STATUS_ALLOC_FAILED")
"""What allocators say that have no type of error of their own: the CPU's, other accelerators', CUDA libraries'."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an allocator, of the accelerator or of the CPU, reported that it is out of memory."""
    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(words in str(error) for words in NO_MORE)


class TooLargeError(Exception):
    """Some sequences do not fit into memory even alone. `places` says which."""

    def __init__(self, places: Sequence[int]) -> None:
        super().__init__(f"{len(places)} sequence(s) do not fit into memory, each alone in a pass")
        self.places = tuple(places)


def planning_the_rest(attempt: Callable[[list[int]], Iterator[tuple[int, R]]]) -> Attempt[R]:
    """For `Budget.each`: an attempt that plans its batches of what is left, where nothing is resumed."""

    def of_rest(planned: list[int], wanted: set[int]) -> Iterator[tuple[int, R]]:
        rest = sorted(wanted)
        try:
            for place, result in attempt([planned[place] for place in rest]):
                yield rest[place], result
        except TooLargeError as error:
            raise TooLargeError([rest[place] for place in error.places]) from error

    return of_rest


@contextmanager
def alone_or_smaller(batch: Sequence[int]) -> Iterator[None]:
    """Within this context memory that runs out is the fault of the only sequence in `batch`, where it is the only one.

    It raises TooLargeError then: no smaller batch would help.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if len(batch) > 1 or not is_out_of_memory(error):
            raise
        raise TooLargeError(batch) from error


class Budget:
    """How many tokens a forward pass may hold. Halved, for good, whenever memory runs out."""

    def __init__(self, batch_tokens: int) -> None:
        if batch_tokens < 1:
            raise ValueError(f"a batch of {batch_tokens} tokens holds nothing")
        self.batch_tokens = batch_tokens

    def each(self, n: int, attempt: Attempt[R], wanted: Collection[int] | None = None) -> Iterator[tuple[int, R]]:
        """(index below `n`, result) for those `wanted` (all where None); begun again with half the batch.

        `attempt` takes the indices by which batches are planned and the places among them that are still wanted. It
        yields (place, result), or raises TooLargeError of such a place: the others go on without it. So batches depend
        on the whole job and not on what of it is left. Raises TooLargeError in the end, where there was one, and what
        the allocator raised once a batch of 16 tokens does not fit either.
        """
        planned = list(range(n))
        left = set(planned if wanted is None else wanted)
        # Places alone are kept: an error holds on to the tensors of the pass that it ended.
        too_large: list[int] = []
        while left:
            try:
                for place, result in attempt(planned, {place for place, index in enumerate(planned) if index in left}):
                    left.discard(planned[place])
                    yield planned[place], result
            except TooLargeError as error:
                lost = {planned[place] for place in error.places}
                too_large.extend(sorted(lost & left))
                left -= lost
                planned = [index for index in planned if index not in lost]
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error) or self.batch_tokens <= LEAST_BATCH_TOKENS:
                    raise
                self.batch_tokens //= 2
            else:
                break
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
        if too_large:
            raise TooLargeError(too_large)
