"""What we put to a model is what lm-evaluation-harness puts to it, string for string.

The harness's own task files are rendered over the same local rows: a task of ours includes each of them and names
another data set. Skipped where the harness is not installed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from veridical.judge.answers import read_scores
from veridical.runs.plan import AskOptions, plan, query
from veridical.runs.shots import shown_examples
from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.build import asked_items, once, suite_of
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy, asked_rows, training_rows

from .asking import PUBLISHED, requests

lm_eval = pytest.importorskip(
    "lm_eval", reason="lm-evaluation-harness is not installed (pip install veridical[lm-eval])"
)

TASK_FILES = Path(lm_eval.__file__).parent / "tasks"

HARNESS = {
    "blimp": ("blimp", "blimp/wh_island.yaml"),
    "hellaswag": ("hellaswag", "hellaswag/hellaswag.yaml"),
    "piqa": ("piqa", "piqa/piqa.yaml"),
    "social-iqa": ("social-iqa", "siqa/siqa.yaml"),
    "winogrande": ("winogrande", "winogrande/default.yaml"),
}
"""Benchmark to the folder of our small files and the harness's own task file."""


@pytest.mark.parametrize("name", HARNESS)
def test_requests_are_the_harness_s_own(name: str, tmp_path: Path) -> None:
    folder, task_file = HARNESS[name]
    copy = Copy(folder=PUBLISHED / folder)
    ours = [pairs for _, pairs in requests(benchmark(TASKS[name], copy).suite)]
    rows = [dict(row.values) for row in asked_rows(TASKS[name], copy)]
    theirs = list(harness_requests(rows, TASK_FILES / task_file, tmp_path))
    if TASKS[name].shuffle:
        ours, theirs = [sorted(pairs) for pairs in ours], [sorted(pairs) for pairs in theirs]
    assert len(ours) == len(rows)
    assert ours == theirs


def test_every_benchmark_that_the_harness_has_is_compared_or_says_how_it_differs() -> None:
    assert [name for name, task in TASKS.items() if task.lm_eval and not task.differs and name not in HARNESS] == []


@pytest.mark.parametrize(("name", "shots"), [("piqa", 2), ("winogrande", 2), ("hellaswag", 2), ("social-iqa", 1)])
def test_prompts_with_examples_are_the_harness_s_own(name: str, shots: int, tmp_path: Path) -> None:
    """Which examples are shown is each side's own affair; the harness is given ours, in our order."""
    folder, task_file = HARNESS[name]
    task, copy = TASKS[name], Copy(folder=PUBLISHED / folder)
    suite = benchmark(task, copy, shots=shots).suite
    # Training rows by the text that they are shown as.
    pool = {one.item.id: one.row for one in asked_items(task, training_rows(task, copy) or asked_rows(task, copy))}
    by_text = {}
    for item, pairs in requests(suite_of(task, once(task, asked_items(task, list(pool.values())))[0])):
        right = item.labels.index(item.gold[0])
        by_text["".join(pairs[right])] = dict(pool[item.id].values)
    asked = requests(suite)
    for row, (item, ours) in zip(asked_rows(task, copy), asked, strict=True):
        shown = [by_text[text] for text in shown_examples(suite, item)]
        (theirs,) = harness_requests([dict(row.values)], TASK_FILES / task_file, tmp_path, shown)
        assert ours == theirs


@pytest.mark.model
@pytest.mark.parametrize("name", HARNESS)
def test_scores_and_answers_are_the_harness_s_own(name: str, tmp_path: Path, smollm2) -> None:  # type: ignore[no-untyped-def]
    """Log-likelihoods, and whether an item is right by their sum (`acc`) and by character (`acc_norm`)."""
    from lm_eval.models.huggingface import HFLM

    folder, task_file = HARNESS[name]
    copy = Copy(folder=PUBLISHED / folder)
    suite = benchmark(TASKS[name], copy).suite
    asks = plan(suite, AskOptions()).asks
    outcomes = dict(smollm2.answer([smollm2.prepare(query(suite, ask)) for ask in asks]))
    ours = {}
    for place, ask in enumerate(asks):
        item, scores = suite.by_id[ask.item], outcomes[place].scores
        texts = "".join(sorted(choice.continuation for choice in item.choices))
        right = [read_scores(item.labels, scores, view).label in item.gold for view in ("sum", "char")]
        ours[item.fields.get("sentence", ""), texts] = sorted(score.total for score in scores), right

    rows = [dict(row.values) for row in asked_rows(TASKS[name], copy)]
    task = harness_task(rows, TASK_FILES / task_file, tmp_path)
    model = HFLM(pretrained=smollm2.engine.model, tokenizer=smollm2.encoder.tokenizer, batch_size=4)
    for number, doc in enumerate(task.eval_docs):
        made = task.construct_requests(doc, task.fewshot_context(doc, num_fewshot=0), metadata=("local", number, 1))
        results = model.loglikelihood(made, disable_tqdm=True)
        metrics = task.process_results(doc, results)
        choices = [task.doc_to_target(doc)] * 2 if name == "winogrande" else task.doc_to_choice(doc)
        totals, right = ours[doc.get("sentence", ""), "".join(sorted(choices))]
        assert totals == pytest.approx(sorted(total for total, _ in results), abs=2e-3)
        assert right[0] == metrics["acc"]
        assert right[1] == metrics.get("acc_norm", right[1])


def as_on_the_hub(row: Mapping[str, object]) -> dict[str, object]:
    """PIQA's labels are numbers on the hub: as text the harness would show an example's label for its answer."""
    return {**row, "label": int(str(row["label"]))} if "sol1" in row else dict(row)


def harness_requests(
    rows: Sequence[Mapping[str, object]], task_file: Path, folder: Path, shown: Sequence[Mapping[str, object]] = ()
) -> Iterator[list[tuple[str, str]]]:
    """The (context, continuation) pairs of each row, as the harness makes them from its own task file.

    `shown` are the rows of its examples, in their order.
    """
    loaded = harness_task(rows, task_file, folder, shown)
    for number, doc in enumerate(loaded.eval_docs):
        context = loaded.fewshot_context(doc, num_fewshot=len(shown))
        made = loaded.construct_requests(doc, context, metadata=("local", number, 1))
        yield [instance.args for instance in made]


def harness_task(
    rows: Sequence[Mapping[str, object]], task_file: Path, folder: Path, shown: Sequence[Mapping[str, object]] = ()
) -> Any:
    """The harness's own task over these rows."""
    from lm_eval.tasks import TaskManager, get_task_dict

    files = {}
    for split, values in (("validation", rows), ("test", rows), ("train", shown or rows), ("dev", shown or rows)):
        path = folder / f"{split}.jsonl"
        path.write_text("".join(json.dumps(as_on_the_hub(row)) + "\n" for row in values), encoding="utf-8")
        files[split] = str(path)
    task = {
        "include": str(task_file),
        "task": "local",
        "dataset_path": "json",
        "dataset_name": None,
        "dataset_kwargs": {"data_files": files},
        "fewshot_split": "train",
        "fewshot_config": {"sampler": "first_n"},
    }
    (folder / "local.yaml").write_text(json.dumps(task))  # JSON is YAML
    return get_task_dict(["local"], TaskManager(include_path=str(folder), include_defaults=False))["local"]
