"""A run of many requests to a model that answers at once: time and peak memory of asking, going on, judging, the page.

    python benchmarks/scale.py --requests 100000 1000000

Every stage is a process of its own, so that its peak memory is its own. The suite has one item for ten requests (a
prompt in ten label orders would be the same), and a request has 200 token ids in two sequences. Prints one row a
number of requests, and the seconds until the first answer.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.models.protocol import (
    ChoiceScore,
    Fingerprint,
    GenerationSettings,
    Outcome,
    Query,
    Request,
    TokenSequence,
)
from veridical.prompts.template import Prompt
from veridical.status import Status
from veridical.studies.run import run
from veridical.studies.study import open_study

LABELS = ("True", "False")
PROMPTS = 10
CHOICES = tuple(Choice(label=label, continuation=label) for label in LABELS)
STAGES = ("ask", "go on", "judge")


def suite_of(n_items: int) -> Suite:
    """Items with two choices, four to a set, under ten prompts."""
    items = tuple(
        Item(fields={"text": f"Statement {i}."}, choices=CHOICES, gold=(LABELS[i % 2],), factors={"half": i % 2})
        for i in range(n_items)
    )
    members = tuple(Member(set=str(i // 4), item=item.id) for i, item in enumerate(items))
    prompts = tuple(Prompt(name=f"prompt {k}", user=f"{k}: {{{{ text }}}}") for k in range(PROMPTS))
    grouping = Grouping(name="s", members=members)
    return Suite(name="many", version="1", labels=LABELS, prompts=prompts, items=items, groupings=(grouping,))


class AtOnce:
    """Answers at once. Every sequence has 100 token ids, which are numbers above 256 as a tokenizer's are."""

    name = "hf/none/at-once"
    fingerprint = Fingerprint({"weights": "none"})
    n_parameters = None
    modes = ("loglikelihood",)

    def __init__(self) -> None:
        self.first = 0.0

    def prepare(self, query: Query, settings: GenerationSettings | None = None) -> Request:
        """Token ids drawn from the text's hash."""
        begin = zlib.crc32(str(query.contexts[0]).encode()) % 1_000_000 + 1_000
        context = tuple(range(begin, begin + 98))
        return Request(tuple(TokenSequence(context, (k, k + 1), 5, 5) for k in range(len(query.continuations))))

    def answer(self, requests: Iterable[Request]) -> Iterator[tuple[int, Outcome]]:
        """Scores that follow from the token ids."""
        self.first = self.first or time.monotonic()
        for position, request in enumerate(requests):
            drawn = request.sequences[0].context[0] % 97
            scores = (ChoiceScore(-1.0, 2, 5, 5), ChoiceScore(-0.5 - drawn / 97, 2, 5, 5))
            yield position, Outcome(Status.OK, scores)


class AskedError(Exception):
    """All is asked: judging is a stage of its own."""


def _stop(_: object) -> None:
    raise AskedError


def stage(name: str, n_requests: int, folder: Path) -> dict[str, float]:
    """Seconds, peak memory in GB, and what else a stage of a run of that many requests shows."""
    shown: dict[str, float] = {}
    if name == "judge":
        begun = time.monotonic()
        study = open_study(folder)
        study.write()
        shown["page, MB"] = study.report.stat().st_size / 1e6
    else:
        suite, model = suite_of(n_requests // PROMPTS), AtOnce()
        begun = time.monotonic()
        with contextlib.suppress(AskedError):
            run(suite, model=model, out=folder, before_judging=_stop)
        if model.first:
            shown["first answer, s"] = model.first - begun
    shown["s"] = time.monotonic() - begun
    shown["GB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    return shown


def main() -> None:
    """Run each stage in a process of its own and print what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--stage", nargs=3, metavar=("STAGE", "REQUESTS", "FOLDER"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.stage:
        name, n, folder = given.stage
        print(json.dumps(stage(name, int(n), Path(folder))))
        return
    for n in given.requests:
        with tempfile.TemporaryDirectory() as folder:
            for name in STAGES:
                command = [sys.executable, __file__, "--stage", name, str(n), str(Path(folder) / "study")]
                done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
                shown = json.loads(done.stdout.splitlines()[-1])
                line = ", ".join(f"{value:.2f} {what}" for what, value in shown.items())
                print(f"{n:>9,} requests, {name}: {line}", flush=True)


if __name__ == "__main__":
    main()
