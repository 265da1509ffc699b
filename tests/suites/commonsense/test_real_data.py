"""Whole benchmarks as others made prompts of them: llm-foundry's PIQA and WinoGrande, OLMo's requests for HellaSwag."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from veridical.suites.commonsense.benchmark import benchmark
from veridical.suites.commonsense.build import Built
from veridical.suites.commonsense.catalogue import TASKS
from veridical.suites.commonsense.copies import Copy

from .asking import requests

DATA = Path(__file__).parents[4] / "shared" / "data"
UNCONDITIONAL = 1_000_000
"""From this document on, OLMo's file repeats the requests without their contexts."""
Rows = list[dict[str, Any]]

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public data are not here")


@pytest.fixture
def build(tmp_path: Path) -> Callable[[str, Rows], Built]:
    def built(name: str, rows: Rows) -> Built:
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return benchmark(TASKS[name], Copy(file=path))

    return built


def gauntlet(name: str) -> Rows:
    lines = (DATA / "mosaic_gauntlet" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_piqa_s_validation_set_is_asked_as_llm_foundry_words_it(build: Callable[[str, Rows], Built]) -> None:
    theirs = gauntlet("piqa")
    rows = [
        {
            "goal": row["query"].removeprefix("Question: ").removesuffix("\n"),
            "sol1": row["choices"][0],
            "sol2": row["choices"][1],
            "label": row["gold"],
        }
        for row in theirs
    ]
    found = build("piqa", rows)
    assert (len(found.suite.items), found.notes) == (1838, ())
    for row, (item, pairs) in zip(theirs, requests(found.suite), strict=True):
        assert pairs == [(f"{row['query']}Answer:", f" {choice}") for choice in row["choices"]]
        assert item.gold == ("AB"[row["gold"]],)


def test_winogrande_s_validation_set_is_scored_as_llm_foundry_scores_it(build: Callable[[str, Rows], Built]) -> None:
    theirs = gauntlet("winogrande")
    rows = []
    for row in theirs:
        words = [text.split(" ") for text in row["context_options"]]
        shared = next(n for n, (one, other) in enumerate(zip(*words, strict=False)) if one != other)
        before = "".join(f"{word} " for word in words[0][:shared])
        option1, option2 = (text.removeprefix(before) for text in row["context_options"])
        sentence = f"{before}_ {row['continuation']}"
        rows.append({"sentence": sentence, "option1": option1, "option2": option2, "answer": str(row["gold"] + 1)})
    found = build("winogrande", rows)
    assert len(found.suite.items) == 1267
    for row, (item, pairs) in zip(theirs, requests(found.suite), strict=True):
        assert pairs == [(context, f" {row['continuation']}") for context in row["context_options"]]
        assert item.gold == ("AB"[row["gold"]],)


def test_hellaswag_is_asked_as_olmo_asks_it(build: Callable[[str, Rows], Built]) -> None:
    """Their documents are cleaned already, which a second cleaning leaves as they are but for spaces at the ends."""
    with gzip.open(DATA / "hellaswag_requests" / "rc_5shot" / "requests.jsonl.gz", "rt", encoding="utf-8") as lines:
        theirs = [one for one in map(json.loads, lines) if one["doc_id"] < UNCONDITIONAL]
    rows, continuations = [], []
    for first in range(0, len(theirs), 4):
        doc = theirs[first]["doc"]
        activity, _, text = doc["query"].partition(": ")
        rows.append(
            {
                "ind": doc["ind"],
                "activity_label": activity,
                "ctx_a": text,
                "ctx_b": "",
                "endings": doc["choices"],
                "source_id": f"row {first}",
                "label": doc["gold"],
            }
        )
        continuations.append([one["request"]["continuation"] for one in theirs[first : first + 4]])
    found = build("hellaswag", rows)
    assert len(found.suite.items) == len(rows) == 1000
    for row, theirs_of_row, (item, pairs) in zip(rows, continuations, requests(found.suite), strict=True):
        assert [context.rstrip() for context, _ in pairs] == [f"{row['activity_label']}: {row['ctx_a']}"] * 4
        assert [text.lstrip() for _, text in pairs] == [text.strip() for text in theirs_of_row]
        assert item.gold == ("ABCD"[row["label"]],)
