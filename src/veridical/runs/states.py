"""Hidden states that a job takes from the passes that answer it, and where they are put."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veridical.errors import UserError
from veridical.models.protocol import LanguageModel, Outcome, Readable, Request, RequestedStates
from veridical.runs.asks import Ask
from veridical.runs.hidden import Hidden, StatesKey, read_hidden, resolve_layers, write_hidden
from veridical.runs.job import Prepared
from veridical.runs.plan import Plan

Layers = Mapping[str, Sequence[int] | None]
"""Input to the layers whose hidden states are wanted under it; all of them where None."""


@dataclass
class _Unread:
    """Questions of one suite, prompt and input of which the states at `layers` are not all stored; `read` so far."""

    items: tuple[str, ...]
    layers: tuple[int, ...]
    read: dict[str, npt.NDArray[np.float32]] = field(default_factory=dict)


def readable(model: LanguageModel) -> Readable:
    """The model, as one whose hidden states can be read. Raises UserError where it has none."""
    if not isinstance(model, Readable):
        raise UserError(
            f"model {model.name!r} has no hidden states to read: give local weights (smollm2, hf/..., gguf/...)"
        )
    return model


def answer_and_read(
    model: Readable, requests: Mapping[str, Request], wanted: Collection[str], reading: RequestedStates
) -> Iterator[tuple[str, Outcome]]:
    """(key, outcome) of the wanted requests, in the batches of all; `reading` has a row for each of all requests."""
    keys = list(requests)
    rows = [row for row, key in enumerate(keys) if key in wanted]
    for position, outcome in model.answer_and_read(list(requests.values()), reading, rows):
        yield keys[position], outcome
    if reading.states is None:
        raise RuntimeError("the model answered and gave no hidden states")


class WantedStates:
    """The hidden states of every question that scores choices under some inputs, in the first order of its labels.

    Raises UserError for a layer that a model of so many blocks does not have.
    """

    def __init__(self, n_blocks: int, run: Path, plans: Sequence[Plan], layers: Layers) -> None:
        self._run = run
        self._inputs = frozenset(layers)
        self._unread: dict[StatesKey, _Unread] = {}
        for block in (block for plan in plans for block in plan.asks.blocks):
            if block.mode == "generate" or block.input not in layers:
                continue
            wanted = layers[block.input]
            resolved = resolve_layers(range(n_blocks + 1) if wanted is None else wanted, n_blocks)
            asked, items = StatesKey(block.suite, block.prompt, block.input), tuple(item.id for item in block.items)
            stored = read_hidden(run, asked)
            if stored is None or not stored.holds(items, resolved):
                self._unread[asked] = _Unread(items, resolved)

    def lack(self, ask: Ask) -> bool:
        """Whether the states of this question are wanted and not stored."""
        return self.reads(ask) and _group(ask) in self._unread

    def reads(self, ask: Ask) -> bool:
        """Whether the states of this question are wanted, stored or not."""
        return ask.mode != "generate" and ask.order == 0 and ask.repeat == 0 and ask.input in self._inputs

    def read_with(self, window: Sequence[Prepared]) -> dict[str, Request]:
        """The requests of a window from whose passes states are taken, stored or not: batches depend on all of them."""
        return {key: request for ask, request, key in window if self.reads(ask)}

    def layers_of(self, asks: Iterable[Ask]) -> tuple[int, ...]:
        """The layers at which the states of one of these questions are wanted and not stored."""
        return tuple(sorted({layer for ask in asks if self.lack(ask) for layer in self._unread[_group(ask)].layers}))

    def answer(
        self, model: Readable, window: Sequence[Prepared], missing: Collection[str]
    ) -> Iterator[tuple[str, Outcome]]:
        """(key, outcome) of the questions of a window whose states are not stored, or whose answer is missing.

        States are written as soon as those of a suite, prompt and input are complete.
        """
        requests = self.read_with(window)
        lacking = [(ask, key) for ask, _, key in window if self.lack(ask)]
        wanted = {key for _, key in lacking} | {key for key in requests if key in missing}
        if not wanted:
            return
        reading = RequestedStates(self.layers_of(ask for ask, _ in lacking))
        yield from answer_and_read(model, requests, wanted, reading)
        assert reading.states is not None
        states = dict(zip(requests, reading.states, strict=True))
        for ask, key in lacking:
            self.keep(ask, states[key], reading.layers)

    def keep(self, ask: Ask, state: npt.NDArray[np.float32], layers: tuple[int, ...]) -> None:
        """Keep one question's states [layers, width]; write those of its group when they are complete."""
        group = self._unread[_group(ask)]
        group.read[ask.item] = state[[layers.index(layer) for layer in group.layers]]
        if len(group.read) == len(group.items):
            states = np.stack([group.read[item] for item in group.items])
            write_hidden(self._run, _group(ask), Hidden(group.items, group.layers, states))
            del self._unread[_group(ask)]


def _group(ask: Ask) -> StatesKey:
    return StatesKey(ask.suite, ask.prompt, ask.input)
