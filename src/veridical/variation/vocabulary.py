"""Which tokens of a vocabulary are whole words, and how they are written.

Tokenizers distinguish a word from a piece of one in two ways. WordPiece marks what continues a word (`##ing`).
Byte-level BPE and SentencePiece mark what has a space before it (`Ġred`, `▁red`): there the same word is two tokens,
and which of them stands at a place depends on whether a space precedes it. The form with the space belongs behind a
space, the bare form at the beginning of a text (where the tokenizer puts no space there) and behind a bracket or a
quotation mark.
"""

from __future__ import annotations

import unicodedata
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import decoders

from veridical.variation.words import is_word

CONTINUES = "##"
BYTE_SPACE = "Ġ"
PIECE_SPACE = "▁"

Flags = npt.NDArray[np.bool_]


class Vocabulary:
    """The vocabulary of a Hugging Face tokenizer, for a model with `size` logits (which may be padded).

    `mark` is how it marks: `##`, `Ġ`, `▁`, or nothing, where every token is a word.
    """

    def __init__(self, tokenizer: Any, size: int) -> None:
        self.tokens: list[str] = [""] * size
        for token, number in tokenizer.get_vocab().items():
            if number < size:
                self.tokens[number] = token
        self._special = frozenset(tokenizer.all_special_ids)
        self.mark = _mark(self.tokens)
        self.folds_case = _folds_case(tokenizer)

    def is_special(self, number: int) -> bool:
        """Whether a token stands for no text of its own: unknown, mask, padding, separators."""
        return number in self._special

    def form(self, number: int) -> bool:
        """Whether the token is of the form that has its space with it; no word of a `##` vocabulary is."""
        return self._marks_space and self.tokens[number].startswith(self.mark)

    def is_bare_space(self, number: int) -> bool:
        """Whether the token is nothing but the mark of a space: what follows it was split off."""
        return self._marks_space and self.tokens[number] == self.mark

    def whole_words(self, form: bool) -> Flags:
        """For every token, whether it is a whole word of this form, [size]."""
        return self._with_space if form else self._bare

    @cached_property
    def words(self) -> list[str]:
        """Every token as it stands in a text, without the space before it; empty for what is not a whole word."""
        return [self._word(number) for number in range(len(self.tokens))]

    def is_unfinished(self, number: int) -> bool:
        """Whether the token continues the word before it (`##ing`)."""
        return self.mark == CONTINUES and self.tokens[number].startswith(CONTINUES)

    @property
    def _marks_space(self) -> bool:
        return self.mark in (BYTE_SPACE, PIECE_SPACE)

    @cached_property
    def _with_space(self) -> Flags:
        return np.array([bool(word) and self.form(number) for number, word in enumerate(self.words)])

    @cached_property
    def _bare(self) -> Flags:
        if not self._marks_space:
            return np.array([bool(word) for word in self.words])
        # A bare token may be a piece (`ing`): it is a word where the vocabulary has it with a space as well.
        known = {token for number, token in enumerate(self.tokens) if self.form(number)}
        return np.array(
            [
                bool(word) and not self.form(number) and self.mark + self.tokens[number] in known
                for number, word in enumerate(self.words)
            ]
        )

    def _word(self, number: int) -> str:
        token = self.tokens[number]
        if not token or self.is_special(number) or self.is_unfinished(number):
            return ""
        text = str(decoders.ByteLevel().decode([token])) if self.mark == BYTE_SPACE else token
        text = text.removeprefix(" " if self.mark == BYTE_SPACE else PIECE_SPACE)
        return text if is_word(text) else ""


def stands_alone(text: str, start: int, stop: int) -> bool:
    """Whether characters [start, stop) are a word by themselves: no letter, mark or digit touches them."""
    around = text[start - 1 : start] + text[stop : stop + 1]
    return start < stop and not any(unicodedata.category(letter)[0] in "LMN" for letter in around)


def _mark(tokens: list[str]) -> str:
    """The mark that most tokens bear: a vocabulary of one kind may hold another's mark as a character."""
    counts = {
        mark: sum(token.startswith(mark) and token != mark for token in tokens)
        for mark in (CONTINUES, BYTE_SPACE, PIECE_SPACE)
    }
    best = max(counts, key=lambda mark: counts[mark])
    return best if counts[best] else ""


def _folds_case(tokenizer: Any) -> bool:
    normalizer = getattr(getattr(tokenizer, "backend_tokenizer", None), "normalizer", None)
    return normalizer is not None and str(normalizer.normalize_str("A")).strip(f"{PIECE_SPACE} ") == "a"
