"""Words whose sense is one with their neighbour's are not replaced alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.variation.planted import Planted, problems, texts, varied
from veridical.variation.tagging import SpacyTagger

STAGE = "no part of a compound of several words"


@pytest.mark.parametrize(
    ("premise", "hypothesis", "word", "stays"),
    [
        ("The men moved the X-ray machine.", "The X-ray machine was moved.", "machine", True),
        ("He ate ice cream in the park.", "He bought some ice cream.", "ice", True),
        ("She had a circle of friends.", "The circle of friends was small.", "circle", True),
        ("It was held by revolving funds.", "It was paid by revolving funds.", "revolving", True),
        ("It was held by revolving funds.", "It was paid by revolving funds.", "funds", True),
        # No compound: a verb, and nouns that stand alone.
        ("A man is riding horses.", "The man was riding horses.", "riding", False),
        ("She sees the circle in the sand.", "There is a circle.", "circle", False),
    ],
)
def test_a_part_of_a_compound_stays(
    premise: str, hypothesis: str, word: str, stays: bool, tagger: SpacyTagger, tmp_path: Path
) -> None:
    new = {"riding": "driving", "revolving": "losing", "funds": "banks"}.get(word, "house")
    made, suite = varied(problems((premise, hypothesis)), Planted({word: {new: 0.3}}), tagger, tmp_path)
    assert made.stages[STAGE].dropped == int(stays)
    assert (texts(suite) == []) is stays


@pytest.mark.parametrize(
    ("premise", "expected"),
    [("A man hurt his foot.", 0), ("A man hurt a foot.", 1), ("A child hurt his foot.", 0)],
)
def test_no_woman_comes_in_next_to_his(premise: str, expected: int, tagger: SpacyTagger, tmp_path: Path) -> None:
    word = premise.split()[1]
    pair = (premise, f"The {word} cried.")
    _, suite = varied(problems(pair), Planted({word: {"woman": 0.3}}), tagger, tmp_path)
    assert len(texts(suite)) == expected
