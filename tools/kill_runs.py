"""Ends runs at random moments, has them go on, and compares them with a run that was left alone.

    python tools/kill_runs.py --suite imperfective --model smollm2 --limit 4 --kills 30

Every interruption is a signal drawn from SIGKILL, SIGTERM and SIGINT, after a time drawn up to that of the run left
alone. One to three of them hit a run before it may end. Checked: no stored response is lost, each signal but SIGKILL is
answered by the command that goes on and 128 + its number, and at the end responses and measures.json are equal byte for
byte. With `--workers N` the runs are asked by workers of a local Ray cluster (`--engine ray`), and one in three
interruptions kills a worker, which the run must survive. Exit status 1 where anything differs.
"""

from __future__ import annotations

import argparse
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import psutil

from veridical.runs.store import read_responses

# Writes often, so that there is something to lose.
CHILD = """
import sys
from veridical.runs import store
from veridical.cli import main
store.FLUSH_ANSWERS = int(sys.argv.pop(1))
sys.exit(main(sys.argv[1:]))
"""
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass
class Tally:
    """What was done, and what was found."""

    kills: dict[str, int] = field(default_factory=dict)
    runs: int = 0
    kept: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def started(words: Sequence[str], out: Path, flush: int) -> subprocess.Popen[str]:
    """A run in a process of its own."""
    command = [sys.executable, "-c", CHILD, str(flush), "run", *words, "--out", str(out)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def stored(study: Path) -> pl.DataFrame:
    """The responses of the only run of a study by key; no rows where there is none yet."""
    folders = [path.parent for path in study.glob("*/manifest.json")]
    if not folders:
        return pl.DataFrame({"key": []}, schema={"key": pl.String()})
    return read_responses(folders[0]).sort("key")


def interrupted(
    words: Sequence[str], out: Path, flush: int, moment: float, number: signal.Signals, tally: Tally
) -> None:
    """Start a run, send it a signal, and check what it leaves."""
    before = stored(out)
    process = started(words, out, flush)
    time.sleep(moment)
    process.send_signal(number)
    _, said = process.communicate()
    after = stored(out)
    tally.kills[number.name] = tally.kills.get(number.name, 0) + 1
    tally.kept.append(after.height - before.height)
    where = f"{out.name}, {number.name} after {moment:.1f} s"
    if before.height and not after.filter(pl.col("key").is_in(before["key"].implode())).equals(before):
        tally.faults.append(f"{where}: stored responses were lost or changed")
    if process.returncode == 0 or number == signal.SIGKILL:
        return
    if process.returncode not in (128 + number, -number):
        tally.faults.append(f"{where}: exit status {process.returncode}")
    if "Traceback" in said or (process.returncode == 128 + number and "stopped" not in said):
        tally.faults.append(f"{where}: said {said[-300:]!r}")


def without_a_worker(words: Sequence[str], out: Path, flush: int, moment: float, tally: Tally) -> None:
    """Start a run, kill one of its workers, and check that it ends as if nothing had been."""
    process = started(words, out, flush)
    time.sleep(moment)
    mine = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
    workers = [one for one in mine if one.is_running() and "ray::Worker" in " ".join(one.cmdline())]
    if workers:
        workers[0].kill()
        tally.kills["a worker"] = tally.kills.get("a worker", 0) + 1
    _, said = process.communicate()
    if process.returncode:
        tally.faults.append(f"{out.name}, a worker killed after {moment:.1f} s: {said[-300:]!r}")


def main() -> int:
    """Run the trial and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--suite", default="imperfective")
    parser.add_argument("--model", default="smollm2")
    parser.add_argument("--limit", type=int, default=4)
    parser.add_argument("--mode", action="append")
    parser.add_argument("--prompt", action="append")
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--flush", type=int, default=20, help="answers that are written at once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-new-tokens", type=int, default=24)
    parser.add_argument("--workers", type=int, help="of a local Ray cluster; without it one process asks")
    given = parser.parse_args()
    words = [given.suite, "--model", given.model, "--limit", str(given.limit)]
    words += [word for mode in given.mode or () for word in ("--mode", mode)]
    words += [word for prompt in given.prompt or () for word in ("--prompt", prompt)]
    words += ["--max-new-tokens", str(given.max_new_tokens)]
    words += ["--engine", "ray", "--workers", str(given.workers)] if given.workers else []
    # A shell starts jobs in the background with this ignored, and a child inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    draw = random.Random(given.seed)
    tally = Tally()
    with tempfile.TemporaryDirectory() as scratch:
        whole = Path(scratch) / "whole"
        begun = time.monotonic()
        process = started(words, whole, given.flush)
        _, said = process.communicate()
        if process.returncode:
            print(said, file=sys.stderr)
            return 1
        seconds = time.monotonic() - begun
        expected, measures = stored(whole), (whole / "measures.json").read_bytes()
        print(f"left alone: {expected.height} responses in {seconds:.1f} s", flush=True)
        while sum(tally.kills.values()) < given.kills:
            out = Path(scratch) / f"run{tally.runs}"
            for _ in range(draw.randint(1, 3)):
                if given.workers and draw.random() < 1 / 3:
                    without_a_worker(words, out, given.flush, draw.uniform(0, seconds), tally)
                else:
                    interrupted(words, out, given.flush, draw.uniform(0, seconds), draw.choice(SIGNALS), tally)
            process = started(words, out, given.flush)
            _, said = process.communicate()
            tally.runs += 1
            if process.returncode:
                tally.faults.append(f"{out.name}: could not go on: {said[-300:]!r}")
                continue
            if not stored(out).equals(expected):
                tally.faults.append(f"{out.name}: responses differ")
            if (out / "measures.json").read_bytes() != measures:
                tally.faults.append(f"{out.name}: measures.json differs")
            print(f"{out.name}: {sum(tally.kills.values())} signals, {len(tally.faults)} faults", flush=True)
    kinds = ", ".join(f"{count} {name}" for name, count in sorted(tally.kills.items()))
    print(f"{kinds} over {tally.runs} runs; responses gained before each end: {tally.kept}")
    print("\n".join(tally.faults) or "no response was lost; responses and measures are equal to the bit")
    return 1 if tally.faults else 0


if __name__ == "__main__":
    sys.exit(main())
