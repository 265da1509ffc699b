"""From text to token ids: the join of context and continuation, and special tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from veridical.engine.trie import common_prefix
from veridical.errors import UserError
from veridical.models.protocol import TokenSequence
from veridical.prompts.chat import Rendered, adds_special_tokens

JOIN_POLICY = "joint-longest-common-prefix"
"""Context and continuation are encoded together and split where the context's own encoding stops agreeing.

So the model sees the tokens of the whole text, as in natural use. Where a token spans the two texts, it is
scored with the continuation, and the sequence is marked `joined` and counted."""


class TextEncoder:
    """A Hugging Face tokenizer, as the engine needs it."""

    join_policy = JOIN_POLICY

    def __init__(self, tokenizer: Any) -> None:
        self.tokenizer = tokenizer
        self.opening = _opening_tokens(tokenizer)
        self._context = lru_cache(maxsize=4096)(self._encode)

    def context(self, rendered: Rendered) -> tuple[int, ...]:
        """The context alone: what generation begins from."""
        return self._context(rendered.text, adds_special_tokens(rendered))

    def sequence(self, rendered: Rendered, delimiter: str, continuation: str) -> TokenSequence:
        """A context and what follows it, under `JOIN_POLICY`.

        The continuation's characters and bytes are counted without the delimiter. An empty context is replaced by
        the tokenizer's beginning (or end) of text, so that the first token has something to be predicted from.
        """
        special = adds_special_tokens(rendered)
        context = self._context(rendered.text, special)
        # A rendered chat of the first turn's length is encoded once; each choice then costs its own encoding.
        joint = self._encode(rendered.text + delimiter + continuation, special)
        shared = common_prefix(context, joint)
        before, after = joint[:shared], joint[shared:]
        if not before:
            before = self._start()
        return TokenSequence(
            context=before,
            continuation=after,
            n_chars=len(continuation),
            n_bytes=len(continuation.encode()),
            joined=shared < len(context),
        )

    def span(self, text: str, start: int, stop: int) -> tuple[tuple[int, ...], tuple[int, int]]:
        """A text as it stands, and which of its tokens, [first, end), touch the characters [start, stop).

        Raises UserError where the tokenizer does not say which characters a token is of.
        """
        try:
            found = self.tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        except NotImplementedError as error:
            raise UserError(
                f"{type(self.tokenizer).__name__} does not give the characters of each token: "
                "hidden states of a phrase need a fast tokenizer (tokenizer.json)"
            ) from error
        touching = [place for place, (a, b) in enumerate(found["offset_mapping"]) if a < stop and b > start]
        if not touching:
            raise ValueError(f"no token of {text!r} touches characters {start} to {stop}")
        before = len(self.opening)
        ids = (*self.opening, *found["input_ids"])
        return ids, (before + touching[0], before + touching[-1] + 1)

    def unconditional(self, sequence: TokenSequence, continuation: str, delimiter: str) -> TokenSequence:
        """The continuation of `sequence` after nothing but the beginning of text, for its unconditional score.

        Its tokens are those of the sequence: encoded alone it could have others (SentencePiece puts a space before
        a text), and the two scores would be of different things. A joined token holds a piece of the context, so
        there the continuation is encoded alone.
        """
        if sequence.joined:
            return self.alone(continuation, delimiter)
        return replace(sequence, context=self._start())

    def alone(self, continuation: str, delimiter: str) -> TokenSequence:
        """A text after nothing but the beginning of text."""
        tokens = self._encode(delimiter + continuation, special=False)
        return TokenSequence(self._start(), tokens, len(continuation), len(continuation.encode()))

    def decode(self, tokens: Sequence[int]) -> str:
        """Text of generated tokens, without special tokens, spaces as the model wrote them."""
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True, clean_up_tokenization_spaces=False))

    def _start(self) -> tuple[int, ...]:
        if self.opening:
            return self.opening
        for token in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id):
            if token is not None:
                return (int(token),)
        return ()

    def _encode(self, text: str, special: bool) -> tuple[int, ...]:
        ids = self.tokenizer(text, add_special_tokens=False)["input_ids"]
        # Only what the tokenizer puts *before* a text: an end-of-text it would append does not belong mid-way.
        return (*(self.opening if special else ()), *ids)


class SeparateEncoder(TextEncoder):
    """The tokenizer of an encoder-decoder: the context is a text of its own, and so is the continuation.

    The encoder's text has whatever the tokenizer's own rule puts around one. The continuation has what the rule
    puts before it, and no end of text: an answer may go on.
    """

    join_policy = "separate"

    def context(self, rendered: Rendered) -> tuple[int, ...]:
        """Token ids of the encoder's text, with special tokens unless the text already has them."""
        special = adds_special_tokens(rendered)
        return tuple(self.tokenizer(rendered.text, add_special_tokens=special)["input_ids"])

    def sequence(self, rendered: Rendered, delimiter: str, continuation: str) -> TokenSequence:
        """The context for the encoder and the continuation for the decoder; `delimiter` is not used."""
        return self._after(self.context(rendered), continuation)

    def alone(self, continuation: str, delimiter: str) -> TokenSequence:
        """The continuation after an empty text for the encoder."""
        return self._after(self.context(Rendered("")) or self._start(), continuation)

    def unconditional(self, sequence: TokenSequence, continuation: str, delimiter: str) -> TokenSequence:
        """The continuation after an empty text for the encoder, for its unconditional score."""
        return self.alone(continuation, delimiter)

    def _after(self, context: tuple[int, ...], continuation: str) -> TokenSequence:
        tokens = self._encode(continuation.lstrip(), special=bool(continuation.strip()))
        return TokenSequence(context, tokens, len(continuation), len(continuation.encode()))


def _opening_tokens(tokenizer: Any) -> tuple[int, ...]:
    """The special tokens that the tokenizer's own rule puts before a text, by trial."""
    plain = tokenizer("a", add_special_tokens=False)["input_ids"]
    marked = tokenizer("a", add_special_tokens=True)["input_ids"]
    for start in range(len(marked) - len(plain) + 1):
        if marked[start : start + len(plain)] == plain:
            return tuple(marked[:start])
    return ()
