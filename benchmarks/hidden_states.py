"""Hidden states: penultimate block, last token, 400 prompts, against `output_hidden_states=True` in padded batches.

    python benchmarks/hidden_states.py

Each side is a process of its own (`--side` runs one), so that peak memory is its own; the extra memory is the peak over
what stood there before the first pass. Prints the ratio of times last.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path

os.environ.pop("OPENBLAS_CORETYPE", None)

import documents
import numpy as np
from harness import alternate, median, report, worker


class Watch:
    """Resident memory in MiB, sampled in a thread, above what it was at the start."""

    def __enter__(self) -> Watch:
        self.before, self.peak, self.running = self._now(), 0.0, True
        self.thread = threading.Thread(target=self._sample)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.running = False
        self.thread.join()

    def _sample(self) -> None:
        while self.running:
            self.peak = max(self.peak, self._now() - self.before)
            time.sleep(0.005)

    def _now(self) -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def side(name: str, n: int) -> None:
    import torch

    from veridical.models import load

    model = load("smollm2", device="cpu")
    lines = list(documents.imperfective(model))[:n]
    prompts = [tuple(model.encoder.tokenizer(line["context"], add_special_tokens=False)["input_ids"]) for line in lines]
    network = model.engine.model
    layer = network.config.num_hidden_layers - 1
    network(torch.tensor([prompts[0]]))  # so that no page of the weights is touched for the first time below
    with Watch() as memory, torch.inference_mode():
        began = time.perf_counter()
        if name == "veridical":
            states = model.engine.hidden_states(prompts, (layer,))[:, 0]
        else:
            parts = []
            for start in range(0, n, 32):
                batch = prompts[start : start + 32]
                width = max(map(len, batch))
                ids = torch.full((len(batch), width), 2)
                mask = torch.zeros_like(ids)
                for row, prompt in enumerate(batch):
                    ids[row, : len(prompt)] = torch.tensor(prompt)
                    mask[row, : len(prompt)] = 1
                output = network(ids, attention_mask=mask, output_hidden_states=True)
                parts.append(output.hidden_states[layer][torch.arange(len(batch)), mask.sum(1) - 1].numpy().copy())
            states = np.concatenate(parts)
        seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "extra_mib": memory.peak, "norms": np.linalg.norm(states, axis=1).tolist()}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--items", type=int, default=400)
    parser.add_argument("--side", choices=("veridical", "transformers"))
    given = parser.parse_args()
    if given.side:
        side(given.side, given.items)
        return
    sides = {
        name: lambda name=name: worker(sys.executable, "hidden_states.py", "--side", name, "--items", str(given.items))
        for name in ("veridical", "transformers")
    }
    timed = alternate(sides, given.runs)
    ours, theirs = timed["veridical"], timed["transformers"]
    norms = [np.asarray(side_[0]["norms"]) for side_ in (ours, theirs)]
    what = {
        "prompts": given.items,
        "veridical_s": [run["seconds"] for run in ours],
        "transformers_s": [run["seconds"] for run in theirs],
        "veridical_extra_mib": median(ours, "extra_mib"),
        "transformers_extra_mib": median(theirs, "extra_mib"),
        "extra_memory_ratio": median(ours, "extra_mib") / median(theirs, "extra_mib"),
        "largest_relative_difference_of_norms": float(np.max(np.abs(norms[0] / norms[1] - 1))),
    }
    report("hidden_states", what, median(theirs) / median(ours), "time of padded batches, over veridical's")


if __name__ == "__main__":
    main()
