"""Log-likelihoods: our engine against lm-evaluation-harness on the same documents, weights, dtype and machine.

    python benchmarks/scoring.py imperfective --peer .venv-peer/bin/python

The harness runs at its best of batch 1, 8, 32 and auto, found on the first documents. Both sides are processes of
their own; the clock starts when model and documents are loaded. Prints the ratio of items per second last.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import documents
from harness import alternate, median, report, smollm2_folder, worker

SHARED = Path(__file__).parents[2] / "shared" / "data"
BATCHES = ("1", "8", "32", "auto")
NEAR_TIE = 1e-3

WORK = {
    "imperfective": lambda n: islice(documents.imperfective(_model()), n),
    "piqa-0": lambda n: documents.gauntlet(SHARED / "mosaic_gauntlet" / "piqa.jsonl", n or 300, shots=0),
    "piqa-5": lambda n: documents.gauntlet(SHARED / "mosaic_gauntlet" / "piqa.jsonl", n or 300, shots=5),
    "openbookqa-0": lambda n: documents.gauntlet(SHARED / "mosaic_gauntlet" / "openbook_qa.jsonl", n or 300, shots=0),
    "openbookqa-5": lambda n: documents.gauntlet(SHARED / "mosaic_gauntlet" / "openbook_qa.jsonl", n or 300, shots=5),
    "copa-0": lambda n: documents.gauntlet(SHARED / "mosaic_gauntlet" / "copa.jsonl", n or 90, shots=0),
    "copa-5": lambda n: documents.gauntlet(SHARED / "mosaic_gauntlet" / "copa.jsonl", n or 90, shots=5),
    "hellaswag-5": lambda n: documents.hellaswag(
        SHARED / "hellaswag_requests" / "rc_5shot" / "requests.jsonl.gz", n or 60
    ),
}


def _model() -> Any:
    from veridical.models import load

    return load("smollm2", device="cpu")


def agreement(ours: list[list[float]], theirs: list[list[float]]) -> dict[str, Any]:
    """How many documents get the same choice, near ties aside, and the largest difference in log-likelihood."""
    tied = different = 0
    for mine, peers in zip(ours, theirs, strict=True):
        best, second = sorted(peers, reverse=True)[:2]
        if best - second < NEAR_TIE:
            tied += 1
        elif mine.index(max(mine)) != peers.index(max(peers)):
            different += 1
    largest = max(
        abs(a - b) for mine, peers in zip(ours, theirs, strict=True) for a, b in zip(mine, peers, strict=True)
    )
    return {"near_ties": tied, "different_choices": different, "largest_difference": largest}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=WORK)
    parser.add_argument("--peer", default=sys.executable, help="an interpreter that has lm-eval[hf] installed")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--items", type=int, default=None)
    parser.add_argument("--batch", choices=BATCHES, default=None, help="the harness's batch, where it is known")
    given = parser.parse_args()
    folder = smollm2_folder()
    with tempfile.TemporaryDirectory() as temporary:
        path, first = Path(temporary) / "documents.jsonl", Path(temporary) / "first.jsonl"
        n = documents.write(WORK[given.work](given.items), path)
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        first.write_text("".join(lines[: max(8, n // 20)]), encoding="utf-8")

        def peer(file: Path, batch: str) -> dict[str, Any]:
            return worker(given.peer, "score_with_lm_eval.py", folder, str(file), batch)

        tried = {} if given.batch else {batch: peer(first, batch)["seconds"] for batch in BATCHES}
        best = given.batch or min(tried, key=tried.__getitem__)
        timed = alternate(
            {
                "veridical": lambda: worker(sys.executable, "score_with_veridical.py", folder, str(path)),
                "lm_eval": lambda: peer(path, best),
            },
            given.runs,
        )
    ours, theirs = median(timed["veridical"]), median(timed["lm_eval"])
    what = {
        "items": n,
        "runs": given.runs,
        "lm_eval_batch": best,
        "lm_eval_batches_tried_s": tried,
        "veridical_s": [run["seconds"] for run in timed["veridical"]],
        "lm_eval_s": [run["seconds"] for run in timed["lm_eval"]],
        "distinct_tokens": timed["veridical"][0]["tokens"],
        "veridical_peak_mib": median(timed["veridical"], "peak_mib"),
        "lm_eval_peak_mib": median(timed["lm_eval"], "peak_mib"),
        **agreement(timed["veridical"][0]["scores"], timed["lm_eval"][0]["scores"]),
    }
    what["memory_ratio"] = what["veridical_peak_mib"] / what["lm_eval_peak_mib"]
    report(f"scoring-{given.work}", what, theirs / ours, "items per second, veridical over lm_eval")


if __name__ == "__main__":
    main()
