"""Asking a remote model everything that its run still lacks."""

from __future__ import annotations

import time

from veridical.cluster.remote_model import RemoteModel
from veridical.cluster.units import Done, Unit, units
from veridical.progress import Progress
from veridical.runs.execute import RunTally
from veridical.runs.job import Job
from veridical.runs.manifest import Part
from veridical.runs.recorded import RecordedAsks
from veridical.runs.states import Layers, WantedStates
from veridical.runs.store import FLUSH_SECONDS, RunStore
from veridical.signals import raised


def execute_remotely(
    model: RemoteModel, store: RunStore, job: Job, progress: Progress, layers: Layers | None = None
) -> tuple[RunTally, tuple[str, ...]]:
    """Ask what is not stored yet: `veridical.runs.execute.execute` by workers; and what libraries warned of there.

    Workers write the parts of the run and report them; they are listed here, every `FLUSH_SECONDS`. Whatever ends it
    early, the answers that came are written first. Scores are those of one process, to the bit on devices of one kind
    with as many threads. Two equal requests in different windows may both be asked: one answer counts.

    Raises UserError as `execute` does, and where workers die over the same questions again and again.
    """
    recorded = RecordedAsks(store.path)
    states = None if layers is None else WantedStates(model.n_blocks, store.path, job.plans, layers)
    model.team.begin(list(job.plans), job.settings, store.path, model.fingerprint.digest)
    report = _Report(store)
    total = len(job) if not len(recorded) else sum(_n_lacking(unit) for unit in units(job, recorded, states, 0))
    with raised(defaults_only=True), progress.steps(f"asking {model.name}", total) as step:
        results = model.team.results(units(job, recorded, states, len(model.team)))
        try:
            for unit, done in results:
                report.take(done)
                if states is not None and done.states is not None:
                    for place, state in zip(done.places, done.states, strict=True):
                        states.keep(unit.asks[place], state, unit.layers)
                for _ in range(done.n_asks):
                    step()
        finally:
            results.close()  # type: ignore[attr-defined]  # a generator
            report.list_parts()
    return report.tally(len(job)), tuple(report.warnings)


def _n_lacking(unit: Unit) -> int:
    return sum(not stored or place in unit.lacking for place, stored in enumerate(unit.answered))


class _Report:
    """What came of the units so far."""

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._parts: list[Part] = []
        self._listed = time.monotonic()
        self._n_stored = self._n_answered = 0
        self._failures: dict[str, str] = {}
        self.warnings: dict[str, None] = {}

    def take(self, done: Done) -> None:
        """Count a unit, and list its parts when it is time."""
        self._parts.extend(done.parts)
        self._n_stored += done.n_stored
        self._n_answered += done.n_answered
        self._failures |= done.failures
        self.warnings |= dict.fromkeys(done.warnings)
        if time.monotonic() - self._listed >= FLUSH_SECONDS:
            self.list_parts()

    def list_parts(self) -> None:
        """List the parts that were reported since."""
        if self._parts:
            self._store.list_parts(self._parts)
            self._parts = []
        self._listed = time.monotonic()

    def tally(self, n_asks: int) -> RunTally:
        """What became of the job."""
        first = next(iter(self._failures.values()), "")
        return RunTally(n_asks, self._n_stored, self._n_answered, len(self._failures), first)
