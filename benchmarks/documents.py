"""What is scored: one JSONL file of documents that both sides read, {context, choices, gold, delimiter}."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

Document = dict[str, Any]


def imperfective(model: Any) -> Iterator[Document]:
    """The suite's zero-shot questions, rendered by the model's own chat template: three one-word choices."""
    from veridical.prompts.chat import render
    from veridical.runs.plan import AskOptions, plan, query
    from veridical.suites.registry import load

    suite = load("imperfective")
    options = AskOptions(prompts=("zero-shot",), inputs=("full",), orders=1)
    for ask in plan(suite, options).asks:
        asked = query(suite, ask)
        text = render(asked.contexts[0], model.encoder.tokenizer).text
        gold = list(asked.continuations).index(suite.by_id[ask.item].gold[0])
        yield {"context": text, "choices": list(asked.continuations), "gold": gold, "delimiter": ""}


def gauntlet(file: Path, n: int, shots: int) -> Iterator[Document]:
    """Multiple choice from `mosaic_gauntlet`; the first `shots` lines are the examples for all that follow."""
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    examples = "".join(f"{_question(line)} {line['choices'][line['gold']]}\n\n" for line in lines[:shots])
    for line in lines[shots : shots + n]:
        yield {
            "context": examples + _question(line),
            "choices": line["choices"],
            "gold": line["gold"],
            "delimiter": " ",
        }


def _question(line: Document) -> str:
    return str(line["query"]).rstrip() + ("\nAnswer:" if line["query"].endswith("\n") else "")


def hellaswag(file: Path, n: int) -> Iterator[Document]:
    """Ready five-shot requests of HellaSwag: `n` questions of four endings."""
    by_question: dict[tuple[int, str], list[tuple[int, str, int]]] = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            context, ending = record["request"]["context"], record["request"]["continuation"]
            if len(context) < 40:
                continue  # the unconditional requests that the file also holds
            key = (record["doc"]["ind"], context)
            by_question.setdefault(key, []).append((record.get("idx", 0), ending, record["doc"]["gold"]))
            if len(by_question) > n:
                break
    for (_, context), endings in islice(by_question.items(), n):
        # Some endings bring two spaces; a second one would be joined in two ways, so both sides get one.
        choices = [ending.strip() for _, ending, _ in endings]
        yield {"context": context, "choices": choices, "gold": endings[0][2], "delimiter": " "}


def write(documents: Iterator[Document], path: Path) -> int:
    """Write documents as JSONL; returns how many."""
    written = 0
    with path.open("w", encoding="utf-8") as file:
        for document in documents:
            file.write(json.dumps(document, ensure_ascii=False) + "\n")
            written += 1
    return written
