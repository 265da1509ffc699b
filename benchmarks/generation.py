"""Greedy generation: prompt `cot`, 64 items, 128 tokens, against transformers' `generate` one item at a time.

    python benchmarks/generation.py

Runs alternate in one process, on the same weights and prompts. Prints the ratio of times last.
"""

from __future__ import annotations

import argparse
import os
import time
from typing import Any

os.environ.pop("OPENBLAS_CORETYPE", None)

import torch
from harness import alternate, median, report

from veridical.models import load
from veridical.models.protocol import GenerationSettings
from veridical.runs.plan import AskOptions, plan, query
from veridical.suites.registry import load as load_suite


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--items", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=128)
    given = parser.parse_args()
    model = load("smollm2", device="cpu")
    suite = load_suite("imperfective")
    options = AskOptions(modes=("generate",), prompts=("cot",), inputs=("full",), limit=given.items)
    asks = plan(suite, options).asks[: given.items]
    settings = GenerationSettings(given.tokens)
    requests = [model.prepare(query(suite, ask), settings) for ask in asks]
    written: dict[str, list[Any]] = {}

    def ours() -> dict[str, float]:
        began = time.perf_counter()
        outcomes = dict(model.answer(requests))
        seconds = time.perf_counter() - began
        written["ours"] = [outcomes[index].text for index in range(len(requests))]
        return {"seconds": seconds, "tokens": sum(outcome.n_tokens for outcome in outcomes.values())}

    def theirs() -> dict[str, float]:
        texts, tokens = [], 0
        began = time.perf_counter()
        for request in requests:
            ids = torch.tensor([request.sequences[0].context])
            output = model.engine.model.generate(
                ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=given.tokens,
                do_sample=False,
                eos_token_id=sorted(model.engine.stop),
                pad_token_id=2,
            )[0, ids.shape[1] :]
            tokens += len(output)
            texts.append(model.encoder.tokenizer.decode(output, skip_special_tokens=True))
        seconds = time.perf_counter() - began
        written["theirs"] = texts
        return {"seconds": seconds, "tokens": tokens}

    timed = alternate({"veridical": ours, "generate": theirs}, given.runs)
    same = sum(a == b for a, b in zip(written["ours"], written["theirs"], strict=True))
    what = {
        "items": len(requests),
        "max_new_tokens": given.tokens,
        "veridical_s": [run["seconds"] for run in timed["veridical"]],
        "generate_s": [run["seconds"] for run in timed["generate"]],
        "tokens_written": timed["veridical"][0]["tokens"],
        "same_text": f"{same} of {len(requests)}",
    }
    ratio = median(timed["generate"]) / median(timed["veridical"])
    report("generation", what, ratio, "time of generate one item at a time, over veridical's")


if __name__ == "__main__":
    main()
