"""Proposals for masked words, against the `fill-mask` pipeline of transformers called position by position.

    python benchmarks/proposals.py

The model is `minilm-mlm`, saved as the plain BERT that it is. The words are those of the imperfective suite's sentences
that are one token; every masked sentence stands once, so that nothing is gained by computing equal ones together. Both
sides give the 100 likeliest words of each place. Each side is a process of its own (`--side` runs one); loading is not
timed. Prints the ratio last.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.pop("OPENBLAS_CORETYPE", None)

from harness import alternate, median, report, worker

TOP = 100
SEEN = 20
"""Places at which the two sides' likeliest words are compared."""
PLACES = "places.json"

Place = tuple[str, int, int]


def places(n: int, tokenizer: Any) -> list[Place]:
    """(sentence, start, stop) of `n` words of one token, no two of which leave the same masked sentence."""
    from veridical.suites.registry import load

    sentences = dict.fromkeys(text for item in load("imperfective").items for text in item.fields.values())
    found = {
        (sentence[: word.start()], sentence[word.end() :]): (sentence, word.start(), word.end())
        for sentence in sentences
        for word in re.finditer(r"(?<!\S)[a-z]{2,}(?=\s)", sentence)
        if len(tokenizer.tokenize(word.group())) == 1
    }
    spread = list(found.values())
    return spread[:: max(1, len(spread) // n)][:n]


def side(name: str, folder: str) -> None:
    asked: list[Place] = json.loads((Path(folder) / PLACES).read_text(encoding="utf-8"))
    if name == "veridical":
        from veridical.variation.masked import load_masked
        from veridical.variation.protocol import Slot

        proposer = load_masked(f"hf/{folder}", device="cpu")
        list(proposer.propose([Slot("He ran.", 3, 6)], TOP))
        began, used = time.perf_counter(), time.process_time()
        found = dict(proposer.propose([Slot(*place) for place in asked], TOP))
        seconds, used = time.perf_counter() - began, time.process_time() - used
        best = [
            {candidate.word: candidate.probability for candidate in found[number].candidates} for number in range(SEEN)
        ]
        if any(proposal.original is None for proposal in found.values()):
            sys.exit("a word was left out, which the other side does not do")
    else:
        from transformers import pipeline

        fill = pipeline("fill-mask", model=folder, device=-1)
        mask = fill.tokenizer.mask_token
        fill(f"He {mask}.", top_k=TOP)
        began, used = time.perf_counter(), time.process_time()
        answers = [fill(text[:start] + mask + text[stop:], top_k=TOP) for text, start, stop in asked]
        seconds, used = time.perf_counter() - began, time.process_time() - used
        best = [{answer["token_str"]: answer["score"] for answer in answers[number]} for number in range(SEEN)]
    print(json.dumps({"seconds": seconds, "processor_seconds": used, "best": best}))


def largest_difference(ours: list[dict[str, float]], theirs: list[dict[str, float]]) -> float:
    """Of the probabilities of words that both sides give."""
    return max(
        abs(one[word] - other[word]) for one, other in zip(ours, theirs, strict=True) for word in one if word in other
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--places", type=int, default=2000)
    parser.add_argument("--side", choices=("veridical", "transformers"))
    parser.add_argument("--folder", help="of the model, for --side")
    given = parser.parse_args()
    if given.side:
        side(given.side, given.folder)
        return
    from veridical.variation import minilm

    with tempfile.TemporaryDirectory() as folder:
        model = minilm.load(device="cpu")
        model.model.save_pretrained(folder)
        model.tokenizer.save_pretrained(folder)
        asked = places(given.places, model.tokenizer)
        (Path(folder) / PLACES).write_text(json.dumps(asked), encoding="utf-8")
        sides = {
            name: lambda name=name: worker(sys.executable, "proposals.py", "--side", name, "--folder", folder)
            for name in ("veridical", "transformers")
        }
        timed = alternate(sides, given.runs)
    ours, theirs = timed["veridical"], timed["transformers"]
    what = {
        "places": len(asked),
        "veridical_s": [run["seconds"] for run in ours],
        "transformers_s": [run["seconds"] for run in theirs],
        "veridical_processor_s": [run["processor_seconds"] for run in ours],
        "transformers_processor_s": [run["processor_seconds"] for run in theirs],
        "places_a_second": len(asked) / median(ours),
        "largest_difference_of_a_probability": largest_difference(ours[0]["best"], theirs[0]["best"]),
    }
    meaning = "time of the fill-mask pipeline, over veridical's"
    report("proposals", what, median(theirs) / median(ours), meaning)


if __name__ == "__main__":
    main()
