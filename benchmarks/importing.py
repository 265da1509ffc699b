"""Importing 100,000 sample records of lm-evaluation-harness, and judging them: time and memory of whole commands.

    python benchmarks/importing.py [--records N]

The log is made here: multiple choice with four endings and a context of some hundred characters, 5 items to a
passage, so that a set is a passage. Three commands are timed in processes of their own, start-up and reports
included: `veridical import lm-eval`, `veridical judge RUN` and `veridical judge RUN --sets passage`. Prints the
largest share of a limit last.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from harness import Timed, report

LIMITS = {"import": (20.0, 500), "judge": (5.0, None), "judge --sets": (5.0, None)}
"""Seconds and megabytes (10^6 bytes) that each may take."""
WORDS = ("river", "stone", "garden", "window", "letter", "winter", "harbour", "engine", "carpet", "lantern", "orchard")


def write_log(folder: Path, records: int) -> Path:
    """Samples and results in the form of version 0.4.13."""
    rng = np.random.default_rng(0)
    scores = rng.normal(-30, 6, size=(records, 4))
    gold = rng.integers(0, 4, size=records)
    words = rng.choice(WORDS, size=(records, 60))
    lengths = np.zeros((records, 4))
    path = folder / "samples_passages_2026-01-01T00-00-00.000000.jsonl"
    right, right_norm = 0, 0
    with path.open("w", encoding="utf-8") as file:
        for i in range(records):
            context = f"Passage {i // 5}. " + " ".join(words[i, :40]) + "."
            endings = [f"{' '.join(words[i, 40 + 5 * c : 45 + 5 * c])} {c}" for c in range(4)]
            lengths[i] = [len(ending) for ending in endings]
            pairs = [[str(score), "False"] for score in scores[i]]
            acc = float(np.argmax(scores[i]) == gold[i])
            norm = float(np.argmax(scores[i] / lengths[i]) == gold[i])
            right, right_norm = right + acc, right_norm + norm
            file.write(
                json.dumps(
                    {
                        "doc_id": i,
                        "doc": {
                            "ind": i,
                            "passage": f"passage-{i // 5}",
                            "ctx": context,
                            "endings": endings,
                            "label": str(gold[i]),
                            "query": context,
                        },
                        "target": str(gold[i]),
                        "arguments": {
                            f"gen_args_{c}": {"arg_0": context, "arg_1": f" {ending}"}
                            for c, ending in enumerate(endings)
                        },
                        "resps": [[pair] for pair in pairs],
                        "filtered_resps": pairs,
                        "filter": "none",
                        "metrics": ["acc", "acc_norm"],
                        "doc_hash": "0" * 64,
                        "prompt_hash": "1" * 64,
                        "target_hash": "2" * 64,
                        "acc": acc,
                        "acc_norm": norm,
                    }
                )
                + "\n"
            )
    results = {
        "results": {
            "passages": {"alias": "passages", "acc,none": right / records, "acc_norm,none": right_norm / records}
        },
        "configs": {"passages": {"output_type": "multiple_choice", "target_delimiter": " "}},
        "versions": {"passages": 1.0},
        "n-shot": {"passages": 0},
        "model_name": "benchmark/model",
        "lm_eval_version": "0.4.13",
    }
    (folder / "results_2026-01-01T00-00-00.000000.json").write_text(json.dumps(results), encoding="utf-8")
    return path


def timed(*arguments: str) -> Timed:
    """One command: seconds from start to end, those of processors, and the most memory that it held."""
    start = time.monotonic()
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "veridical", *arguments],
        dict(os.environ),
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
    )
    _, status, usage = os.wait4(child, 0)
    if status:
        sys.exit(f"veridical {' '.join(arguments)} failed")
    return {
        "seconds": time.monotonic() - start,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "megabytes": usage.ru_maxrss * 1024 / 1e6,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        log = write_log(folder, given.records)
        run = folder / "run"
        commands = {
            "import": ("import", "lm-eval", str(log), "--out", str(run)),
            "judge": ("judge", str(run)),
            "judge --sets": ("judge", str(run), "--sets", "passage"),
        }
        found: dict[str, list[Timed]] = {what: [] for what in commands}
        for _ in range(given.runs):
            shutil.rmtree(run, ignore_errors=True)
            for what, arguments in commands.items():
                found[what].append(timed(*arguments))
                print(f"{what}: {found[what][-1]}", file=sys.stderr)
        size = log.stat().st_size / 1e6
    table = {
        what: {
            "seconds": round(float(np.median([one["seconds"] for one in runs])), 2),
            "processor_seconds": round(float(np.median([one["processor_seconds"] for one in runs])), 2),
            "megabytes": round(max(one["megabytes"] for one in runs)),
            "limit": {"seconds": LIMITS[what][0], "megabytes": LIMITS[what][1]},
        }
        for what, runs in found.items()
    }
    worst = max(
        max(row["seconds"] / row["limit"]["seconds"], row["megabytes"] / (row["limit"]["megabytes"] or float("inf")))
        for row in table.values()
    )
    report(
        "importing",
        {"records": given.records, "log_megabytes": round(size), **table},
        worst,
        "most of a limit that is used (1 is all of it)",
    )


if __name__ == "__main__":
    main()
