"""The sample of a productive seed: word classes in turn, then words, then what is liked best."""

from __future__ import annotations

import math
from collections import Counter

import pytest

from veridical.variation.drawing import draw
from veridical.variation.nouns import Odds, Target, Variant, WordPair


def variant(word: str, word_class: str, replacement: str, ratio: float = 2.0, gain: float | None = None) -> Variant:
    return Variant(WordPair(Target(word, "X", word_class, ()), replacement, (Odds(0.01, 0.01 * ratio),)), (), gain)


MANY = [
    *(variant("dog", "noun", f"d{n}") for n in range(30)),
    *(variant("house", "noun", f"h{n}") for n in range(10)),
    *(variant("barks", "verb", f"b{n}") for n in range(4)),
    variant("big", "adjective", "small"),
]


def words(drawn: list[Variant]) -> Counter[str]:
    return Counter(found.target.form for found in drawn)


def test_classes_are_drawn_in_turn_and_words_within_a_class() -> None:
    # Two rounds: one a class, then one of each of the two classes that have more. With four, nouns have half.
    assert words(draw(MANY, 3, 0, ["a"])).total() == 3
    assert {found.target.word_class for found in draw(MANY, 3, 0, ["a"])} == {"noun", "verb", "adjective"}
    # 1 adjective, 4 verbs, then nouns: 4 in the rounds of the verbs and 3 more, of two words in turn.
    assert words(draw(MANY, 12, 0, ["a"])) in (
        Counter({"dog": 4, "house": 3, "barks": 4, "big": 1}),
        Counter({"dog": 3, "house": 4, "barks": 4, "big": 1}),
    )
    assert words(draw(MANY, 100, 0, ["a"])).total() == 45


def test_the_sample_is_the_seeds_and_in_the_order_given() -> None:
    five = draw(MANY, 5, 3, ["a"])
    assert five == draw(MANY, 5, 3, ["a"])
    assert five == [found for found in MANY if found in five]
    assert len({tuple(map(str, draw(MANY, 5, seed, ["a"]))) for seed in range(8)}) > 1
    assert len({tuple(map(str, draw(MANY, 5, 0, [own]))) for own in "abcdefgh"}) > 1


def test_with_a_judge_both_models_rank_a_words_variants() -> None:
    judged = [
        variant("dog", "noun", "cat", ratio=2.0, gain=-0.1),
        variant("dog", "noun", "boat", ratio=4.0, gain=-3.0),
        variant("dog", "noun", "horse", ratio=1.5, gain=0.5),
    ]
    # P(r) is .02, .04 and .015; lowered by what the likelihood falls it is .0181, .0020 and, since it rises, .015.
    assert [found.rank for found in judged] == pytest.approx(
        [math.log(0.0181), math.log(0.002), math.log(0.015)], abs=0.01
    )
    assert [found.replacement for found in draw(judged, 1, 0, ["a"])] == ["cat"]
    assert [found.replacement for found in draw(judged, 2, 0, ["a"])] == ["cat", "horse"]
