"""The workers of a Ray cluster: started, given units, and replaced where they die."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from veridical.cluster.unit_queue import UnitQueue
from veridical.cluster.units import Done, Unit
from veridical.cluster.worker import Description, Worker
from veridical.errors import UserError, excerpt
from veridical.installing import install_command
from veridical.models.protocol import GenerationSettings
from veridical.models.settings import LoadSettings
from veridical.progress import Progress
from veridical.runs.plan import Plan
from veridical.signals import STOPPING

REACHING_SECONDS = 10.0
UNITS_AHEAD = 8
"""Units for each worker that are made before they are taken, to choose from."""
MOST_DEATHS = 3
"""Workers that may die over one unit before the job ends."""
SECONDS = 0.5
"""How long a wait lasts before signals are seen to."""
STOPPING_SECONDS = 30.0
"""How long workers have to write what they answered, once the job is to end."""


@dataclass(frozen=True, slots=True)
class Resources:
    """How many workers there are, and what each takes of the cluster."""

    n_workers: int
    cpus: int
    gpus: int


class Team:
    """Workers that hold copies of one model. Begun by `Team.start`, ended by `close`."""

    worker: type[Worker] = Worker

    def __init__(self, spec: str, settings: LoadSettings, resources: Resources, *, started_here: bool) -> None:
        self._spec = spec
        self._settings = settings.here()
        self._resources = resources
        self._started_here = started_here
        self._begin: Callable[[Any], Any] = lambda worker: None
        self._starting: dict[Any, Any] = {}
        self._deaths: Counter[tuple[int, int] | None] = Counter()
        self._workers = [self._hired() for _ in range(resources.n_workers)]

    @classmethod
    def start(cls, spec: str, settings: LoadSettings, progress: Progress) -> tuple[Team, Description]:
        """Connect to the cluster, or start one on this machine, and load the model on every worker.

        Raises UserError where Ray is not installed, the cluster cannot be reached or lacks what is asked for, and
        where the model cannot be loaded.
        """
        started_here = _connect(settings.ray.address)
        resources = _resources(settings)
        kind = "GPU" if resources.gpus else f"{resources.cpus} CPU{'s' if resources.cpus > 1 else ''}"
        progress.say(f"loading {spec} on {resources.n_workers} worker{'s' * (resources.n_workers > 1)} ({kind} each)")
        team = cls(spec, settings, resources, started_here=started_here)
        try:
            described = team.ask_one("describe")
        except BaseException:
            team.close()
            raise
        return team, described

    def __len__(self) -> int:
        return self._resources.n_workers

    def wait(self) -> None:
        """Wait until every worker has loaded the model."""
        import ray

        ray.get([worker.describe.remote() for worker in self._workers])

    def ask_one(self, method: str, *given: object) -> Any:
        """What a method of one worker gives. Raises UserError where workers die over it, and what it raises."""
        import ray

        while True:
            worker = self._workers[0]
            try:
                return ray.get(getattr(worker, method).remote(*given))
            except ray.exceptions.RayTaskError as error:
                raise _cause(error) from error
            except ray.exceptions.RayError as error:
                self._replace(worker, None, error)

    def begin(self, plans: list[Plan], settings: GenerationSettings, run: Path, fingerprint: str) -> None:
        """Give every worker, and all that replace one, a job."""
        import ray

        shared = ray.put((plans, settings))
        self._begin = lambda worker: worker.begin.remote(shared, run.resolve(), fingerprint)
        self._starting = {self._begin(worker): worker for worker in self._workers}

    def results(self, units: Iterator[Unit]) -> Iterator[tuple[Unit, Done]]:
        """Units and what became of them, as they are done.

        Workers get units as soon as they have loaded the model, one at a time. That of a worker which dies goes to
        another. Closed early, workers write what they have answered. Raises UserError where `MOST_DEATHS` workers died
        over one unit, or while they loaded the model, and what a worker raised.
        """
        import ray

        queue = UnitQueue(units, UNITS_AHEAD * len(self))
        prepared: dict[Any, int] = {}
        idle: list[Any] = []
        working: dict[Any, tuple[Any, Unit]] = {}
        try:
            while True:
                while idle:
                    window = prepared.pop(idle[-1], None)
                    if (unit := queue.take(window, set(prepared.values()))) is None:
                        break
                    worker = idle.pop()
                    prepared[worker] = unit.window
                    working[worker.answer.remote(unit)] = (worker, unit)
                if not working and (idle or not self._starting):
                    return
                finished, _ = ray.wait([*working, *self._starting], num_returns=1, timeout=SECONDS)
                for reference in finished:
                    worker, unit = working.pop(reference, None) or (self._starting.pop(reference), None)
                    try:
                        done = ray.get(reference)
                    except ray.exceptions.RayTaskError as error:
                        raise _cause(error) from error
                    except ray.exceptions.RayError as error:
                        if unit is not None:
                            queue.give_back(unit)
                        prepared.pop(worker, None)
                        self._replace(worker, unit, error)
                        continue
                    idle.append(worker)
                    if unit is not None:
                        yield unit, done
        finally:
            if working:
                self._stop(list(working))

    def close(self) -> None:
        """End the workers, and the cluster where it was started here."""
        import ray

        for worker in self._workers:
            ray.kill(worker)
        self._workers = []
        if self._started_here:
            ray.shutdown()

    def _hired(self) -> Any:
        import ray

        taken = self._resources
        actor = ray.remote(concurrency_groups={"control": 1})(self.worker)  # type: ignore[call-overload]  # its stubs lack it
        chosen = actor.options(num_cpus=taken.cpus, num_gpus=taken.gpus, max_restarts=0)
        return chosen.remote(self._spec, self._settings, None if taken.gpus else taken.cpus)

    def _replace(self, dead: Any, unit: Unit | None, error: BaseException) -> None:
        """Take on another worker. Raises UserError where too many died over the unit, or (None) while they loaded."""
        work = None if unit is None else (unit.window, unit.share)
        self._deaths[work] += 1
        if self._deaths[work] == MOST_DEATHS:
            over = "while they loaded the model" if unit is None else "over the same questions"
            raise UserError(
                f"model {self._spec!r}: {MOST_DEATHS} workers died {over}; the last: {_death(error)}; answers that "
                "came are stored, and the same command goes on"
            ) from error
        new = self._hired()
        self._workers = [new if worker is dead else worker for worker in self._workers]
        if (beginning := self._begin(new)) is not None:
            self._starting[beginning] = new

    def _stop(self, working: list[Any]) -> None:
        """Have the workers write what they have answered, and wait for that."""
        import ray

        for worker in self._workers:
            worker.stop.options(concurrency_group="control").remote()
        ray.wait(working, num_returns=len(working), timeout=STOPPING_SECONDS)


def _connect(address: str | None) -> bool:
    """Connect to a cluster; gives whether it was started here. Raises UserError where that fails."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise UserError(f"--engine ray needs ray, which is not installed: {install_command('ray')}") from error
    if ray.is_initialized():
        return False
    if address is not None:
        _check_reachable(address)
    handlers = {number: signal.getsignal(number) for number in STOPPING}
    start = partial(
        ray.init,
        address or "local",
        include_dashboard=False,
        logging_level=logging.ERROR,
        log_to_driver=False,
    )
    try:
        _starter().submit(start).result()
    except (ConnectionError, ValueError, RuntimeError, OSError, TimeoutError) as error:
        where = f"--ray-address {address}" if address else "--engine ray"
        raise UserError(f"{where}: the cluster cannot be reached or started ({excerpt(error, 200)})") from error
    if threading.current_thread() is threading.main_thread():
        for number, handler in handlers.items():  # what it writes in compiled code it does put in place
            signal.signal(number, handler)
    return True


@cache
def _starter() -> ThreadPoolExecutor:
    """A thread that Ray is started in.

    There it cannot put its own handler of SIGTERM, which ends the process at once, in place of ours. The thread stays,
    because the processes of a cluster end with the thread that started them.
    """
    return ThreadPoolExecutor(1)


def _check_reachable(address: str) -> None:
    """Raise UserError where nobody listens at HOST:PORT, which Ray would find out after minutes."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not colon or not port.isdigit():
        if address in ("auto", "local"):
            return
        raise UserError(f"--ray-address {address!r}: give HOST:PORT, as 'ray start --head' prints it, or auto")
    try:
        socket.create_connection((host, int(port)), timeout=REACHING_SECONDS).close()
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "no answer"
        raise UserError(f"--ray-address {address}: the cluster cannot be reached ({reason})") from error


def _resources(settings: LoadSettings) -> Resources:
    """What each worker takes: a GPU where the cluster has any, else an equal part of a machine's CPUs.

    Raises UserError where the cluster has not enough.
    """
    import ray

    nodes = ray.nodes()  # type: ignore[no-untyped-call]
    machines = [node["Resources"] for node in nodes if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    n_cpus = int(sum(one["CPU"] for one in machines))
    n_gpus = 0 if settings.device == "cpu" else int(sum(one.get("GPU", 0) for one in machines))
    if settings.device == "cuda" and not n_gpus:
        raise UserError("--device cuda: the cluster has no GPU")
    most = n_gpus or n_cpus
    wanted = settings.ray.workers or n_gpus or max(1, len(machines))
    if wanted > most:
        what = f"{n_gpus} GPU{'s' * (n_gpus > 1)}" if n_gpus else f"{n_cpus} CPU{'s' * (n_cpus != 1)}"
        raise UserError(f"--workers {wanted}: the cluster has {what}, and a worker needs one of its own")
    if n_gpus:
        return Resources(wanted, 1, 1)
    least = min(int(one["CPU"]) for one in machines)
    return Resources(wanted, max(1, least * len(machines) // wanted) if wanted >= len(machines) else least, 0)


def _cause(error: Any) -> BaseException:
    """What a worker raised, as it raised it."""
    return error.cause if isinstance(error.cause, UserError) else error


def _death(error: BaseException) -> str:
    """Why a worker died, as far as Ray knows."""
    said = " ".join(str(error).split())
    if "running low on memory" in said:  # the other messages of Ray name it among what may have been
        return "a worker ran out of memory"
    return f"a worker died, perhaps for want of memory ({excerpt(said, 160)})"
