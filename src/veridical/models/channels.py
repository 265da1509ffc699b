"""Thinking found on token ids, before decoding can lose its markers.

A tokenizer may have a marker of `prompts.channels.CHANNELS` as a token of its own. Where it is a special token,
decoding drops it, and thinking would be read as the answer. Here such tokens are written as `OPEN` and `CLOSE`, so that
a stored text says which part of it is thinking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from veridical.prompts.channels import CHANNELS, CLOSE, FINAL, OPEN

_CHANNEL, _MESSAGE, _START = "<|channel|>", "<|message|>", "<|start|>"
_TURN_ENDS = ("<|end|>", "<|return|>", "<|call|>")
"""Harmony's tokens: a message is start, role, channel, its name, message, text, and one of the ends."""

Decode = Callable[[Sequence[int]], str]


@dataclass(frozen=True, slots=True)
class ChannelTokens:
    """The marker tokens of one tokenizer: by token id, what each is."""

    opens: frozenset[int] = frozenset()
    closes: frozenset[int] = frozenset()
    harmony: dict[int, str] = field(default_factory=dict)

    @property
    def names_channels(self) -> bool:
        """Whether messages have named channels (harmony), several of which make one reply."""
        return {_CHANNEL, _MESSAGE} <= set(self.harmony.values())

    @property
    def message_ends(self) -> frozenset[int]:
        """Tokens that end a message, but not the reply that it is part of."""
        return frozenset(token for token, name in self.harmony.items() if name == _TURN_ENDS[0])

    def text(self, tokens: Sequence[int], decode: Decode) -> str:
        """The text of generated tokens, thinking between `OPEN` and `CLOSE`."""
        if self.names_channels and any(self.harmony.get(token) == _CHANNEL for token in tokens):
            return self._harmony(tokens, decode)
        if not any(token in self.opens or token in self.closes for token in tokens):
            return decode(tokens)
        parts: list[str] = []
        waiting: list[int] = []
        for token in tokens:
            if token in self.opens or token in self.closes:
                parts += (decode(waiting), OPEN if token in self.opens else CLOSE)
                waiting = []
            else:
                waiting.append(token)
        return "".join([*parts, decode(waiting)])

    def _harmony(self, tokens: Sequence[int], decode: Decode) -> str:
        parts: list[str] = []
        waiting: list[int] = []
        thinking, header = False, False

        def flush() -> None:
            nonlocal waiting
            if waiting and not header:
                parts.append(decode(waiting))
            waiting = []

        for token in tokens:
            mark = self.harmony.get(token)
            if mark is None:
                waiting.append(token)
            elif mark == _MESSAGE:
                name = (decode(waiting).split() or [FINAL])[0] if header else FINAL
                waiting, header = [], False
                if (name not in (FINAL, "assistant")) != thinking:
                    thinking = not thinking
                    parts.append(OPEN if thinking else CLOSE)
            else:
                flush()
                header = mark in (_CHANNEL, _START)
        flush()
        return "".join(parts)


def channel_tokens(tokenizer: Any) -> ChannelTokens:
    """The markers that are single tokens of this tokenizer, special or added."""
    added = {str(token): int(number) for number, token in getattr(tokenizer, "added_tokens_decoder", {}).items()}
    opens = frozenset(added[channel.open] for channel in CHANNELS if channel.open in added)
    closes = frozenset(added[channel.close] for channel in CHANNELS if channel.close in added)
    names = (_CHANNEL, _MESSAGE, _START, *_TURN_ENDS)
    harmony = {added[name]: name for name in names if name in added}
    return ChannelTokens(opens, closes, harmony if {_CHANNEL, _MESSAGE} <= set(harmony.values()) else {})
