"""Asking one model everything that its run still lacks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from veridical.models.protocol import LanguageModel, Outcome, Request, Resumable
from veridical.progress import Progress
from veridical.runs.asks import Ask
from veridical.runs.job import Job, Prepared
from veridical.runs.recorded import RecordedAsks
from veridical.runs.states import Layers, WantedStates, readable
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


def execute(
    model: LanguageModel, store: RunStore, job: Job, progress: Progress, layers: Layers | None = None
) -> RunTally:
    """Ask what is not stored yet, equal requests once, and store the answers as they come.

    A window of asks is prepared, recorded and answered after another; a window of which everything is stored is not
    even prepared. With `layers` the hidden states of every question that scores choices under these inputs, in the
    first order of its labels, are taken from the same passes, and stored when the last of its suite, prompt and input
    has been read; a question whose answer is stored and whose states are not runs again.
    Whatever ends it early (a signal, an error), the answers that came are stored first; the same call then goes on, and
    a model that is `Resumable` gives what it would have given without the interruption, to the bit.

    Raises UserError where an ask cannot be put to this model, and where hidden states are wanted of a model that has
    none to read.
    """
    recorded = RecordedAsks(store.path)
    states = None if layers is None else WantedStates(readable(model).n_blocks, store.path, job.plans, layers)
    answers = _Answers(store, recorded.answered)
    total = _n_lacking(job, recorded, states)
    with raised(defaults_only=True), progress.steps(f"asking {model.name}", total) as step:
        try:
            for window in job.windows():
                rows = recorded.rows(window)
                known = recorded.keys(rows)
                if not _lacking(window, recorded.has_answer(rows), states):
                    answers.found(known)
                    continue
                prepared = job.prepared(window)
                store.add_requests(one for one, key in zip(prepared, known, strict=True) if one[2] != key)
                requests = {key: request for _, request, key in prepared}
                missing = answers.missing(requests)
                pending = Counter(key for ask, _, key in prepared if key in missing or (states and states.lack(ask)))
                for key, outcome in _outcomes(model, prepared, missing, states):
                    answers.keep(key, fault_of(requests[key], outcome), outcome)
                    for _ in range(pending.pop(key, 0)):
                        step()
        finally:
            store.flush()
    return answers.tally(len(job))


def _lacking(window: Sequence[Ask], has_answer: npt.NDArray[np.bool_], states: WantedStates | None) -> int:
    """How many asks of a window have no answer, or lack states that are wanted."""
    if states is None:
        return int((~has_answer).sum())
    return sum(not stored or states.lack(ask) for ask, stored in zip(window, has_answer, strict=True))


def _n_lacking(job: Job, recorded: RecordedAsks, states: WantedStates | None) -> int:
    if not len(recorded):
        return len(job)
    return sum(_lacking(window, recorded.has_answer(recorded.rows(window)), states) for window in job.windows())


@dataclass
class _Answers:
    """The answers of a job by key: those that were `stored` before it began, those that came, and failures."""

    store: RunStore
    stored: frozenset[str]
    found_stored: set[str] = field(default_factory=set)
    came: set[str] = field(default_factory=set)
    failures: dict[str, str] = field(default_factory=dict)

    def found(self, keys: Iterable[str | None]) -> None:
        """Count answers that were stored before."""
        self.found_stored.update(key for key in keys if key in self.stored)

    def missing(self, keys: Iterable[str]) -> set[str]:
        """Those of the keys that have no answer yet; the others are counted."""
        distinct = set(keys)
        self.found(distinct)
        return distinct - self.stored - self.came

    def keep(self, key: str, fault: str, outcome: Outcome) -> None:
        """Store an answer that is not stored yet. One with a fault is none, and is asked again by the next call."""
        if fault:
            self.failures[key] = fault
        elif key not in self.stored and key not in self.came:
            self.store.add(key, outcome)
            self.came.add(key)
            self.failures.pop(key, None)

    def tally(self, n_asks: int) -> RunTally:
        """What became of the job."""
        return RunTally(
            n_asks=n_asks,
            n_stored=len(self.found_stored),
            n_answered=len(self.came),
            n_failed=len(self.failures),
            first_failure=next(iter(self.failures.values()), ""),
        )


def _outcomes(
    model: LanguageModel, window: Sequence[Prepared], missing: Collection[str], states: WantedStates | None
) -> Iterator[tuple[str, Outcome]]:
    """(key, outcome) of the requests of a window whose answer is missing, or whose states are.

    What is read and what is only asked are two jobs, whatever of them is stored: batches depend on the whole job.
    """
    reading = {} if states is None else states.read_with(window)
    asking = {key: request for _, request, key in window if key not in reading}
    if states is not None:
        yield from states.answer(readable(model), window, missing)
    yield from answers_of(model, asking, missing)


def answers_of(
    model: LanguageModel, asking: Mapping[str, Request], missing: Collection[str]
) -> Iterator[tuple[str, Outcome]]:
    """(key, outcome) of the requests that are missing, in the batches of all where the model is `Resumable`."""
    wanted = [row for row, key in enumerate(asking) if key in missing]
    if not wanted:
        return  # a model need not cope with nothing to do
    keys, requests = list(asking), list(asking.values())
    if isinstance(model, Resumable):
        found = model.answer_some(requests, wanted)
    else:
        keys, found = [keys[row] for row in wanted], model.answer([requests[row] for row in wanted])
    for position, outcome in found:
        yield keys[position], outcome


def fault_of(request: Request, outcome: Outcome) -> str:
    """Why an outcome does not answer its request; empty where it does."""
    if outcome.status is Status.ERROR:
        return outcome.detail or "no reason was given"
    if request.unconditional and any(score.unconditional is None for score in outcome.scores):
        return "the scores without context are missing"
    return ""
