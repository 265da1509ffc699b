"""A worker: one model on one device, which prepares its share of a window, answers it and writes parts of the run."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from veridical import models
from veridical.cluster.units import Done, Unit
from veridical.engine.passes import divided
from veridical.errors import UserError
from veridical.files.parquet_parts import add_part
from veridical.items import Mode
from veridical.library_messages import collected
from veridical.models.protocol import (
    Divisible,
    Fingerprint,
    GenerationSettings,
    LanguageModel,
    LoadedFromFiles,
    LoadingNotes,
    Probed,
    Request,
    RequestedStates,
)
from veridical.models.settings import LoadSettings
from veridical.progress import Silent
from veridical.runs.execute import answers_of, fault_of
from veridical.runs.job import Job, Prepared, prepare
from veridical.runs.manifest import Part, is_run
from veridical.runs.plan import Plan
from veridical.runs.states import answer_and_read, readable
from veridical.runs.store import AnswerBuffer, requests_frame

if TYPE_CHECKING:
    from veridical.engine.probes import Probes


@dataclass(frozen=True)
class Description:
    """What a driver knows of the model that its workers hold."""

    name: str
    fingerprint: Fingerprint
    n_parameters: int | None
    modes: tuple[Mode, ...]
    loading: LoadingNotes
    probed: bool


class Worker:
    """Holds a model, and answers units of one job after another. `stop` may be called from another thread."""

    def __init__(self, spec: str, settings: LoadSettings, threads: int | None = None) -> None:
        """Load the model; `threads` bounds those of a processor. Raises UserError where it cannot be loaded."""
        if threads is not None:
            import torch

            torch.set_num_threads(threads)
        model = models.load_with(spec, settings)
        if not isinstance(model, Divisible):
            raise UserError(f"model {spec!r} is run by a server, which needs no workers: leave --engine ray out")
        self.hold(model)

    def hold(self, model: LanguageModel) -> None:
        """Take a model that is loaded, which is `Divisible` too."""
        self._model = model
        self._stopped = threading.Event()
        self._window: tuple[int, list[Prepared]] | None = None
        self._plans: Sequence[Plan] = ()
        self._settings = GenerationSettings()
        self._run = Path()

    def describe(self) -> Description:
        """The model."""
        model = self._model
        loading = model.loading if isinstance(model, LoadedFromFiles) else LoadingNotes()
        probed = isinstance(model, Probed)
        return Description(model.name, model.fingerprint, model.n_parameters, model.modes, loading, probed)

    def probe(self) -> Probes:
        """The model's probes. Raises TypeError where it has none."""
        if not isinstance(self._model, Probed):
            raise TypeError(f"{self._model.name} has no probes")
        return self._model.probe()

    def n_blocks(self) -> int:
        """Number of blocks. Raises UserError where hidden states cannot be read."""
        return readable(self._model).n_blocks

    def try_job(self, plans: Sequence[Plan], settings: GenerationSettings) -> None:
        """Prepare the first asks of a job, which are kept. Raises UserError where one cannot be put to this model."""
        self._plans, self._settings = plans, settings
        self._window = (0, list(Job.begin(self._model, plans, settings, Silent()).first))

    def begin(self, job: tuple[Sequence[Plan], GenerationSettings], run: Path, fingerprint: str) -> None:
        """Take a job. Raises UserError for other weights than the driver knows of, or a run that is not seen here."""
        if self._model.fingerprint.digest != fingerprint:
            raise UserError(
                f"model {self._model.name!r}: the workers of the cluster have loaded different files under this name: "
                "give every machine the same"
            )
        if not is_run(run):
            raise UserError(f"{run} is not there on every machine of the cluster: give --out a folder that all share")
        if _described(*job) != _described(self._plans, self._settings):
            self._window = None
        (self._plans, self._settings), self._run = job, run
        self._stopped.clear()

    def stop(self) -> None:
        """End the unit that is being answered after its next answer; what came is written."""
        self._stopped.set()

    def answer(self, unit: Unit) -> Done:
        """Answer what is missing of a share, and write it. Parts name themselves: the driver lists them."""
        done = Done()
        with collected() as warnings:
            self._answer(unit, done)
        done.warnings = warnings
        return done

    def _answer(self, unit: Unit, done: Done) -> None:
        prepared = self._prepared(unit)
        read = {key: request for place, (_, request, key) in enumerate(prepared) if place in unit.reading}
        asked = {key: request for _, request, key in prepared if key not in read}
        mine = self._share(asked, unit) | self._share(read, unit)
        places = [place for place, (_, _, key) in enumerate(prepared) if key in mine]
        new = [prepared[place] for place in places if prepared[place][2] != unit.known[place]]
        if new:
            self._write("requests", requests_frame(new), done.parts)
        stored = {key for key, has_answer in zip(unit.known, unit.answered, strict=True) if key and has_answer}
        missing = mine - stored
        done.n_stored = len(mine & stored)
        done.n_asks = sum(not unit.answered[place] or place in unit.lacking for place in places)
        answers = AnswerBuffer(lambda frame: self._write("responses", frame, done.parts))
        failures: dict[str, str] = {}
        lacking = [place for place in places if place in unit.lacking]
        wanted = {prepared[place][2] for place in lacking} | (missing & read.keys())
        reading = RequestedStates(unit.layers)
        requests = {**asked, **read}
        outcomes = answers_of(self._model, asked, missing & asked.keys())
        try:
            for source in (outcomes, answer_and_read(readable(self._model), read, wanted, reading) if wanted else ()):
                for key, outcome in source:
                    if fault := fault_of(requests[key], outcome):
                        failures[key] = fault
                    elif key in missing:
                        answers.add(key, outcome)
                        done.n_answered += 1
                    if self._stopped.is_set():
                        return
        finally:
            answers.flush()
            done.failures = failures
        if lacking and reading.states is not None:
            row_of = {key: row for row, key in enumerate(read)}
            done.places = lacking
            done.states = reading.states[[row_of[prepared[place][2]] for place in lacking]]

    def _prepared(self, unit: Unit) -> list[Prepared]:
        """The window's requests, kept for its next share."""
        held = self._window
        if held is None or held[0] != unit.window or [ask for ask, _, _ in held[1]] != list(unit.asks):
            self._window = (unit.window, prepare(self._model, self._plans, unit.asks, self._settings))
            return self._window[1]
        return held[1]

    def _share(self, requests: Mapping[str, Request], unit: Unit) -> set[str]:
        """The keys of the unit's share of these requests."""
        keys = list(requests)
        if unit.n_shares == 1 or not keys:
            return set(keys)
        assert isinstance(self._model, Divisible)
        shares = divided(self._model.passes(list(requests.values())), unit.n_shares)
        return {keys[place] for place in shares[unit.share]}

    def _write(self, kind: str, frame: pl.DataFrame, parts: list[Part]) -> None:
        path, sha256 = add_part(self._run / kind, frame)
        parts.append(Part(path=f"{kind}/{path.name}", rows=frame.height, sha256=sha256))


def _described(plans: Sequence[Plan], settings: GenerationSettings) -> object:
    """What of a job its requests depend on."""
    return settings, [plan.suite.content_hash for plan in plans]
