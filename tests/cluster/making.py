"""A tiny model on disk, and runs of the toy suite by it in one process and by workers."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import polars as pl

from tests.models import tiny
from tests.runs.toy import toy_suite
from veridical.cluster.units import Done, Unit
from veridical.cluster.worker import Worker
from veridical.models.protocol import GenerationSettings
from veridical.models.settings import LoadSettings
from veridical.progress import Silent
from veridical.runs.execute import execute
from veridical.runs.job import Job
from veridical.runs.plan import AskOptions, Plan, plan
from veridical.runs.states import Layers
from veridical.runs.store import RunStore, read_asks, read_responses
from veridical.studies.run import _manifest

SETTINGS = GenerationSettings(4)
BOTH = AskOptions(modes=("loglikelihood", "generate"))


def tiny_model(folder: Path) -> Path:
    tokenizer = tiny.byte_level_tokenizer()
    return tiny.saved(folder, tiny.llama(len(tokenizer), max_position_embeddings=512), tokenizer)


def worker(model: Path) -> Worker:
    return Worker(f"hf/{model}", LoadSettings(batch_tokens=256))


def begun(folder: Path, model: Any, n: int = 4) -> tuple[RunStore, list[Plan]]:
    plans = [plan(toy_suite(n), BOTH)]
    return RunStore(folder, _manifest(model, plans, BOTH, SETTINGS, ""), plans), plans


def in_one_process(folder: Path, model: Any, n: int = 4, layers: Layers | None = None) -> Path:
    store, plans = begun(folder, model, n)
    execute(model, store, Job.begin(model, plans, SETTINGS, Silent()), Silent(), layers)
    return folder


def by_workers(store: RunStore, plans: list[Plan], workers: list[Worker], work: Iterable[Unit]) -> list[Done]:
    """What workers make of units, in turns; their parts are listed."""
    for one in workers:
        one.begin((plans, SETTINGS), store.path, one.describe().fingerprint.digest)
    done = [workers[number % len(workers)].answer(unit) for number, unit in enumerate(work)]
    store.list_parts(part for one in done for part in one.parts)
    return done


def stored(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    return read_asks(folder).sort("key", "item", "prompt", "order", "repeat"), read_responses(folder).sort("key")
