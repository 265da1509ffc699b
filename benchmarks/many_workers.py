"""A run by many simulated devices on one machine: what the driver, the store and the cluster cost beside the devices.

    python benchmarks/many_workers.py --workers 64 --seconds-a-request 0.02 --requests 100000

Every worker is a real actor of a local Ray cluster that prepares, writes and reports as any worker does; only its model
is a fake, which waits `--seconds-a-request` for each request, a batch of 32 at a time, as a device would work. Prints
how long asking took against what the devices alone would have needed, the processor time of the driver, and what was
written. Preparing and writing of all workers share this machine's cores, which a cluster's machines would not.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from benchmarks.ray_workers import Clock
from benchmarks.scale import PROMPTS, AtOnce, suite_of
from veridical.cluster.execute import execute_remotely
from veridical.cluster.remote_model import RemoteModel
from veridical.cluster.team import Team
from veridical.cluster.worker import Worker
from veridical.engine.passes import Pass
from veridical.models.protocol import GenerationSettings, Outcome, Request
from veridical.models.settings import LoadSettings, RaySettings
from veridical.runs.plan import AskOptions, plan
from veridical.runs.store import RunStore, read_asks, read_keys
from veridical.studies.run import _manifest

BATCH = 32
OPTIONS = AskOptions()
SETTINGS = GenerationSettings()


class Waiting(AtOnce):
    """Answers after the time that a device would need."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def passes(self, requests: Sequence[Request]) -> list[Pass]:
        """Batches of `BATCH`."""
        return [
            Pass(100 * BATCH, tuple(range(start, min(start + BATCH, len(requests)))))
            for start in range(0, len(requests), BATCH)
        ]

    def answer_some(self, requests: Sequence[Request], wanted: Collection[int]) -> Iterator[tuple[int, Outcome]]:
        """The wanted answers, a batch at a time."""
        places = sorted(wanted)
        for start in range(0, len(places), BATCH):
            batch = places[start : start + BATCH]
            time.sleep(self.seconds * len(batch))
            for (_, outcome), place in zip(self.answer([requests[place] for place in batch]), batch, strict=True):
                yield place, outcome


class Simulated(Worker):
    """A worker whose model waits; its name says how long."""

    def __init__(self, spec: str, settings: LoadSettings, threads: int | None = None) -> None:
        self.hold(Waiting(float(spec)))


class SimulatedTeam(Team):
    """Workers that wait."""

    worker = Simulated


def main() -> None:
    """Ask once, and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--seconds-a-request", type=float, default=0.02)
    given = parser.parse_args()
    import ray

    ray.init("local", num_cpus=given.workers, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    clock = Clock()
    settings = LoadSettings(engine="ray", ray=RaySettings(workers=given.workers))
    model = RemoteModel(*SimulatedTeam.start(str(given.seconds_a_request), settings, clock))
    model.team.wait()
    plans = [plan(suite_of(given.requests // PROMPTS), OPTIONS)]
    with tempfile.TemporaryDirectory() as folder:
        store = RunStore(Path(folder, "run"), _manifest(model, plans, OPTIONS, SETTINGS, ""), plans)
        job = model.begin(plans, SETTINGS, clock)
        clock.seconds, before = 0.0, resource.getrusage(resource.RUSAGE_SELF)
        tally, _ = execute_remotely(model, store, job, clock)
        after = resource.getrusage(resource.RUSAGE_SELF)
        model.close()
        # The fake's token ids collide now and then: such requests are equal, and one answer serves them.
        assert not tally.n_failed
        assert set(read_asks(store.path)["key"]) == read_keys(store.path)
        parts = list(store.path.glob("*/*.parquet"))
        ideal = given.requests * given.seconds_a_request / given.workers
        busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        print(f"{given.workers} workers, {given.requests:,} requests of {given.seconds_a_request:g} s each")
        print(f"asking {clock.seconds:.1f} s; the devices alone {ideal:.1f} s ({ideal / clock.seconds:.0%} busy)")
        print(f"driver {busy:.1f} s of processor time, {1e6 * busy / given.requests:.0f} microseconds a request")
        size = (store.path / "manifest.json").stat().st_size
        written = sum(part.stat().st_size for part in parts)
        print(f"{len(parts):,} parts, {written / 1e6:.1f} MB; manifest {size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
