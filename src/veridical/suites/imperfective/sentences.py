"""Sentence assembly for both imperfective suites: verb forms, pronouns, clauses, full stops.

Knows no lexicon's layout: any list of subjects, verb phrases and clauses can be built with it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from veridical.inflector import lemminflect
from veridical.items import Frozen

Pronoun = Literal["he", "she", "it"]

CASES: dict[Pronoun, dict[str, str]] = {
    "he": {"he": "he", "him": "him", "his": "his"},
    "she": {"he": "she", "him": "her", "his": "her"},
    "it": {"he": "it", "him": "it", "his": "its"},
}
"""What the slots {he}, {him} and {his} stand for, by the subject's pronoun."""


class Forms(Frozen):
    """Forms that replace the inflector's, where it is wrong."""

    ing: str | None = None
    past: str | None = None


@dataclass(frozen=True, slots=True)
class VerbPhrase:
    """A verb's lemma and all that follows it: particle, object, phrases."""

    verb: str
    rest: str = ""
    forms: Forms = field(default_factory=Forms)

    @property
    def ing(self) -> str:
        """The present participle: as given, else as inflected."""
        return self.forms.ing or inflect(self.verb, "VBG")

    @property
    def past(self) -> str:
        """The simple past: as given, else as inflected."""
        return self.forms.past or inflect(self.verb, "VBD")


@lru_cache(maxsize=1024)
def inflect(lemma: str, tag: Literal["VBG", "VBD"]) -> str:
    """The form of a verb that has this Penn tag. Raises ValueError for a verb the inflector does not know."""
    forms = lemminflect().getInflection(lemma, tag)
    if not forms:
        raise ValueError(f"no form {tag} of the verb {lemma!r} is known: give it under `forms`")
    return str(forms[0])


def fill(text: str, pronoun: Pronoun) -> str:
    """`text` with its slots {he}, {him}, {his} filled. Raises ValueError for any other slot."""
    try:
        return text.format(**CASES[pronoun])
    except (KeyError, IndexError, ValueError) as error:
        raise ValueError(f"{text!r} has a slot other than {{he}}, {{him}} and {{his}}") from error


def progressive(subject: str, phrase: VerbPhrase) -> str:
    """A clause such as "the carpenter was building a gazebo": neither capital nor full stop."""
    return " ".join(part for part in (subject, "was", phrase.ing, phrase.rest) if part)


def simple_past(subject: str, phrase: VerbPhrase) -> str:
    """A clause such as "the carpenter built a gazebo": neither capital nor full stop."""
    return " ".join(part for part in (subject, phrase.past, phrase.rest) if part)


def sentence(clause: str, addition: str = "") -> str:
    """A clause, and one added after a space (or after its own comma), with capital and full stop."""
    joined = f"{clause}{addition}" if addition.startswith(",") else f"{clause} {addition}".rstrip()
    return f"{joined[0].upper()}{joined[1:]}."
