"""What runs together, known before anything runs: by it work is divided over devices without changing a batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pass:
    """Something that runs as a whole: about how many tokens, and the places for whose sake it has to run."""

    n_tokens: int
    places: tuple[int, ...]


def divided(passes: Iterable[Pass], n: int) -> list[list[int]]:
    """The places of all passes in `n` shares of about equal numbers of tokens; neighbours stay together.

    A share may be empty, where there are few passes or one is large.
    """
    passes = list(passes)
    total = max(sum(one.n_tokens for one in passes), 1)
    shares: list[list[int]] = [[] for _ in range(n)]
    before = 0
    for one in passes:
        shares[min(n * (2 * before + one.n_tokens) // (2 * total), n - 1)].extend(one.places)
        before += one.n_tokens
    return shares


def of_batches(batches: Iterable[Sequence[int]], tokens: Sequence[int]) -> list[Pass]:
    """Padded batches as passes; `tokens` are those of each place."""
    return [Pass(len(batch) * max(tokens[place] for place in batch), tuple(batch)) for batch in batches]
