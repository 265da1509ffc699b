"""A suite as tasks that lm-evaluation-harness runs as they are: one JSONL of rendered questions a prompt, and YAML.

The questions are rendered here, by the code that renders them for a run, so that the harness puts the same text to a
model. A prompt in turns becomes two tasks: one for the harness's `--apply_chat_template`, and one, `..._plain`, with
the text that a model without a chat template is given. What the harness then does in its own way (spaces at the join,
a template that takes no system turn) is described in the folder's README.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from veridical.errors import UserError, unknown
from veridical.files.writing import json_bytes, slug
from veridical.interop.exports.folder import (
    described,
    factor_columns,
    new_folder,
    provenance,
    set_columns,
    write_lines,
)
from veridical.interop.exports.text import LOADER, README, task_yaml
from veridical.items import FULL, Item, Suite
from veridical.models.protocol import Query
from veridical.prompts.chat import Rendered, delimiter, render
from veridical.prompts.template import Conversation, PlainText, Prompt, rotations
from veridical.runs.asks import Ask
from veridical.runs.plan import fitting_prompts, query

PREFIX = "veridical"
"""The harness's own tasks have the names of benchmarks; an exported one must not replace one of them."""

METRICS = {"char": "acc_norm", "byte": "acc_bytes", "unconditional": "acc_mutual_info"}
"""The harness's metric for a suite's normalisation, in addition to `acc`, the summed log-likelihood."""

_ENDINGS = re.compile(r"(_order[0-9]+)?(_plain)?$")
"""What a prompt's name is given here, and may end with of its own."""


@dataclass(frozen=True, slots=True)
class ExportedTasks:
    """What was written. `notes` say what was left out and why."""

    path: Path
    tasks: tuple[str, ...]
    n_items: int
    notes: tuple[str, ...] = ()


class _NoTemplate:
    """Renders as for a tokenizer that has no chat template."""

    chat_template = None

    def apply_chat_template(self, conversation: list[dict[str, str]], /, **kwargs: Any) -> Any:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class _Task:
    """One task: its rows are those of `file`. `delimiter` stands before every choice."""

    name: str
    kind: str
    file: str
    prompt: str
    order: int
    delimiter: str


def export_lm_eval(suite: Suite, out: Path, *, prompts: Sequence[str] | None = None, orders: int = 1) -> ExportedTasks:
    """Write a suite's prompts that are scored by log-likelihood as tasks of the harness, to the new folder `out`.

    `prompts` names some of them; `orders` is the number of label orders (0: all), each a task of its own.

    Raises UserError for a prompt that is not the suite's or is answered in text, for a suite that the harness cannot
    score, and for a folder in the way.
    """
    chosen, notes = _chosen(suite, prompts)
    items = [item for item in suite.items if item.gold]
    if not items:
        raise UserError(f"suite {suite.name!r} cannot be exported: no item has gold, and the harness scores every item")
    if left := len(suite.items) - len(items):
        notes.append(
            f"{left:,} of {len(suite.items):,} items are left out: they have no gold, and the harness scores all"
        )
    if suite.normalisation == "token":
        notes.append("the harness has no accuracy by log-likelihood per token: its acc is of the sums")
    sets, factors = set_columns(suite), factor_columns(items)
    tasks: list[_Task] = []
    with new_folder(out) as folder:
        for prompt, stem in zip(chosen, _stems(suite, chosen), strict=True):
            for order in range(len(rotations(items[0].labels, orders))):
                rows, made = _rows(suite, items, prompt, stem, order)
                write_lines(folder / made[0].file, ({**row, **sets[row["id"]], **factors[row["id"]]} for row in rows))
                tasks += made
        _write_rest(folder, suite, tasks, notes)
    return ExportedTasks(out, tuple(task.name for task in tasks), len(items), tuple(notes))


def _chosen(suite: Suite, names: Sequence[str] | None) -> tuple[list[Prompt], list[str]]:
    fitting = fitting_prompts(suite, "loglikelihood")
    reasoning = [prompt.name for prompt in suite.prompts if prompt not in fitting]
    why = "is answered in text, which Veridical's own parser reads and the harness has no filter for"
    for name in names or ():
        if name not in {prompt.name for prompt in suite.prompts}:
            raise unknown("prompt", name, [prompt.name for prompt in suite.prompts])
        if name in reasoning:
            raise UserError(f"prompt {name!r} cannot be exported: it {why}; give one that is scored by log-likelihood")
    if not fitting:
        raise UserError(f"suite {suite.name!r} cannot be exported: each of its prompts {why}")
    notes = [f"prompt {name} is left out: it {why}" for name in reasoning] if names is None else []
    return [prompt for prompt in fitting if names is None or prompt.name in names], notes


def _stems(suite: Suite, prompts: Sequence[Prompt]) -> list[str]:
    """Each prompt's name of a task, without endings: no two alike, also on file systems that ignore case."""
    stems: list[str] = []
    taken: set[str] = set()
    for prompt in prompts:
        stem = name = slug(prompt.name, 80)
        count = 1
        while (bare := _ENDINGS.sub("", stem.casefold())) in taken:
            count += 1
            stem = f"{name}-{count}"
        taken.add(bare)
        stems.append(f"{PREFIX}_{slug(suite.name, 80)}_{stem}")
    return stems


def _rows(
    suite: Suite, items: Sequence[Item], prompt: Prompt, stem: str, order: int
) -> tuple[list[dict[str, Any]], list[_Task]]:
    """The rows of a prompt's file, and the tasks that read them."""
    name = stem + (f"_order{order}" if order else "")
    several = any(len(item.gold) > 1 for item in items)
    rows: list[dict[str, Any]] = []
    joins: dict[str, set[str]] = {}
    for item in items:
        labels = rotations(item.labels, 0)[order % len(item.labels)]
        asked = query(suite, Ask(suite.name, item.id, FULL, prompt.name, order, "loglikelihood", 0, labels))
        gold = [item.labels.index(label) for label in item.gold]
        row: dict[str, Any] = {
            "id": item.id,
            "name": item.name,
            **_texts(suite, item, asked),
            "choices": [choice.continuation for choice in item.choices],
            "labels": list(item.labels),
            "gold": gold if several else gold[0],
        }
        for kind, join in _joins(row, asked):
            joins.setdefault(kind, set()).add(join)
        rows.append(row | {f"field_{key}": value for key, value in item.fields.items()})
    if len({frozenset(row) for row in rows}) > 1:
        columns = dict.fromkeys(key for row in rows for key in row)
        rows = [{key: row.get(key) for key in columns} for row in rows]
    if several and "contexts" in rows[0]:
        raise UserError(
            f"suite {suite.name!r} cannot be exported: items with a context a choice have several right answers, and "
            "the harness takes one there"
        )
    tasks = []
    for kind, found in joins.items():
        if len(found) > 1:
            raise UserError(
                f"suite {suite.name!r} cannot be exported with prompt {prompt.name!r}: some choices need a space before"
                " them and some do not, and a task of the harness has one delimiter for all"
            )
        ending = "_plain" if kind == "plain" and "chat" in joins else ""
        tasks.append(_Task(name + ending, kind, f"{name}.jsonl", prompt.name, order, found.pop()))
    return rows, tasks


def _texts(suite: Suite, item: Item, asked: Query) -> dict[str, Any]:
    """What stands before the choices, as the harness is to put it."""
    if len(asked.contexts) > 1:
        continuations = {choice.continuation for choice in item.choices}
        if len(continuations) > 1 or not all(isinstance(context, PlainText) for context in asked.contexts):
            raise UserError(
                f"suite {suite.name!r} cannot be exported: item {item.name or item.id!r} has choices that differ"
                " both in contexts and in what follows, and the harness takes contexts a choice with one continuation"
            )
        texts = [context.text for context in asked.contexts if isinstance(context, PlainText)]
        return {"contexts": texts, "continuation": continuations.pop()}
    context = asked.contexts[0]
    plain = render(context, _NoTemplate()).text
    if not isinstance(context, Conversation):
        return {"text": plain}
    turns = {message.role: message.content for message in context.messages}
    # The harness's chat puts an empty description as no turn, and an empty beginning of the answer as none.
    return {role: turns.get(role, "") for role in ("system", "user", "assistant")} | {"text": plain}


def _joins(row: dict[str, Any], asked: Query) -> Iterator[tuple[str, str]]:
    """(kind of task, what stands before a choice) for each choice."""

    def join(rendered: Rendered, choice: str) -> str:
        return delimiter(rendered, choice) if asked.delimiter is None else asked.delimiter

    if "contexts" in row:
        yield from (("contexts", join(Rendered(text), row["continuation"])) for text in row["contexts"])
        return
    for choice in row["choices"]:
        if isinstance(asked.contexts[0], Conversation):
            begun = Rendered(row["assistant"], special_tokens_already=True, opens_turn=not row["assistant"])
            yield "chat", join(begun, choice)
        yield "plain", join(Rendered(row["text"]), choice)


def _write_rest(folder: Path, suite: Suite, tasks: Sequence[_Task], notes: Sequence[str]) -> None:
    about = described(suite)
    views = [*(("char", "byte") if suite.all_normalisations else ()), suite.normalisation]
    metrics = ["acc", *dict.fromkeys(METRICS[view] for view in views if view in METRICS)]
    tag = f"{PREFIX}_{slug(suite.name, 80)}"
    chat = any(task.kind == "chat" for task in tasks)
    for task in tasks:
        tags = f"{tag}_plain" if chat and task.kind != "chat" else tag
        metadata = {**about, "prompt": task.prompt, "label_order": task.order}
        text = task_yaml(task.name, tags, task.kind, task.file, task.delimiter, metrics, metadata)
        (folder / f"{task.name}.yaml").write_text(text, encoding="utf-8")
    (folder / "dataset.py").write_text(LOADER, encoding="utf-8")
    manifest = {**about, "tasks": [task.name for task in tasks], "notes": list(notes)}
    (folder / "manifest.json").write_bytes(json_bytes(manifest))
    readme = README.format(
        name=suite.name,
        provenance=provenance(suite),
        tag=tag,
        chat=" --apply_chat_template" if chat else "",
        tasks="\n".join(f"- `{task.name}` ({_how(task)})" for task in tasks),
        notes="".join(f"\n- {note[0].upper()}{note[1:]}." for note in notes),
    )
    (folder / "README.md").write_text(readme, encoding="utf-8")


def _how(task: _Task) -> str:
    order = f", label order {task.order}" if task.order else ""
    if task.kind == "chat":
        return f"prompt {task.prompt}{order}: with `--apply_chat_template`"
    return f"prompt {task.prompt}{order}: as plain text, without a chat template"
