"""What a sealed run folder costs: 100,000 answers written and read, with checksums and cross-references or not.

    python benchmarks/sealing.py

Without: nothing is hashed, the manifest is written once, parts are read as they are found, tables are not joined with
each other. The answers are those of a model that takes no time, so that writing is all there is. Three rounds of each,
in turn; prints the fastest of each and the share that sealing adds to writing, to reading and to both. Time is that of
the processor, so that what else the machine does counts for little; waiting for the disk is the same either way.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

from veridical.files import checksum
from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.models.protocol import ChoiceScore, Outcome, Request, TokenSequence
from veridical.prompts.template import Prompt
from veridical.runs.editing import Editing
from veridical.runs.job import WINDOW
from veridical.runs.load import open_runs
from veridical.runs.manifest import Manifest, ModelEntry, RunSettings, SuiteEntry, read_manifest
from veridical.runs.plan import AskOptions, plan
from veridical.runs.store import RunStore
from veridical.status import Status

N, ROUNDS = 100_000, 3
LABELS = ("True", "False")


def suite_of(n: int) -> Suite:
    """`n` items with two choices, four to a set."""
    choices = tuple(Choice(label=label, continuation=label) for label in LABELS)
    items = tuple(Item(fields={"text": f"Statement {i}."}, choices=choices, gold=("True",)) for i in range(n))
    members = tuple(Member(set=str(i // 4), item=item.id) for i, item in enumerate(items))
    prompt = Prompt(name="ask", user="{{ text }}")
    return Suite(
        name="many",
        version="1",
        labels=LABELS,
        prompts=(prompt,),
        items=items,
        groupings=(Grouping(name="s", members=members),),
    )


@contextlib.contextmanager
def without_seal() -> Iterator[None]:
    """Neither hashes nor lists, as Veridical 0.1.0."""
    save = Editing.save

    def once(self: Editing) -> None:
        if self._written is None:
            save(self)
            self._written = self.manifest

    unlisted = patch(
        "veridical.runs.load.read_manifest", lambda path: read_manifest(path).model_copy(update={"parts": None})
    )
    there = patch(
        "veridical.runs.parts.read_manifest", lambda path: read_manifest(path).model_copy(update={"parts": None})
    )
    same = "0" * 64
    with (
        patch.object(Editing, "save", once),
        patch.object(checksum, "of_bytes", lambda data: same),
        patch.object(checksum, "of_file", lambda path: same),
        patch("veridical.runs.load.check_references", lambda *given: None),
        patch("veridical.runs.manifest._seal", lambda document: same),
        unlisted,
        there,
    ):
        yield


def write(folder: Path, suite: Suite, requests: list[tuple[object, Request, str]], manifest: Manifest) -> float:
    """Processor seconds to write the questions and the answers of a run."""
    start = time.process_time()
    store = RunStore(folder, manifest, [plan(suite, AskOptions())])
    for begin in range(0, len(requests), WINDOW):
        store.add_requests(requests[begin : begin + WINDOW])  # type: ignore[arg-type]
    for place, (_, _, key) in enumerate(requests):
        scores = (ChoiceScore(-1.0 - place % 7, 2, 5, 5), ChoiceScore(-2.0, 2, 5, 5))
        store.add(key, Outcome(Status.OK, scores=scores))
    store.flush()
    return time.process_time() - start


def read(folder: Path) -> float:
    """Processor seconds to open the run and have its answers as a frame."""
    checksum._known.clear()
    start = time.process_time()
    (run,) = open_runs([folder])
    assert run.frame.height == N
    return time.process_time() - start


def main() -> None:
    suite = suite_of(N)
    entry = SuiteEntry(name=suite.name, version=suite.version, content_hash=suite.content_hash)
    model = ModelEntry(name="none", fingerprint={}, digest="0" * 16)
    manifest = Manifest(created="", model=model, suites=(entry,), settings=RunSettings(seed=0))
    asks = plan(suite, AskOptions()).asks
    tokens = (TokenSequence(tuple(range(40)), (1, 2), 5, 5), TokenSequence(tuple(range(40)), (3, 4), 5, 5))
    requests: list[tuple[object, Request, str]] = [(ask, Request(tokens), f"{n:032d}") for n, ask in enumerate(asks)]
    requests = requests[:N]
    times: dict[tuple[str, str], list[float]] = {}
    for _ in range(ROUNDS):
        for name, around in (("with", contextlib.nullcontext), ("without", without_seal)):
            with tempfile.TemporaryDirectory() as place, around():
                times.setdefault(("writing", name), []).append(write(Path(place) / "run", suite, requests, manifest))
                times.setdefault(("reading", name), []).append(read(Path(place) / "run"))
    fastest = {key: min(seconds) for key, seconds in times.items()}
    for name in ("with", "without"):
        fastest["both", name] = fastest["writing", name] + fastest["reading", name]
    for what in ("writing", "reading", "both"):
        sealed, bare = fastest[what, "with"], fastest[what, "without"]
        print(f"{what}: {sealed:.2f} s sealed, {bare:.2f} s not sealed: {100 * (sealed / bare - 1):+.1f} %")


if __name__ == "__main__":
    main()
