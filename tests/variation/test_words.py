"""Words as written: casing, articles, what counts as a word."""

from __future__ import annotations

import unicodedata

import pytest

from veridical.variation.words import article, begins_sentence, cased, casing, form, is_word


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        ("an", "apple egg island owl umbrella uncle urgent uninteresting unidentified hour honest heir étude usher"),
        ("an", "upper urchin onion oneiric honorary honour unimportant utter"),
        ("a", "dog house unit university unicorn unique union user useful usual European ewe one once utensil"),
        ("an", "unanswered unanalyzed unironic unitalicized unimpressed unideal utmost urn usher ulcer unseen"),
        ("a", "unanimous unanimity USB USBs Utah Utahn UTAH utopia UN UNESCO US USD UAV unidimensional uvula unicycle"),
        ("a", "historic hotel yellow ukulele urine uranium Ugandan unidirectional ouija"),
    ],
)
def test_the_article_follows_the_sound(wanted: str, words: str) -> None:
    assert {word: article(word) for word in words.split()} == dict.fromkeys(words.split(), wanted)


@pytest.mark.parametrize(
    ("word", "how", "like_it"),
    [
        ("dog", "lower", "cat"),
        ("Dog", "title", "Cat"),
        ("DOG", "upper", "CAT"),
        ("Éclair", "title", "Cat"),
        ("straße", "lower", "cat"),
        ("A", "title", "Cat"),
        ("iPhone", None, "cat"),
        ("McDonald", None, "cat"),
    ],
)
def test_casing_is_carried_over(word: str, how: str | None, like_it: str) -> None:
    assert casing(word) == how
    assert cased("cat", casing(word)) == like_it


@pytest.mark.parametrize(
    "text",
    [
        "@Dogs bark.",
        '"@Dogs bark," he says.',
        "He left. @Dogs bark.",
        'He said "no." @Dogs bark.',
        "(He left.) @Dogs bark.",
        'He said, "@Dogs bark."',
        "Note: @Dogs bark.",
        "A list\n- @Dogs bark",
        "Is it? \u201c@Dogs bark\u201d",
    ],
)
def test_a_sentence_begins_there(text: str) -> None:
    assert begins_sentence(text.replace("@", ""), text.index("@"))


@pytest.mark.parametrize(
    "text", ["A @Finnish man", 'the "@Finnish" man', "a man - @Finnish -", "a, @Finnish man", "the (@Finnish) man"]
)
def test_no_sentence_begins_there(text: str) -> None:
    assert not begins_sentence(text.replace("@", ""), text.index("@"))


@pytest.mark.parametrize("text", ["dog", "café", unicodedata.normalize("NFD", "café"), "naïve", "собака"])
def test_letters_of_any_script_are_a_word(text: str) -> None:
    assert is_word(text)


@pytest.mark.parametrize("text", ["", "a", "##ing", "▁dog", "dog-cat", "don't", "2nd", "...", "ice cream", "—"])
def test_pieces_and_punctuation_are_not_words(text: str) -> None:
    assert not is_word(text)


def test_composed_and_decomposed_are_one_form() -> None:
    assert form("Café") == form(unicodedata.normalize("NFD", "CAFÉ")) == "café"
