"""Asking one model everything that its run still lacks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from veridical.errors import UserError
from veridical.models.protocol import (
    GenerationSettings,
    LanguageModel,
    Outcome,
    Readable,
    Request,
    RequestedStates,
    Resumable,
)
from veridical.progress import Progress
from veridical.runs.hidden import Hidden, StatesKey, read_hidden, resolve_layers, write_hidden
from veridical.runs.plan import Ask, Plan, query
from veridical.runs.store import RunStore
from veridical.signals import raised
from veridical.status import Status


@dataclass(frozen=True, slots=True)
class RunTally:
    """What became of a run's asks: counts of distinct requests, and what the first failure said."""

    n_asks: int
    n_stored: int
    n_answered: int
    n_failed: int
    first_failure: str = ""


Prepared = tuple[Ask, Request, str]
"""An ask, its request and the request's key."""

Layers = Mapping[str, Sequence[int] | None]
"""Input to the layers whose hidden states are wanted under it; all of them where None."""


def prepare(
    model: LanguageModel, plans: Sequence[Plan], settings: GenerationSettings, progress: Progress
) -> list[Prepared]:
    """Every ask as this model sees it, with its key. No forward pass, and nothing is written.

    Raises UserError where an ask cannot be put to this model.
    """
    fingerprint = model.fingerprint.digest
    prepared: list[Prepared] = []
    with progress.steps("preparing", sum(len(plan.asks) for plan in plans)) as step:
        for plan in plans:
            for ask in plan.asks:
                put = query(plan.suite, ask)
                request = model.prepare(put, settings if ask.mode == "generate" else None)
                if plan.suite.normalisation == "unconditional" and put.unconditional and not request.unconditional:
                    raise UserError(
                        f"model {model.name!r} gives no scores without context, which suite {plan.suite.name!r} "
                        "needs (its normalisation is 'unconditional'): ask another suite, or another model"
                    )
                prepared.append((ask, request, request.key(fingerprint, ask.repeat)))
                step()
    return prepared


def execute(
    model: LanguageModel,
    store: RunStore,
    prepared: Sequence[Prepared],
    progress: Progress,
    layers: Layers | None = None,
) -> RunTally:
    """Ask what is not stored yet, equal requests once, and store the answers as they come.

    With `layers` the hidden states of every question that scores choices under these inputs, in the first order of its
    labels, are taken from the same passes and stored at the end; a question whose answer is stored and whose states are
    not runs again.
    Whatever ends it early (a signal, an error), the answers that came are stored first; the same call then goes on, and
    a model that is `Resumable` gives what it would have given without the interruption, to the bit.

    Raises UserError where hidden states are wanted of a model that has none to read.
    """
    store.add_requests(prepared)
    answered = store.answered()
    distinct = {key: request for _, request, key in prepared}
    missing = {key: request for key, request in distinct.items() if key not in answered}
    # What is read and what is only asked are two jobs, whatever of them is stored: batches depend on the whole job.
    to_read = {} if layers is None else _to_read(prepared, layers)
    unread = [] if layers is None else _unread(model, store.path, to_read, layers)
    reading = {key: request for group in to_read.values() for _, request, key in group}
    asking = {key: request for key, request in distinct.items() if key not in reading}
    failures: dict[str, str] = {}

    def keep(key: str, outcome: Outcome) -> None:
        if fault := _fault(distinct[key], outcome):
            failures[key] = fault
        elif key not in answered:
            store.add(key, outcome)

    with raised(defaults_only=True):
        try:
            wanted = {key for part in unread for _, _, key in part.asks} | {key for key in reading if key in missing}
            if wanted:
                taken = tuple(sorted({layer for part in unread for layer in part.layers}))
                states = _read(_readable(model), reading, wanted, taken, progress, keep)
                store.flush()
                for part in unread:
                    write_hidden(store.path, part.asked, part.gathered(states, taken))
            wanted = {key for key in asking if key in missing}
            with progress.steps(f"asking {model.name}", len(wanted)) as step:
                for key, outcome in _answers(model, asking, wanted):
                    keep(key, outcome)
                    step()
        finally:
            store.flush()
    return RunTally(
        n_asks=len(prepared),
        n_stored=len(distinct) - len(missing),
        n_answered=len(missing) - len(failures),
        n_failed=len(failures),
        first_failure=next(iter(failures.values()), ""),
    )


def _answers(
    model: LanguageModel, requests: Mapping[str, Request], wanted: Collection[str]
) -> Iterator[tuple[str, Outcome]]:
    """(key, outcome) of the wanted requests."""
    if not wanted:
        return  # a model need not cope with nothing to do
    if isinstance(model, Resumable):
        keys = list(requests)
        found = model.answer_some(list(requests.values()), [n for n, key in enumerate(keys) if key in wanted])
    else:
        keys = [key for key in requests if key in wanted]
        found = model.answer([requests[key] for key in keys])
    yield from ((keys[position], outcome) for position, outcome in found)


def _fault(request: Request, outcome: Outcome) -> str:
    """Why an outcome does not answer its request; empty where it does."""
    if outcome.status is Status.ERROR:
        return outcome.detail or "no reason was given"
    if request.unconditional and any(score.unconditional is None for score in outcome.scores):
        return "the scores without context are missing"
    return ""


@dataclass(frozen=True)
class _Unread:
    """Questions of one suite, prompt and input of which the states at `layers` are not all stored."""

    asked: StatesKey
    layers: tuple[int, ...]
    asks: tuple[Prepared, ...]

    def gathered(self, states: Mapping[str, npt.NDArray[np.float32]], layers: tuple[int, ...]) -> Hidden:
        """Their part of `states`: each request's [layers, width] by key."""
        places = [layers.index(layer) for layer in self.layers]
        items = tuple(ask.item for ask, _, _ in self.asks)
        return Hidden(items, self.layers, np.stack([states[key][places] for _, _, key in self.asks]))


def _readable(model: LanguageModel) -> Readable:
    if not isinstance(model, Readable):
        raise UserError(
            f"model {model.name!r} has no hidden states to read: give local weights (smollm2, hf/..., gguf/...)"
        )
    return model


def _to_read(prepared: Sequence[Prepared], layers: Layers) -> dict[StatesKey, list[Prepared]]:
    groups: dict[StatesKey, list[Prepared]] = {}
    for one in prepared:
        ask, request, _ = one
        if request.scores_choices and ask.order == 0 and ask.repeat == 0 and ask.input in layers:
            groups.setdefault(StatesKey(ask.suite, ask.prompt, ask.input), []).append(one)
    return groups


def _unread(
    model: LanguageModel, run: Path, groups: Mapping[StatesKey, Sequence[Prepared]], layers: Layers
) -> list[_Unread]:
    n_blocks = _readable(model).n_blocks
    unread = []
    for asked, group in groups.items():
        wanted = layers[asked.input]
        resolved = resolve_layers(range(n_blocks + 1) if wanted is None else wanted, n_blocks)
        stored = read_hidden(run, asked)
        if stored is None or not stored.holds([ask.item for ask, _, _ in group], resolved):
            unread.append(_Unread(asked, resolved, tuple(group)))
    return unread


def _read(
    model: Readable,
    requests: Mapping[str, Request],
    wanted: Collection[str],
    layers: tuple[int, ...],
    progress: Progress,
    keep: Callable[[str, Outcome], None],
) -> dict[str, npt.NDArray[np.float32]]:
    """Ask the wanted requests and take the states [layers, width] of each, by key."""
    reading = RequestedStates(layers)
    keys = list(requests)
    places = [place for place, key in enumerate(keys) if key in wanted]
    with progress.steps("asking and reading", len(places)) as step:
        for position, outcome in model.answer_and_read(list(requests.values()), reading, places):
            keep(keys[position], outcome)
            step()
    if reading.states is None:
        raise RuntimeError("the model answered and gave no hidden states")
    return dict(zip(keys, reading.states, strict=True))
