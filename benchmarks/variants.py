"""What variants cost besides proposals: tagging, and memory as the seeds grow.

    python benchmarks/variants.py

Tagging is of 10,000 sentences, those of the imperfective suite under other names of persons, so that no two are equal.
Memory is the highest that a process holds which varies few and many seeds (problems whose texts take 20 KB each, so
that seeds that were kept would show) with a proposer that costs nothing. Loading is not timed. Prints the ratio of the
two last: 1 is flat.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

os.environ.pop("OPENBLAS_CORETYPE", None)

from harness import Timed, report, worker

SENTENCES = 10_000
FEW, MANY = 512, 4_096
PADDING = " ".join(["and so on"] * 2_000)


def sentences(n: int) -> list[str]:
    """`n` sentences of the imperfective suite, each once: from the second round on, somebody says them."""
    from veridical.suites.registry import load

    texts = list(dict.fromkeys(text for item in load("imperfective").items for text in item.fields.values()))
    told = (text if not turn else f"Witness {turn} says: {text}" for turn in range(n) for text in texts)
    return list(islice(told, n))


def tagging() -> Timed:
    from veridical.variation.tagging import load_tagger

    tagger, asked = load_tagger(), sentences(SENTENCES)
    list(tagger.tag(asked[:64]))
    began, used = time.perf_counter(), time.process_time()
    tokens = sum(len(found) for found in tagger.tag(asked))
    return {
        "seconds": time.perf_counter() - began,
        "processor_seconds": time.process_time() - used,
        "tokens": tokens,
    }


def memory(n: int) -> Timed:
    from veridical.variation.builder import vary
    from veridical.variation.problems import read_seeds
    from veridical.variation.protocol import Candidate, Proposal, Slot
    from veridical.variation.tagging import TaggedTokens, Token

    class Cats:
        name, fingerprint = "cats", "0"

        def propose(self, slots: Sequence[Slot], top: int) -> Iterator[tuple[int, Proposal]]:
            yield from enumerate(Proposal(0.1, (Candidate("cat", 0.2),)) for _ in slots)

    class Dogs:
        name = "dogs"

        def tag(self, texts: Iterator[str]) -> Iterator[TaggedTokens]:
            for text in texts:
                yield (Token(text[4:7], 4, "NN", "noun"),)

    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "seeds.tsv"
        with table.open("w", encoding="utf-8") as file:
            file.write("premise\thypothesis\tlabel\n")
            file.writelines(f"The dog {row} sleeps {PADDING}\tThe dog {row} is tired\tneutral\n" for row in range(n))
        began = time.perf_counter()
        made = vary(read_seeds(table), proposers=[Cats()], tagger=Dogs(), out=Path(folder) / "variants.jsonl")
        if made.variants != n:
            sys.exit(f"{made.variants} variants of {n} seeds, where each has one")
    return {
        "seconds": time.perf_counter() - began,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", choices=("tagging", "memory"))
    parser.add_argument("--seeds", type=int, default=FEW)
    given = parser.parse_args()
    if given.side:
        print(json.dumps(tagging() if given.side == "tagging" else memory(given.seeds)))
        return
    tagged = worker(sys.executable, "variants.py", "--side", "tagging")
    few, many = (worker(sys.executable, "variants.py", "--side", "memory", "--seeds", str(n)) for n in (FEW, MANY))
    what = {
        "sentences_tagged": SENTENCES,
        "tagging_s": tagged["seconds"],
        "tagging_processor_s": tagged["processor_seconds"],
        "seeds": [FEW, MANY],
        "megabytes": [few["megabytes"], many["megabytes"]],
    }
    report("variants", what, many["megabytes"] / few["megabytes"], f"memory at {MANY:,} seeds, over that at {FEW:,}")


if __name__ == "__main__":
    main()
