"""Agreement of annotators as SNLI and MultiNLI write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from veridical.variation.annotators import agreement
from veridical.variation.problems import read_seeds
from veridical.variation.stages import Stages


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (
            {"label1": "neutral", "label2": "neutral", "label3": "entailment", "label4": "neutral", "label5": ""},
            "3 of 4",
        ),
        ({"annotator_labels": '["neutral", "neutral", "neutral", "entailment", "neutral"]'}, "4 of 5"),
        ({"label1": "neutral", "label2": "", "label3": "", "label4": "", "label5": ""}, ""),
        ({"annotator_labels": '["neutral"]'}, ""),
        ({"annotator_labels": "[broken"}, ""),
        ({"gold_label": "neutral"}, ""),
    ],
)
def test_how_many_gave_the_gold_label(values: dict[str, str], expected: str) -> None:
    assert agreement(values, "neutral") == expected


@pytest.mark.parametrize("ending", ["txt", "jsonl"])
def test_a_seed_is_reported_it(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"snli.{ending}"
    if ending == "txt":
        path.write_text(
            "gold_label\tsentence1\tsentence2\tlabel1\tlabel2\tlabel3\tlabel4\tlabel5\n"
            "neutral\tA dog runs.\tA dog is late.\tneutral\tentailment\tneutral\tneutral\tneutral\n"
        )
    else:
        path.write_text(
            '{"gold_label": "neutral", "sentence1": "A dog runs.", "sentence2": "A dog is late.", '
            '"annotator_labels": ["neutral", "entailment", "neutral", "neutral", "neutral"]}\n'
        )
    ((seed,),) = [[seed.items[0] for seed in read_seeds(path).read(Stages())]]
    assert seed.factors["agreement"] == "4 of 5"
