"""Logs of lm-evaluation-harness made by hand, in the form of version 0.4.13."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

DATE = "2026-01-02T03-04-05.678901"


def choice_record(
    number: int,
    scores: Sequence[float | str],
    gold: int,
    *,
    endings: Sequence[str] = ("one", "two two", "three"),
    filter: str = "none",
    **document: object,
) -> dict[str, Any]:
    """A record whose choices were scored; `acc` is what NumPy's argmax makes of finite scores."""
    finite = [float(score) for score in scores]
    acc = float(finite.index(max(finite)) == gold)
    context = f"Question {number}. Answer:"
    pairs = [[str(score), "False"] for score in scores]
    return {
        "doc_id": number,
        "doc": {"question": f"Question {number}", "endings": list(endings), **document},
        "target": str(gold),
        "arguments": {
            f"gen_args_{place}": {"arg_0": context, "arg_1": f" {ending}"} for place, ending in enumerate(endings)
        },
        "resps": [[pair] for pair in pairs],
        "filtered_resps": pairs,
        "filter": filter,
        "metrics": ["acc"],
        "doc_hash": "d",
        "prompt_hash": "p",
        "target_hash": "t",
        "acc": acc,
    }


def text_record(number: int, text: str, score: float, *, filter: str = "none", filtered: str = "") -> dict[str, Any]:
    """A record of a generated text that the harness scored."""
    return {
        "doc_id": number,
        "doc": {"question": f"Question {number}", "passage": f"passage-{number // 2}"},
        "target": "4",
        "arguments": {"gen_args_0": {"arg_0": f"Question {number}", "arg_1": {"until": ["\n"]}}},
        "resps": [[text]],
        "filtered_resps": [filtered or text],
        "filter": filter,
        "metrics": ["exact_match"],
        "exact_match": score,
    }


def write_samples(folder: Path, records: Sequence[Mapping[str, Any]], task: str = "small", date: str = DATE) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"samples_{task}_{date}.jsonl"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def write_results(
    folder: Path, numbers: Mapping[str, Mapping[str, float]], model: str = "org/model", date: str = DATE
) -> Path:
    """`numbers` are metrics (`acc,none`) by task."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {
        "results": {task: {"alias": task, **own} for task, own in numbers.items()},
        "configs": {task: {"task": task, "target_delimiter": " "} for task in numbers},
        "versions": dict.fromkeys(numbers, 1.0),
        "n-shot": dict.fromkeys(numbers, 0),
        "config": {"model": "hf", "model_args": f"pretrained={model}"},
        "model_name": model,
        "lm_eval_version": "0.4.13",
    }
    path = folder / f"results_{date}.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path
