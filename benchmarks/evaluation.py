"""The harness's own evaluation of one of its tasks: with its `hf` model at its best batch, and with our engine.

    python benchmarks/evaluation.py choices --shots 5 --items 100
    python benchmarks/evaluation.py written --items 32

Both sides are `lm_eval.simple_evaluate` in this process, over the same weights (SmolLM2-135M-Instruct, float32), in
alternating runs; what is timed is the evaluation, the task loaded anew included. Documents are OpenBookQA's. The
harness draws the examples for each document anew, so that documents share no prefix; `--sampler first_n` gives all the
same ones. `hf` runs at the best of batch 1, 8, 32 and auto, found on the first documents. Prints the ratio last.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from harness import alternate, median, report, smollm2_folder

DATA = Path(__file__).parents[2] / "shared" / "data" / "mosaic_gauntlet" / "openbook_qa.jsonl"
BATCHES: tuple[int | str, ...] = (1, 8, 32, "auto")

TASK = """
task: {work}
dataset_path: json
dataset_kwargs: {files}
test_split: test
fewshot_split: train
num_fewshot: {shots}
fewshot_config: {{sampler: {sampler}}}
doc_to_text: "Question: {{{{query}}}}\\nAnswer:"
"""
KINDS = {
    "choices": """
output_type: multiple_choice
doc_to_choice: choices
doc_to_target: gold
metric_list: [{metric: acc}, {metric: acc_norm}]
""",
    "written": """
output_type: generate_until
doc_to_target: "{{choices[gold]}}"
generation_kwargs: {until: ["\\n"], max_gen_toks: 64, do_sample: false}
metric_list: [{metric: exact_match}]
""",
}


def write_task(folder: Path, work: str, n: int, shots: int, sampler: str) -> None:
    lines = DATA.read_text(encoding="utf-8").splitlines(keepends=True)
    files = {"train": folder / "train.jsonl", "test": folder / "test.jsonl"}
    files["train"].write_text("".join(lines[:50]), encoding="utf-8")
    files["test"].write_text("".join(lines[50 : 50 + n]), encoding="utf-8")
    kwargs = {"data_files": {split: str(path) for split, path in files.items()}, "cache_dir": str(folder / "cache")}
    text = TASK.format(work=work, files=json.dumps(kwargs), shots=shots, sampler=sampler) + KINDS[work]
    (folder / f"{work}.yaml").write_text(text, encoding="utf-8")


def evaluation(lm: Any, folder: Path, work: str, limit: int | None = None) -> dict[str, Any]:
    """Seconds, and what came back for every request, in order."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    tasks = TaskManager(include_path=str(folder), include_defaults=False)
    began = time.perf_counter()
    found = simple_evaluate(lm, tasks=[work], task_manager=tasks, bootstrap_iters=0, limit=limit)
    seconds = time.perf_counter() - began
    samples = sorted(found["samples"][work], key=lambda sample: sample["doc_id"])
    return {"seconds": seconds, "answers": [[one[0] for one in sample["resps"]] for sample in samples]}


def agreement(work: str, ours: list[list[Any]], theirs: list[list[Any]]) -> dict[str, Any]:
    if work == "written":
        return {"texts": len(ours), "same_texts": sum(a == b for a, b in zip(ours, theirs, strict=True))}
    pairs = [(a, b) for mine, other in zip(ours, theirs, strict=True) for a, b in zip(mine, other, strict=True)]
    best = [[[value for value, _ in one] for one in side] for side in (ours, theirs)]
    return {
        "largest_difference": max(abs(a[0] - b[0]) for a, b in pairs),
        "different_greedy": sum(a[1] != b[1] for a, b in pairs),
        "different_choices": sum(a.index(max(a)) != b.index(max(b)) for a, b in zip(*best, strict=True)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=KINDS)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--shots", type=int, default=5)
    parser.add_argument("--sampler", choices=("default", "first_n"), default="default")
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable(logging.WARNING)

    from lm_eval.models.huggingface import HFLM

    from veridical.interop.harness.model import EngineLM

    weights = smollm2_folder()
    ours = EngineLM(f"hf/{weights}", device="cpu")

    def theirs(batch: int | str) -> HFLM:
        return HFLM(pretrained=weights, dtype="float32", device="cpu", batch_size=batch)

    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_task(folder, given.work, given.items, given.shots, given.sampler)
        few = max(8, given.items // 10)
        # Once before the clock: `datasets` makes its copy of the documents.
        evaluation(ours, folder, given.work, limit=2)
        tried = {batch: evaluation(theirs(batch), folder, given.work, limit=few)["seconds"] for batch in BATCHES}
        best = min(tried, key=tried.__getitem__)
        hf = theirs(best)
        sides: dict[str, Callable[[], Any]] = {
            "veridical": lambda: evaluation(ours, folder, given.work),
            "hf": lambda: evaluation(hf, folder, given.work),
        }
        timed = alternate(sides, given.runs)
    what = {
        "items": given.items,
        "shots": given.shots,
        "sampler": given.sampler,
        "runs": given.runs,
        "hf_batch": best,
        "hf_batches_tried_s": {str(batch): round(seconds, 2) for batch, seconds in tried.items()},
        "veridical_s": [run["seconds"] for run in timed["veridical"]],
        "hf_s": [run["seconds"] for run in timed["hf"]],
        **agreement(given.work, timed["veridical"][0]["answers"], timed["hf"][0]["answers"]),
    }
    name = f"lm-eval-{given.work}-{given.shots}-{given.sampler}"
    report(name, what, median(timed["hf"]) / median(timed["veridical"]), "evaluations per second, veridical over hf")


if __name__ == "__main__":
    main()
