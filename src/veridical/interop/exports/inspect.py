"""A suite as an Inspect task: a file that `inspect eval` runs, its samples, and the suite that judges its log."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.writing import json_bytes
from veridical.interop.exports.folder import described, new_folder, provenance, set_columns, write_lines
from veridical.items import Suite
from veridical.prompts.template import Conversation
from veridical.runs.asks import Ask
from veridical.runs.plan import AskOptions, check_names, plan, query
from veridical.suites.file_writer import write_suite

SAMPLES, SUITE = "samples.jsonl", "suite.jsonl"
METADATA = "veridical"
"""The key of a sample's metadata that says which ask it puts."""

_TASK = '''"""{title}: run it with `inspect eval {file} --model PROVIDER/NAME`.

Its own score reads what follows "Answer:" and knows nothing of sets. The log is judged by
`veridical import inspect LOG --suite {suite} --out RUN`.
"""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import answer
from inspect_ai.solver import generate


@task
def {name}() -> Task:
    """{n_samples} samples of {n_items} items."""
    return Task(
        dataset=json_dataset(str(Path(__file__).parent / "{samples}")),
        solver=generate(),
        scorer=answer("line"),
        config=GenerateConfig(temperature=0, seed=0, max_tokens={max_new_tokens}),
    )
'''

_README = """# {name}

{title}{provenance}
- `{file}`: the task, for `inspect eval {file} --model PROVIDER/NAME`.
- `{samples}`: one sample an item, input, prompt and label order ({n_samples:,}), with what it is of in its metadata.
- `{suite}`: the suite, by which `veridical import inspect LOG --suite {suite} --out RUN` judges the log: item sets,
  baselines, intervals, as if Veridical had asked.
- `manifest.json`: version, content hash, licence, citation, counts.
"""


@dataclass(frozen=True, slots=True)
class ExportedTask:
    """The task's file, and how many items it asks in how many samples."""

    file: Path
    n_items: int
    n_samples: int


def export_inspect(
    suite: Suite,
    out: Path,
    *,
    prompts: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    orders: int | None = None,
    max_new_tokens: int = 512,
) -> ExportedTask:
    """Write a suite as a task into the new folder `out`; what is asked is what mode `generate` of a run would ask.

    Raises UserError where `out` exists, for a prompt or input that the suite does not have, and where no prompt can be
    answered in writing.
    """
    chosen, shown = (tuple(prompts) if prompts else None), (tuple(inputs) if inputs else None)
    options = AskOptions(("generate",), chosen, shown, orders=orders)
    check_names([suite], options)
    asks = plan(suite, options).asks
    name = re.sub(r"\W", "_", suite.name)
    name = f"suite_{name}" if not name.isidentifier() or name.startswith("_") else name
    shared = {"name": name, "file": f"{name}.py", "suite": SUITE, "samples": SAMPLES, "n_samples": len(asks)}
    title = suite.title or suite.name
    with new_folder(out) as folder:
        write_lines(folder / SAMPLES, _samples(suite, asks))
        write_suite(suite, folder / SUITE)
        task = _TASK.format(
            **shared, title=_in_docstring(title), n_items=len(suite.items), max_new_tokens=max_new_tokens
        )
        (folder / f"{name}.py").write_text(task, encoding="utf-8")
        manifest = {**described(suite), "items": len(suite.items), "samples": len(asks)}
        (folder / "manifest.json").write_bytes(json_bytes(manifest))
        readme = _README.format(**shared, title=f"{title}.\n\n", provenance=provenance(suite))
        (folder / "README.md").write_text(readme, encoding="utf-8")
    return ExportedTask(out / f"{name}.py", len(suite.items), len(asks))


def _samples(suite: Suite, asks: Sequence[Ask]) -> Iterator[dict[str, Any]]:
    sets = set_columns(suite)
    for number, ask in enumerate(asks):
        (context,) = query(suite, ask).contexts
        if not isinstance(context, Conversation):
            raise UserError(f"prompt {ask.prompt!r} has no turns, which a task of Inspect's needs")
        item = suite.by_id[ask.item]
        yield {
            "id": f"{number}",
            "input": [{"role": turn.role, "content": turn.content} for turn in context.messages],
            "target": list(item.gold),
            "metadata": {
                "item": item.name or item.id,
                **sets[ask.item],
                METADATA: {
                    "suite": suite.name,
                    "content_hash": suite.content_hash,
                    "item": ask.item,
                    "input": ask.input,
                    "prompt": ask.prompt,
                    "order": ask.order,
                },
            },
        }


def _in_docstring(text: str) -> str:
    """A text that cannot end a docstring or escape from it."""
    return " ".join(text.replace("\\", "/").replace('"', "'").split())
