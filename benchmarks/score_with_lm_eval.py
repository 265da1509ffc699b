"""One timed run of lm-evaluation-harness (`--model hf`) over the same documents, as a local task of its own.

Prints one JSON line; the model and the task are loaded before the clock.
"""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

TASK = """
task: documents
dataset_path: json
dataset_kwargs: {{data_files: {{test: {file}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{context}}}}"
doc_to_choice: choices
doc_to_target: gold
target_delimiter: "{delimiter}"
metric_list: [{{metric: acc}}]
"""


def main(model_folder: str, documents: str, batch_size: str) -> None:
    from lm_eval import simple_evaluate
    from lm_eval.models.huggingface import HFLM
    from lm_eval.tasks import TaskManager

    first = json.loads(Path(documents).read_text(encoding="utf-8").splitlines()[0])
    with tempfile.TemporaryDirectory() as folder:
        task = TASK.format(file=Path(documents).resolve(), delimiter=first["delimiter"])
        (Path(folder) / "documents.yaml").write_text(task, encoding="utf-8")
        model = HFLM(
            pretrained=model_folder,
            dtype="float32",
            device="cpu",
            batch_size=batch_size if batch_size == "auto" else int(batch_size),
        )
        tasks = TaskManager(include_path=folder, include_defaults=False)
        tasks.load(["documents"])
        began = time.perf_counter()
        results = simple_evaluate(model, tasks=["documents"], task_manager=tasks, bootstrap_iters=0, log_samples=True)
        seconds = time.perf_counter() - began
    samples = sorted(results["samples"]["documents"], key=lambda sample: sample["doc_id"])
    print(
        json.dumps(
            {
                "seconds": seconds,
                "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
                "scores": [[float(response[0]) for response in sample["filtered_resps"]] for sample in samples],
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
