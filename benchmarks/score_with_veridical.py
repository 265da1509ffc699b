"""One timed run of our engine over a file of documents. Prints one JSON line; the model is loaded before the clock."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from veridical.models import load
from veridical.models.protocol import LanguageModel, Query, Request
from veridical.prompts.template import PlainText


def requests_of(model: LanguageModel, lines: Sequence[dict[str, Any]]) -> list[Request]:
    """Documents as requests, every choice after the context (with a space where the text needs one)."""
    return [model.prepare(Query((PlainText(line["context"]),), tuple(line["choices"]))) for line in lines]


def main(model_folder: str, documents: str) -> None:
    model = load(f"hf/{model_folder}", device="cpu")
    lines = [json.loads(line) for line in Path(documents).read_text(encoding="utf-8").splitlines()]
    began = time.perf_counter()
    requests = requests_of(model, lines)
    prepared = time.perf_counter()
    outcomes = dict(model.answer(requests))
    seconds = time.perf_counter() - began
    print(
        json.dumps(
            {
                "seconds": seconds,
                "preparing": prepared - began,
                "tokens": model.engine.n_tokens_run,
                "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "scores": [[score.total for score in outcomes[i].scores] for i in range(len(lines))],
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
