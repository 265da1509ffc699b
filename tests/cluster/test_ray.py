"""A real Ray cluster on this machine: two workers, a worker killed, a driver killed, and what is refused."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from safetensors.numpy import load_file

import veridical
from tests.runs.toy import toy_suite
from veridical.cluster import team
from veridical.cluster.worker import Worker
from veridical.errors import UserError
from veridical.models import RaySettings
from veridical.runs.store import read_responses
from veridical.studies.study import open_study
from veridical.suites.file_writer import write_suite

from .making import tiny_model

ray = pytest.importorskip("ray", reason="Ray is not installed")
pytestmark = pytest.mark.slow  # a cluster takes 10 seconds to start
TWO = RaySettings(workers=2)
SAME = ("item", "input", "prompt", "order", "mode", "repeat", "status", "label", "scores", "text")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return f"hf/{tiny_model(tmp_path_factory.mktemp('model') / 'm')}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[None]:
    """A cluster that the tests share: a run leaves one alone that it has not started."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init("local", num_cpus=4, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def ask(model: str, out: Path, n: int = 6, **given: Any) -> Any:
    """Scores and texts of the toy suite; both ways use one thread, on which the last digits depend."""
    given = {"mode": ("loglikelihood", "generate"), "max_new_tokens": 4, "batch_tokens": 256} | given
    return veridical.run(toy_suite(n), model=model, out=out, **given)


def equal(one: Any, other: Any) -> bool:
    shown = [study.responses.select(SAME).sort(SAME[:6]) for study in (one, other)]
    return bool(shown[0].equals(shown[1]))


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_two_workers_make_the_run_of_one_process(
    model: str, cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _one_cpu(monkeypatch)
    alone = ask(model, tmp_path / "alone")
    shared = ask(model, tmp_path / "shared", engine="ray", ray=TWO)
    assert equal(alone, shared)
    assert (alone.path / "measures.json").read_bytes() == (shared.path / "measures.json").read_bytes()
    manifest = shared.runs[0].manifest
    assert manifest.model.probes is not None
    assert manifest.model.digest == alone.runs[0].manifest.model.digest
    parts = [part.path for part in manifest.parts if part.path.startswith("responses/")]
    assert len(parts) > 2

    again = ask(model, tmp_path / "shared", engine="ray", ray=TWO)
    assert [part.path for part in again.runs[0].manifest.parts if part.path.startswith("responses/")] == parts


def test_the_work_of_a_worker_that_is_killed_goes_to_others(
    model: str, cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _one_cpu(monkeypatch)
    alone = ask(model, tmp_path / "alone", 60)
    killed: list[int] = []

    def kill() -> None:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if list((tmp_path / "shared").glob("*/responses/*.parquet")) and (found := workers_running()):
                found[0].kill()
                killed.append(found[0].pid)
                return
            time.sleep(0.01)

    killer = threading.Thread(target=kill)
    killer.start()
    shared = ask(model, tmp_path / "shared", 60, engine="ray", ray=TWO)
    killer.join()
    assert killed
    assert shared.failed == 0
    assert equal(alone, shared)


def workers_running() -> list[psutil.Process]:
    """Worker processes that answer a unit now."""
    found = []
    for process in psutil.process_iter():
        try:
            if "Worker.answer" in " ".join(process.cmdline()):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.ZombieProcess):
            continue
    return found


class Dying(Worker):
    """Dies over the first unit that it is given."""

    def answer(self, unit: Any) -> Any:
        if unit.share == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().answer(unit)


def test_questions_that_kill_every_worker_end_the_job_in_a_line(
    model: str, cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _one_cpu(monkeypatch)
    monkeypatch.setattr(team.Team, "worker", Dying)
    with pytest.raises(UserError, match="3 workers died over the same questions"):
        ask(model, tmp_path / "run", engine="ray", ray=TWO)
    stored = read_responses(next((tmp_path / "run").glob("*/manifest.json")).parent)
    assert stored.height > 0


def test_hidden_states_are_read_by_workers(
    model: str, cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _one_cpu(monkeypatch)
    given = {"mode": "loglikelihood", "hidden_layers": {"full": [0, -2]}}
    alone = ask(model, tmp_path / "alone", **given)
    shared = ask(model, tmp_path / "shared", **given, engine="ray", ray=TWO)
    there = [sorted(path.name for path in study.path.glob("*/hidden/*")) for study in (alone, shared)]
    assert there[0]
    assert there[0] == there[1]
    for one, other in zip(*(sorted(study.path.glob("*/hidden/*")) for study in (alone, shared)), strict=True):
        states = [load_file(path) for path in (one, other)]
        assert states[0].keys() == states[1].keys()
        assert all((states[0][name] == states[1][name]).all() for name in states[0])


@pytest.mark.parametrize(
    ("name", "settings", "words"),
    [
        (None, {"ray": RaySettings(workers=99)}, r"--workers 99: the cluster has 4 CPUs"),
        ("hf//no/such/folder", {"ray": TWO}, "no/such/folder"),
        ("openai/some-model", {"ray": TWO}, "run by a server"),
        (None, {"ray": TWO, "device_map": "auto"}, "--device-map and --engine ray"),
        (None, {"ray": TWO, "device": "cuda"}, "--device cuda: the cluster has no GPU"),
    ],
)
def test_what_cannot_be_is_one_line(
    name: str | None,
    settings: dict[str, Any],
    words: str,
    model: str,
    cluster: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match=words):
        ask(name or model, tmp_path / "run", engine="ray", **settings)


def _one_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers of one CPU, and so one thread, each."""
    monkeypatch.setattr(team, "_resources", lambda settings: team.Resources(settings.ray.workers, 1, 0))


def command(suite: Path, model: str, out: Path) -> list[str]:
    words = ["run", suite, "--model", model, "--out", out, "--batch-tokens", "256", "--engine", "ray", "--workers", "2"]
    return [sys.executable, "-m", "veridical", *map(str, words)]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_driver_that_is_ended_goes_on_and_loses_nothing(number: int, model: str, tmp_path: Path) -> None:
    suite = tmp_path / "toy.jsonl"
    write_suite(toy_suite(60), suite)
    out = tmp_path / "shared"
    process = subprocess.Popen(command(suite, model, out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not list(out.glob("*/responses/*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    _, said = process.communicate(timeout=60)
    run = next(out.glob("*/manifest.json")).parent
    before = read_responses(run).sort("key")
    assert before.height > 0
    if number != signal.SIGKILL:
        assert process.returncode == 128 + number, said
        assert "--engine ray" in said
    done = subprocess.run(command(suite, model, out), capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    after = read_responses(run).sort("key")
    assert after.filter(after["key"].is_in(before["key"].implode())).equals(before)
    alone = veridical.run(suite, model=model, out=tmp_path / "alone", batch_tokens=256)
    asked = [(row["item"], row["prompt"], row["order"], row["label"]) for row in alone.responses.iter_rows(named=True)]
    there = open_study(out).runs[0].frame
    assert sorted(asked) == sorted(
        (r["item"], r["prompt"], r["order"], r["label"]) for r in there.iter_rows(named=True)
    )


def test_a_cluster_that_is_not_there_is_one_line(model: str, tmp_path: Path) -> None:
    words = ["run", "imperfective", "--model", model, "--out", str(tmp_path / "run"), "--engine", "ray"]
    done = subprocess.run(
        [sys.executable, "-m", "veridical", *words, "--ray-address", "127.0.0.1:1"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "veridical: --ray-address 127.0.0.1:1: the cluster cannot be reached" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_readout_by_workers_is_that_of_one_process(
    model: str, cluster: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _one_cpu(monkeypatch)
    given: dict[str, Any] = {"model": model, "limit": 16, "draws": 20, "category_draws": 20, "control_draws": 5}
    alone = veridical.readout("imperfective", out=tmp_path / "alone", **given)
    shared = veridical.readout("imperfective", out=tmp_path / "shared", **given, engine="ray", ray=TWO)
    assert (alone.path / "measures.json").read_bytes() == (shared.path / "measures.json").read_bytes()
    with pytest.raises(UserError, match="--twin and --engine ray"):
        veridical.readout("imperfective", out=tmp_path / "twin", **given, twin=True, engine="ray", ray=TWO)
