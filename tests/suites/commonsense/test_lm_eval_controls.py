"""GPQA and MMLU-Redux beside the harness's own tasks: equal but for what the definitions say differs."""

from __future__ import annotations

from pathlib import Path

from tests.suites.commonsense.asking import requests
from tests.suites.commonsense.planted import of_file, published, read_csv, read_jsonl, write_jsonl
from tests.suites.commonsense.test_gpqa import FILE as GPQA
from tests.suites.commonsense.test_lm_eval import harness_requests, lm_eval
from tests.suites.commonsense.test_mmlu_redux import VIROLOGY
from veridical.prompts.template import PlainText

HARNESS = Path(lm_eval.__file__).parent / "tasks"


def test_gpqa_is_the_harness_s_own_with_the_answers_in_another_order(tmp_path: Path) -> None:
    """The harness shuffles the answers; put in its order, ours make its requests."""
    theirs = list(harness_requests(read_csv(GPQA), HARNESS / "gpqa/zeroshot/gpqa_diamond_zeroshot.yaml", tmp_path))
    suite = published("gpqa-diamond").suite

    assert len(theirs) == len(suite.items) == 3
    for item, pairs in zip(suite.items, theirs, strict=True):
        listed = [pairs[0][0].partition(f"\n({letter}) ")[2].partition("\n")[0] for letter in "ABCD"]
        assert sorted(listed) == sorted(item.fields[letter] for letter in "ABCD")
        context = suite.prompts[0].render(item.fields | dict(zip("ABCD", listed, strict=True)), item.labels)
        assert isinstance(context, PlainText)
        assert pairs == [(context.text, f" {choice.continuation}") for choice in item.choices]


def test_mmlu_redux_is_put_as_the_harness_puts_mmlu(tmp_path: Path) -> None:
    sound = [row for row in read_jsonl(VIROLOGY) if row["error_type"] == "ok"]
    suite = of_file("mmlu-redux", write_jsonl(tmp_path / "virology.jsonl", sound)).suite
    ours = [pairs for _, pairs in requests(suite)]

    assert ours == list(harness_requests(sound, HARNESS / "mmlu/default/mmlu_virology.yaml", tmp_path))
