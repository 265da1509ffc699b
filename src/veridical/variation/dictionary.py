"""What the inflector's dictionary (lemminflect's) knows of words: their class, their inflections, count nouns."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from veridical.errors import UserError
from veridical.inflector import lemminflect
from veridical.installing import install_command
from veridical.variation.tagging import WORD_CLASSES
from veridical.variation.words import form

_UNIVERSAL = {name: tag for tag, name in WORD_CLASSES.items()}


def _lemminflect() -> Any:
    try:
        return lemminflect()
    except ModuleNotFoundError as error:
        raise UserError(
            f"lemminflect, which knows how words are inflected, is missing: {install_command('vary')}"
        ) from error


@lru_cache(maxsize=65536)
def is_listed(word: str, word_class: str) -> bool:
    """Whether the dictionary has the word (lower case) in this class.

    Names (`churchill`), pieces of words and of contractions (`aren`, `ll`) are not in it.
    """
    lemmas: Mapping[str, tuple[str, ...]] = _lemminflect().getAllLemmas(word)
    return _UNIVERSAL.get(word_class) in lemmas


@lru_cache(maxsize=1024)
def forms_of_verb(verb: str) -> frozenset[str]:
    """Every inflected form of a verb, the verb itself included."""
    known: Mapping[str, tuple[str, ...]] = _lemminflect().getAllInflections(verb, "VERB")
    return frozenset({form(verb), *(form(found) for forms in known.values() for found in forms)})


@lru_cache(maxsize=4096)
def inflections(word: str, word_class: str) -> frozenset[str]:
    """Every form of the lemmas that the word may be a form of, in its class."""
    inflector, kind = _lemminflect(), _UNIVERSAL[word_class]
    lemmas = inflector.getAllLemmas(word, kind).get(kind, (word,))
    known = [forms for lemma in lemmas for forms in inflector.getAllInflections(lemma, kind).values()]
    return frozenset(form(found) for forms in known for found in forms)


# Nouns that are a mass more often than a thing, though most have a plural: no dictionary at hand says which.
_MASS_WORDS = """
air alcohol art beef beer blood bread butter cash cement cheese chocolate clay cloth clothing coal coffee concrete
corn cotton cream dirt dust energy equipment fabric flesh flour fog food fuel fur furniture gas gold grain grass
gravel hair hay heat homework ice information ink iron jewelry juice knowledge lace laughter leather liquor luggage
lunch machinery meat medicine metal milk money mud music news oil paint paper pasta plastic poetry pork powder rain
rice rubber salt sand shade silence silk silver smoke snow soap soil space steam steel straw stuff sugar sunlight
tea timber time tobacco traffic trash water wax weather wheat whiskey wind wine wood wool work
"""
MASS = frozenset(_MASS_WORDS.split())


@lru_cache(maxsize=4096)
def is_count_noun(word: str) -> bool:
    """Whether a singular noun is a count noun: the dictionary has its plural, and it is not listed as a mass noun."""
    return word not in MASS and bool(_lemminflect().getAllInflections(word, "NOUN").get("NNS"))
