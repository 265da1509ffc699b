"""Where an answer begins: what a chat template leaves out or open before it, which moves the scores of choices."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from veridical.prompts.channels import opens_thinking
from veridical.prompts.template import Message

NO_GENERATION_PROMPT = "no_generation_prompt"
"""The template does not open the answer's turn, though it has a header for it in a finished conversation."""
THINKING_LEFT = "thinking_left_to_model"
"""The template leaves it to the model whether it thinks first, so that its turn may not begin with the answer."""

HEADER = "generation_header"
"""The template argument that rendering itself reads: a text after the template's own end, or `auto`."""
AUTO = "auto"
"""In its place: what the template itself puts between this conversation and a finished answer."""

SWITCHES = ("enable_thinking", "thinking")
"""Names by which templates let a caller turn thinking off."""
CHANNEL = "<|channel|>"
"""What a turn of the Harmony format begins with: a channel, which may be one for thinking."""

_REPLY = "OK"

Apply = Callable[..., str]
"""Messages, and what differs from the usual arguments, to the template's text."""


def opening_notes(messages: Sequence[Message], text: str, source: str, apply: Apply) -> tuple[str, ...]:
    """Notes on where `text` ends, which `apply` made of `messages` with a generation prompt."""
    notes = []
    if missing_header(messages, text, apply):
        notes.append(NO_GENERATION_PROMPT)
    # A block that the template opens itself is noted by whoever reads the reply.
    if not opens_thinking(text) and _thinking_left(messages, text, source, apply):
        notes.append(THINKING_LEFT)
    return tuple(notes)


def missing_header(messages: Sequence[Message], text: str, apply: Apply) -> str:
    """What a finished answer has before it that `text` lacks; empty where `text` opens the answer's turn.

    A template without a word of its own between question and answer (`[INST] ... [/INST] answer`) lacks nothing.
    """
    try:
        if apply(messages, add_generation_prompt=False) != text:
            return ""
        finished = apply([*messages, Message("assistant", _REPLY)], add_generation_prompt=False)
    except Exception:  # a template may object to this conversation in any way; then nothing is known of it
        return ""
    before, reply, _ = finished.rpartition(_REPLY)
    begun = text.rstrip()
    if not reply or not before.startswith(begun) or not before[len(begun) :].strip():
        return ""
    return before[len(text) :] if before.startswith(text) else before[len(begun) :]


def _thinking_left(messages: Sequence[Message], text: str, source: str, apply: Apply) -> bool:
    if CHANNEL in source:
        _, _, end = text.rpartition(messages[-1].content.strip())
        return CHANNEL not in end
    for switch in SWITCHES:
        if re.search(rf"\b{switch}\b", source):
            try:
                return apply(messages, **{switch: False}) != text
            except Exception:  # as above
                return False
    return False
