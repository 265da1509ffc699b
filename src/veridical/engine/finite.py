"""Results that are not finite are computed once more, alone, before they are given out.

What is masked out of an attention is multiplied by zero there, and NaN times zero is NaN: one sequence with a NaN makes
NaN of those that run in the same block.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from veridical.engine.hidden import HiddenStates
from veridical.engine.memory import TooLargeError

Scores = Iterable[tuple[int, float]]


def finite_or_alone(
    together: Scores,
    alone: Callable[[int], Scores],
    indices: Sequence[int],
    wanted: set[int],
    hidden: HiddenStates | None = None,
) -> Iterator[tuple[int, float]]:
    """(place, score) as they come of `together`, those that are not finite last and of `alone(place)`.

    `indices` names the sequences by place as `hidden` does, whose states at the `wanted` places are checked too;
    `alone` takes them anew.
    """
    doubtful: list[int] = []
    for place, score in together:
        if math.isfinite(score) or len(indices) == 1:
            yield place, score
        else:
            doubtful.append(place)
    if len(indices) == 1:
        return
    for place in doubtful:
        yield from ((place, score) for _, score in _at(place, alone))
    if hidden is not None:
        for place in (set(hidden.not_finite(indices)) & wanted) - set(doubtful):
            # Its score was finite, and is out; or it has none.
            for _ in _at(place, alone):
                pass


def _at(place: int, alone: Callable[[int], Scores]) -> list[tuple[int, float]]:
    try:
        return list(alone(place))
    except TooLargeError as error:
        raise TooLargeError([place]) from error
