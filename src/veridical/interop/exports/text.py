"""The texts of an exported task folder: its YAML, the loader of its rows, its README."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

LOADER = '''"""Reads a task's rows from the JSONL file next to this one, wherever this folder is."""

import json
from pathlib import Path

import datasets


def load(file, **settings):
    text = (Path(__file__).parent / file).read_text(encoding="utf-8")
    rows = [json.loads(line) for line in text.split("\\n") if line]
    return datasets.DatasetDict({"test": datasets.Dataset.from_list(rows)})
'''

README = """# {name}, as tasks of lm-evaluation-harness

{provenance}
Run with lm-eval (0.4.13 is the release it was tested with), wherever this folder lies:

```
lm-eval run --model hf --model_args pretrained=ORG/NAME,dtype=float32 --include_path . --tasks {tag}{chat}
```

{tasks}

Every row holds a question as `veridical run` puts it, its sets (`set`, `role`), its factors and its fields. The choices
and their order are the suite's; `acc` compares summed log-likelihoods, as a run does by default.

What may differ from `veridical run`, and why:

- The harness moves white space from the end of a context to the continuation. After a chat template that ends with a
  line break its log-likelihoods hold that of the line break too: the same for all choices of a question, so that the
  choice is the same.
- A chat template that rejects a system turn loses it in the harness; a run puts its text at the head of the user turn.
- A template that prints the date prints today's; a run gives it a fixed date.
- The harness adds a beginning-of-text token to a rendered chat that does not begin with one; a run adds none.
- The harness takes the first of tied choices for the answer; a run calls them tied.
- A run asks some prompts in several orders of the labels. Here only the first is a task, which feeds every measure but
  the sensitivity to order; `veridical export lm-eval --orders N` writes more, each as a task of its own.
- Measures of sets are not the harness's: `veridical import lm-eval` reads its samples, and `veridical judge --sets set`
  judges them.{notes}
"""

_SOURCES = {
    "chat": {"description": "{{system}}", "doc_to_text": "user", "doc_to_choice": "choices", "doc_to_target": "gold"},
    "plain": {"doc_to_text": "text", "doc_to_choice": "choices", "doc_to_target": "gold"},
    # Where doc_to_text gives a number the harness takes the choices for contexts, and the target for what follows each.
    "contexts": {"doc_to_text": "gold", "doc_to_choice": "contexts", "doc_to_target": "continuation"},
}


def task_yaml(
    name: str,
    tag: str,
    kind: str,
    file: str,
    delimiter: str,
    metrics: Sequence[str],
    metadata: Mapping[str, object],
) -> str:
    """The YAML of one task. Values are written as JSON, which YAML includes."""
    if kind == "contexts":
        metrics = ["acc"]  # the others measure the choices' lengths, which are those of contexts here
    entries: dict[str, object] = {
        "task": name,
        "tag": [tag],
        "dataset_kwargs": {"file": file},
        "test_split": "test",
        "output_type": "multiple_choice",
        **_SOURCES[kind],
        **({"gen_prefix": "assistant"} if kind == "chat" else {}),
        "target_delimiter": delimiter,
        "num_fewshot": 0,
        "metric_list": [{"metric": metric, "aggregation": "mean", "higher_is_better": True} for metric in metrics],
        "metadata": dict(metadata),
    }
    lines = [f"{key}: {_quoted(value)}" for key, value in entries.items()]
    return "\n".join(["custom_dataset: !function dataset.load", *lines]) + "\n"


def _quoted(value: object) -> str:
    """A value as JSON that YAML reads alike: what YAML takes for a line break, or takes not at all, is escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\\x7f-\\x9f\\u2028\\u2029\\ufeff\\ufffe\\uffff]", lambda found: f"\\u{ord(found[0]):04x}", text)
