"""Distinct tokens per second of a whole scoring run, over the bare transformer body's on one dense batch.

    python benchmarks/body_rate.py

The dense batch has rows of the prompts' mean length and as many tokens as the engine runs at once; it has no padding,
no vocabulary projection and no shared prefix. Runs alternate in one process. Prints the ratio last.
"""

from __future__ import annotations

import argparse
import os
import time

os.environ.pop("OPENBLAS_CORETYPE", None)

import documents
import torch
from harness import alternate, median, report
from score_with_veridical import requests_of

from veridical.models import load


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    model = load("smollm2", device="cpu")
    requests = requests_of(model, list(documents.imperfective(model)))
    width = round(sum(len(request.sequences[0].context) for request in requests) / len(requests))
    rows = max(1, model.engine.budget.batch_tokens // width)
    ids = torch.randint(100, 40_000, (rows, width), generator=torch.Generator().manual_seed(0))
    body = model.engine.model.get_decoder()

    def dense() -> dict[str, float]:
        began = time.perf_counter()
        with torch.inference_mode():
            for _ in range(4):
                body(ids, use_cache=False)
        seconds = time.perf_counter() - began
        return {"seconds": seconds, "rate": 4 * ids.numel() / seconds}

    def scoring() -> dict[str, float]:
        before = model.engine.n_tokens_run
        began = time.perf_counter()
        for _ in model.answer(requests):
            pass
        seconds = time.perf_counter() - began
        return {"seconds": seconds, "rate": (model.engine.n_tokens_run - before) / seconds}

    dense()
    timed = alternate({"body": dense, "veridical": scoring, "body again": dense}, given.runs)
    bare = (median(timed["body"], "rate") + median(timed["body again"], "rate")) / 2
    what = {
        "items": len(requests),
        "dense_batch": [rows, width],
        "body_tokens_per_s": bare,
        "veridical_distinct_tokens_per_s": median(timed["veridical"], "rate"),
    }
    report(
        "body_rate", what, median(timed["veridical"], "rate") / bare, "distinct tokens per second, over the bare body"
    )


if __name__ == "__main__":
    main()
