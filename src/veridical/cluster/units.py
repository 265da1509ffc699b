"""What a worker is given at a time, and what it gives back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from veridical.runs.asks import Ask
from veridical.runs.job import Job
from veridical.runs.manifest import Part
from veridical.runs.recorded import RecordedAsks
from veridical.runs.states import WantedStates

SHARES_A_WORKER = 4
"""Units that each worker gets at least, so that none waits long for the last one."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One of `n_shares` shares of a window of asks.

    A window is what one process would prepare and batch together. Which of its asks a share holds is found by the
    worker from the window's passes. `known` are the keys under which asks are recorded, and `answered` says of which
    there is an answer. States are read at `layers` with the asks at the places `reading`, and kept of those `lacking`.
    """

    window: int
    asks: tuple[Ask, ...]
    known: tuple[str | None, ...]
    answered: tuple[bool, ...]
    share: int = 0
    n_shares: int = 1
    layers: tuple[int, ...] = ()
    reading: frozenset[int] = frozenset()
    lacking: frozenset[int] = frozenset()


@dataclass
class Done:
    """What became of a unit: the parts that were written, counts of distinct requests, and failures by key.

    `n_asks` are the asks of its share that lacked something. `states` [places, layers, width] are of the asks at
    `places`.
    """

    parts: list[Part] = field(default_factory=list)
    n_asks: int = 0
    n_stored: int = 0
    n_answered: int = 0
    failures: Mapping[str, str] = field(default_factory=dict)
    warnings: Sequence[str] = ()
    places: Sequence[int] = ()
    states: npt.NDArray[np.float32] | None = None


def units(job: Job, recorded: RecordedAsks, states: WantedStates | None, n_workers: int) -> Iterator[Unit]:
    """The units of a job, less the windows of which everything is stored."""
    n_windows = max(1, -(-len(job) // job.window_size))
    n_shares = max(1, -(-SHARES_A_WORKER * n_workers // n_windows))
    for number, window in enumerate(job.windows()):
        rows = recorded.rows(window)
        answered = recorded.has_answer(rows)
        lacking = frozenset(place for place, ask in enumerate(window) if states is not None and states.lack(ask))
        if answered.all() and not lacking:
            continue
        reading = frozenset(place for place, ask in enumerate(window) if states is not None and states.reads(ask))
        layers = () if states is None else states.layers_of(window)
        known, has_answer = tuple(recorded.keys(rows)), tuple(answered.tolist())
        for share in range(n_shares):
            yield Unit(number, tuple(window), known, has_answer, share, n_shares, layers, reading, lacking)
