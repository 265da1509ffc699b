"""Words as written: what counts as one, its casing, and the article before it."""

from __future__ import annotations

import re
import unicodedata
from typing import Literal

Casing = Literal["lower", "title", "upper"]


def form(word: str) -> str:
    """The form by which two occurrences are one word: composed (NFC) and in lower case."""
    return unicodedata.normalize("NFC", word).lower()


def is_word(text: str) -> bool:
    """Two letters or more, of any script, and nothing else: no digit, hyphen, apostrophe, space or piece's mark."""
    composed = unicodedata.normalize("NFC", text)
    return len(composed) > 1 and composed.isalpha()


def casing(word: str) -> Casing | None:
    """How a word is cased; None where its capitals follow no rule (`iPhone`)."""
    if word == word.lower():
        return "lower"
    if len(word) > 1 and word == word.upper():
        return "upper"
    return "title" if word[1:] == word[1:].lower() else None


def cased(word: str, like: Casing | None) -> str:
    """A word in lower case, cased as another is."""
    if like == "upper":
        return word.upper()
    return word[:1].upper() + word[1:] if like == "title" else word


OPENING = "\"'`\u2018\u201c\u00ab\u2039([{*_"
"""Marks that may stand between an article, or a sentence's beginning, and the word."""
_CLOSING = "\"'\u2019\u201d\u00bb\u203a)]}*_"
_SPACES_AND_BULLETS = " \t\u00a0-\u2013\u2014\u2022\u00b7#>"
_ENDS = (".", "!", "?", "\u2026")


def begins_sentence(text: str, start: int) -> bool:
    """Whether the word at `start` is first in its text, line, sentence or quotation: a capital letter says nothing."""
    before = text[:start].rstrip(OPENING)
    quoted = len(before) < start
    before = before.rstrip(_SPACES_AND_BULLETS)
    if not before or before.rstrip(_CLOSING).endswith(_ENDS):
        return True
    return before.endswith((":", "\n", "\r")) or (quoted and before.endswith((",", ";")))


# Spelt with a vowel, spoken with a consonant: "a unit", "a European", "a one-off".
_CONSONANT_SOUND = re.compile(
    r"""
      eu | ew[er] | one(?![ir]) | once | oui
    | uni(?!n | m(?!od) | d(?!ir | im) | ssued | r | tal)
    | unanim | unesco | un$
    | us[aeu] | us$ | us[bd]s?$ | usps | ussr | ut(?:a | e | i | o) | ur[aeiou]
    | ua[ev]s?$ | ubi | uk | ufo | uga | uv
    """,
    re.VERBOSE,
)
# Spelt with a consonant, spoken with a vowel: "an hour".
_VOWEL_SOUND = re.compile(r"hour(?!i) | honou?r | honest | heir", re.VERBOSE)


def article(word: str) -> Literal["a", "an"]:
    """The indefinite article before a word, by the sound with which it begins (Veridical's rules, for English)."""
    # Without accents: "an étude".
    plain = "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))
    if _VOWEL_SOUND.match(plain):
        return "an"
    return "an" if plain[:1] in tuple("aeiou") and not _CONSONANT_SOUND.match(plain) else "a"
