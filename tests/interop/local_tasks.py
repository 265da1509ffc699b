"""Tasks of lm-evaluation-harness, written as its users write them: YAML beside JSONL. All text is our own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

QUESTIONS = [
    ("The carpenter was building a gazebo when the storm came. Is it built?", ["Yes", "No", "Nobody knows yet"], 2),
    ("A river runs through the old town. What do the boats carry?", ["Bread", "Books and bricks", "Storms"], 0),
    ("The cat sat down on the answer. Where is the cat?", ["On the answer", "In a boat", "Über den Fluss"], 0),
    ("She gave it up for good. Will she go on?", ["True", "False", "Unknown"], 1),
    ("The town is old; the boats on the river are new. What is new?", ["The town", "The boats", "The river"], 1),
]
EXAMPLES = [
    ("It is known that the cat sat. Did it sit?", ["Yes", "No", "Perhaps"], 0),
    ("The bread is in the boat. Where is the bread?", ["In town", "In the boat", "In a book"], 1),
    ("One word or two?", ["One", "Two", "Three"], 0),
]
LONG = " ".join(["The old town is on the river and the boats carry bread, books and bricks."] * 14)

MULTIPLE_CHOICE = """
task: {name}
dataset_path: json
dataset_kwargs: {kwargs}
test_split: test
fewshot_split: train
num_fewshot: {shots}
output_type: multiple_choice
description: "{description}"
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_choice: choices
doc_to_target: gold
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
metadata: {{version: 1.0}}
"""

MUTUAL_INFORMATION = """
task: mutual
dataset_path: json
dataset_kwargs: {kwargs}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}} "
doc_to_choice: choices
doc_to_target: gold
target_delimiter: ""
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_mutual_info, aggregation: mean, higher_is_better: true}}
"""

LAST_WORD = """
task: last_word
dataset_path: json
dataset_kwargs: {kwargs}
test_split: test
output_type: loglikelihood
doc_to_text: "{{{{question.rsplit(' ', 1)[0]}}}}"
doc_to_target: "{{{{' ' + question.rsplit(' ', 1)[1]}}}}"
metric_list:
  - {{metric: perplexity, aggregation: perplexity, higher_is_better: false}}
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
"""

ROLLING = """
task: rolling
dataset_path: json
dataset_kwargs: {kwargs}
test_split: test
output_type: loglikelihood_rolling
doc_to_text: ""
doc_to_target: "{{{{text}}}}"
metric_list:
  - {{metric: word_perplexity, aggregation: weighted_perplexity, higher_is_better: false}}
  - {{metric: bits_per_byte, aggregation: bits_per_byte, higher_is_better: false}}
"""

GENERATE = """
task: {name}
dataset_path: json
dataset_kwargs: {kwargs}
test_split: test
fewshot_split: train
num_fewshot: {shots}
output_type: generate_until
doc_to_text: "Question: {{{{question}}}}\\nAnswer:"
doc_to_target: "{{{{choices[gold]}}}}"
generation_kwargs: {settings}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
"""

GROUP = """
group: both
task: [questions, questions_one_shot]
aggregate_metric_list:
  - {metric: acc, weight_by_size: true}
metadata: {version: 1.0}
"""


def write_tasks(folder: Path, settings: dict[str, Any] | None = None) -> Path:
    """A folder of tasks: `questions`, `questions_one_shot` (and `both`), `mutual`, `last_word`, `rolling`, `written`.

    `settings` are those of the task that generates.
    """
    folder.mkdir(parents=True, exist_ok=True)
    data = _data(folder, "questions", QUESTIONS, EXAMPLES)
    texts = _data(folder, "texts", [(LONG, [], 0), ("A short text.", [], 0), ("", [], 0)], [])
    described = "Answer the question with one of its answers."
    written = {
        "questions": MULTIPLE_CHOICE.format(name="questions", kwargs=data, shots=0, description=described),
        "questions_one_shot": MULTIPLE_CHOICE.format(name="questions_one_shot", kwargs=data, shots=1, description=""),
        "mutual": MUTUAL_INFORMATION.format(kwargs=data),
        "last_word": LAST_WORD.format(kwargs=data),
        "rolling": ROLLING.format(kwargs=texts),
        "written": GENERATE.format(
            name="written",
            kwargs=data,
            shots=2,
            settings=json.dumps(settings or {"until": ["\n\n", "Question:"], "max_gen_toks": 24, "do_sample": False}),
        ),
        "both": GROUP,
    }
    for name, text in written.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


def _data(folder: Path, name: str, test: Sequence[Any], train: Sequence[Any]) -> str:
    files = {}
    for split, rows in (("test", test), ("train", train)):
        if rows:
            path = folder / f"{name}-{split}.jsonl"
            lines = [
                json.dumps({"question": q, "text": q, "choices": choices, "gold": gold}) + "\n"
                for q, choices, gold in rows
            ]
            path.write_text("".join(lines), encoding="utf-8")
            files[split] = str(path)
    return json.dumps({"data_files": files, "cache_dir": str(folder / "cache")})
