"""Workers of a local Ray cluster against one process with as many threads: seconds of asking, once models are loaded.

    python benchmarks/ray_workers.py --suite imperfective --model smollm2 --workers 2 --rounds 3

Both ways ask the same suite into new folders, in turns. Loading and starting the cluster are not counted: preparing and
asking are timed by the progress that a run reports. Prints seconds, their ratio, and how far scores are apart.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from veridical.models import RaySettings
from veridical.studies.run import run
from veridical.studies.study import Study


class Clock:
    """A progress that keeps how long asking took."""

    seconds = 0.0

    def say(self, message: str) -> None:
        """Show nothing."""

    @contextlib.contextmanager
    def steps(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        """Time preparing and asking."""
        start = time.perf_counter()
        yield lambda: None
        if what.startswith(("preparing", "asking")):
            self.seconds += time.perf_counter() - start


def timed(out: Path, suite: str, model: str, limit: int | None, mode: str, workers: int | None) -> tuple[float, Study]:
    clock = Clock()
    cluster = {} if workers is None else {"engine": "ray", "ray": RaySettings(workers=workers)}
    study = run(suite, model=model, mode=mode, limit=limit, out=out, progress=clock, **cluster)  # type: ignore[arg-type]
    return clock.seconds, study


def same(one: Study, other: Study) -> str:
    keys = ["item", "input", "prompt", "order", "mode"]
    frames = [study.responses.sort(keys) for study in (one, other)]
    choices = sum(a != b for a, b in zip(frames[0]["label"], frames[1]["label"], strict=True))
    scores = [
        np.concatenate([np.asarray(row, float) for row in frame["scores"] if row is not None]) for frame in frames
    ]
    apart = float(np.abs(scores[0] - scores[1]).max()) if scores[0].size else 0.0
    return f"{frames[0].height:,} answers, {choices} choices differ, scores at most {apart:.2g} apart"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", default="imperfective")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--mode", default="loglikelihood")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(given.rounds):
            here, alone = timed(Path(folder, f"one-{number}"), given.suite, given.model, given.limit, given.mode, None)
            there, shared = timed(
                Path(folder, f"ray-{number}"), given.suite, given.model, given.limit, given.mode, given.workers
            )
            ratios.append(there / here)
            print(f"one process {here:7.1f} s   {given.workers} workers {there:7.1f} s   ratio {there / here:.2f}")
            print(f"  {same(alone, shared)}")
    print(f"median ratio {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
