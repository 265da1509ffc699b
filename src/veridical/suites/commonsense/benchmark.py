"""A benchmark's suite over the user's copy, with examples where they are asked for."""

from __future__ import annotations

from veridical.collector import collector_paused
from veridical.items import Suite
from veridical.suites.commonsense.build import Built, asked_and_left_out, asked_items, once, suite_of, without_sets
from veridical.suites.commonsense.copies import Copy, asked_rows, training_rows
from veridical.suites.commonsense.examples import examples
from veridical.suites.commonsense.task import Task


def benchmark(task: Task, copy: Copy, *, shots: int = 0, seed: int = 0, drafted: bool = False) -> Built:
    """The suite of a task; with `shots`, each prompt shows as many solved items before the one that is asked.

    They are drawn (by `seed`) from the training split where one is at hand, else from the data themselves. With
    `drafted`, and without examples, items are made when they are asked for: for a few sets of many.
    Raises UserError where the data are not to be had or at fault, or hold too few examples.
    """
    with collector_paused():
        return _benchmark(task, copy, shots, seed, drafted)


def _benchmark(task: Task, copy: Copy, shots: int, seed: int, drafted: bool) -> Built:
    reading: list[str] = []
    rows = asked_rows(task, copy, reading)
    found, left_out, _ = asked_and_left_out(task, rows)
    asked, repeats = once(task, found)
    if not asked:
        rows[0].fail(f"none of {len(rows)} rows is to be asked as {task.name}")
    notes = (*reading, *left_out, *repeats, *without_sets(task, asked))
    suite = suite_of(task, asked, drafted=drafted and not shots)
    if not shots:
        return Built(suite, notes)
    training = training_rows(task, copy)
    pool = asked if training is None else asked_items(task.training or task, training)
    prompt = suite.prompts[0]
    shown = examples(prompt, asked, pool, shots, seed)
    source = "the data themselves" if training is None else training[0].source
    parts = {name: getattr(suite, name) for name in Suite.model_fields}
    parts |= {"shots": shots, "examples": shown, "prompts": (prompt.model_copy(update={"name": f"{shots}-shot"}),)}
    return Built(Suite(**parts), (*notes, f"{task.name}: {shots} examples before each item, from {source}"))
