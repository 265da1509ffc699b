"""Units that workers answer make the run that one process makes, to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from veridical.cluster.units import Unit, units
from veridical.cluster.worker import Worker
from veridical.errors import UserError
from veridical.models.protocol import Outcome
from veridical.runs import job as jobs
from veridical.runs.hidden import StatesKey, read_hidden
from veridical.runs.job import Job
from veridical.runs.manifest import read_manifest
from veridical.runs.recorded import RecordedAsks
from veridical.runs.states import WantedStates
from veridical.runs.store import read_keys
from veridical.status import Status

from .making import BOTH, SETTINGS, begun, by_workers, in_one_process, stored, tiny_model, worker


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("model") / "m")


@pytest.fixture(scope="module")
def pair(model: Path) -> list[Worker]:
    return [worker(model), worker(model)]


def work(one: Worker, run: Path, plans: Any, n_workers: int, states: WantedStates | None = None) -> list[Unit]:
    return list(units(Job(one._model, plans, SETTINGS, ()), RecordedAsks(run), states, n_workers))


@pytest.mark.parametrize(("window", "n_workers"), [(4_096, 2), (4_096, 40), (50, 2), (7, 1)])
def test_whatever_the_windows_and_workers_the_run_is_that_of_one_process(
    window: int, n_workers: int, pair: list[Worker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "WINDOW", window)
    alone = stored(in_one_process(tmp_path / "alone", pair[0]._model))
    store, plans = begun(tmp_path / "shared", pair[0]._model)
    done = by_workers(store, plans, pair, work(pair[0], store.path, plans, n_workers))
    asks, responses = stored(store.path)
    assert asks.equals(alone[0])
    assert responses.equals(alone[1])
    assert sum(one.n_asks for one in done) == len(plans[0].asks)
    listed = {part.path for part in read_manifest(store.path).parts or ()}
    assert {part.path for one in done for part in one.parts} <= listed


def test_what_is_stored_is_not_asked_again_and_the_rest_has_the_same_bits(
    pair: list[Worker], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "WINDOW", 40)
    alone = stored(in_one_process(tmp_path / "alone", pair[0]._model))
    store, plans = begun(tmp_path / "shared", pair[0]._model)
    first = work(pair[0], store.path, plans, 40)
    by_workers(store, plans, pair, first[::3])
    again = work(pair[0], store.path, plans, 2)
    assert len({unit.window for unit in again}) > 0
    done = by_workers(store, plans, pair, again)
    asks, responses = stored(store.path)
    assert asks.equals(alone[0])
    assert responses.equals(alone[1])
    assert sum(one.n_stored for one in done) > 0
    assert not work(pair[0], store.path, plans, 2)


def test_parts_that_no_driver_listed_are_read_and_listed_by_the_next(pair: list[Worker], tmp_path: Path) -> None:
    alone = stored(in_one_process(tmp_path / "alone", pair[0]._model))
    store, plans = begun(tmp_path / "shared", pair[0]._model)
    pair[0].begin((plans, SETTINGS), store.path, pair[0].describe().fingerprint.digest)
    for unit in work(pair[0], store.path, plans, 2):
        pair[0].answer(unit)
    assert not [part for part in read_manifest(store.path).parts or () if part.path.startswith("responses/")]
    assert stored(store.path)[1].equals(alone[1])
    begun(tmp_path / "shared", pair[0]._model)
    assert [part for part in read_manifest(store.path).parts or () if part.path.startswith("responses/")]


def test_hidden_states_are_those_of_one_process(pair: list[Worker], tmp_path: Path) -> None:
    layers = {"full": [0, -2]}
    alone = in_one_process(tmp_path / "alone", pair[0]._model, layers=layers)
    store, plans = begun(tmp_path / "shared", pair[0]._model)
    states = WantedStates(pair[0].n_blocks(), store.path, plans, layers)
    given = work(pair[0], store.path, plans, 2, states)
    for unit, done in zip(given, by_workers(store, plans, pair, given), strict=True):
        for place, state in zip(done.places, [] if done.states is None else done.states, strict=True):
            states.keep(unit.asks[place], state, unit.layers)
    prompts = {(block.prompt, block.input) for block in plans[0].asks.blocks if block.mode == "loglikelihood"}
    compared = 0
    for prompt, shown in prompts:
        here, there = (read_hidden(run, StatesKey("toy", prompt, shown)) for run in (alone, store.path))
        assert (here is None) == (there is None)
        if here is not None and there is not None:
            assert here.items == there.items
            assert np.array_equal(here.states, there.states)
            compared += 1
    assert compared == len({prompt for prompt, shown in prompts if shown == "full"})
    assert stored(store.path)[1].equals(stored(alone)[1])


def test_a_failed_request_is_reported_and_not_stored(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = worker(model)
    answer_some = one._model.answer_some  # type: ignore[attr-defined]

    def fails(requests: Any, wanted: Any) -> Any:
        for number, (position, outcome) in enumerate(answer_some(requests, wanted)):
            yield position, Outcome(Status.ERROR, detail="planted") if number % 5 == 0 else outcome

    monkeypatch.setattr(one._model, "answer_some", fails)
    store, plans = begun(tmp_path / "run", one._model)
    done = by_workers(store, plans, [one], work(one, store.path, plans, 1))
    failures = {key: reason for part in done for key, reason in part.failures.items()}
    keys = read_keys(store.path)
    assert set(failures.values()) == {"planted"}
    assert not keys & failures.keys()
    assert keys | failures.keys() == set(stored(store.path)[0]["key"])
    monkeypatch.undo()
    by_workers(store, plans, [one], work(one, store.path, plans, 1))
    assert stored(store.path)[1].equals(stored(in_one_process(tmp_path / "alone", one._model))[1])


def test_a_worker_that_is_stopped_writes_what_it_has(model: Path, tmp_path: Path) -> None:
    one = worker(model)
    answer_some = one._model.answer_some  # type: ignore[attr-defined]

    def stops(requests: Any, wanted: Any) -> Any:
        for number, answer in enumerate(answer_some(requests, wanted)):
            if number == 10:
                one.stop()
            yield answer

    one._model.answer_some = stops  # type: ignore[attr-defined]
    store, plans = begun(tmp_path / "run", one._model)
    one.begin((plans, SETTINGS), store.path, one.describe().fingerprint.digest)
    unit = work(one, store.path, plans, 0)[0]
    assert one.answer(unit).n_answered == 11
    assert stored(store.path)[1].height == 11


def test_a_job_that_is_not_this_worker_s_is_refused(pair: list[Worker], tmp_path: Path) -> None:
    store, plans = begun(tmp_path / "run", pair[0]._model)
    with pytest.raises(UserError, match="the workers of the cluster have loaded different files"):
        pair[0].begin((plans, SETTINGS), store.path, "another")
    with pytest.raises(UserError, match="give --out a folder that all share"):
        pair[0].begin((plans, SETTINGS), tmp_path / "elsewhere", pair[0].describe().fingerprint.digest)


def test_shares_are_many_where_windows_are_few(pair: list[Worker], tmp_path: Path) -> None:
    store, plans = begun(tmp_path / "run", pair[0]._model)
    assert {unit.n_shares for unit in work(pair[0], store.path, plans, 3)} == {12}
    assert BOTH.modes == ("loglikelihood", "generate")
