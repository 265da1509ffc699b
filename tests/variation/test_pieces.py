"""Pieces of contractions are no words: neither replaced nor brought in."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.variation.planted import OtherTags, Planted, problems, texts, varied
from veridical.variation.dictionary import is_listed
from veridical.variation.pieces import is_piece
from veridical.variation.tagging import SpacyTagger


@pytest.mark.parametrize(
    ("text", "word", "piece"),
    [
        ("They aren ' t here.", "aren", True),
        ("He didn't go.", "didn", True),
        ("We ' ll see.", "ll", True),
        ("they ve gone", "ve", True),
        ("He didnt go.", "didnt", True),
        ("They won ' t go.", "won", True),
        ("They won\u2019t go.", "won", True),
        ("They wo n't go.", "wo", True),
        ("You haven't slept.", "haven", True),
        # Words of their own.
        ("The team won.", "won", False),
        ("The team won 'the' cup.", "won", False),
        ("The bay is a haven.", "haven", False),
        ("The men shall see.", "shall", False),
        ("A well is dug.", "well", False),
    ],
)
def test_a_piece_is_known_by_its_form_and_by_what_follows(text: str, word: str, piece: bool) -> None:
    start = text.index(word)
    assert is_piece(text, start, start + len(word)) is piece


def test_no_piece_is_a_target(tmp_path: Path) -> None:
    """Whatever a tagger reads in one."""
    tagger = OtherTags(
        tags=dict.fromkeys(("aren", "didn", "ll", "ve", "dog"), "NN"),
        classes=dict.fromkeys(("aren", "didn", "ll", "ve", "dog"), "noun"),
    )
    text = "the dog aren ' t didn ' t ' ll ' ve"
    planted = Planted({word: {"cat": 0.3} for word in ("aren", "didn", "ll", "ve")})
    made, suite = varied(problems((text, f"{text} too")), planted, tagger, tmp_path)
    assert texts(suite) == []
    stage = made.stages["no part of a compound or contraction"]
    assert (stage.entered, stage.left) == (5, 1)


@pytest.mark.parametrize("piece", ["aren", "didn", "doesn", "ll", "ve", "re", "don", "couldn", "dont", "ain"])
def test_no_piece_is_brought_in(piece: str, tmp_path: Path) -> None:
    tagger = OtherTags(tags={"dog": "NN", piece: "NN"}, classes={"dog": "noun", piece: "noun"})
    pair = ("the dog sleeps", "the dog rests")
    made, suite = varied(problems(pair), Planted({"dog": {piece: 0.3}}), tagger, tmp_path)
    assert texts(suite) == []
    assert made.stages["a whole word of letters"].dropped == 1


@pytest.mark.parametrize(
    ("word", "word_class", "listed"),
    [
        ("hall", "noun", True),
        ("children", "noun", True),
        ("won", "verb", True),
        ("quickly", "adverb", True),
        ("tall", "adjective", True),
        ("churchill", "noun", False),
        ("london", "noun", False),
        ("quickly", "noun", False),
    ],
)
def test_the_dictionary_knows_words_by_class_and_no_names(word: str, word_class: str, listed: bool) -> None:
    pytest.importorskip("lemminflect")
    assert is_listed(word, word_class) is listed


def test_a_name_in_lower_case_is_not_brought_in(tagger: SpacyTagger, tmp_path: Path) -> None:
    """A vocabulary without capitals has `churchill` for a noun."""
    pair = ("The hall is large.", "A hall is there.")
    made, suite = varied(problems(pair), Planted({"hall": {"churchill": 0.3, "room": 0.3}}), tagger, tmp_path)
    assert texts(suite) == [("The room is large.", "A room is there.")]
    assert made.stages["same word class in the sentence"].dropped == 1
