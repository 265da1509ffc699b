"""Replies that ask a question and contradict their own answer to it: "Is it True? Yes, it is False." says neither."""

from __future__ import annotations

import re
from collections.abc import Sequence

from veridical.prompts.phrases import ADVERB, CLOSERS, THING

_SUBJECT = rf"(?:it|this|that|the (?:answer|label|verdict|correct answer)|(?:the|this) {THING})"
_BEFORE = r"[ \t](?:(?:an?|the)[ \t])?(?:option[ \t])?[\"'(*]{0,3}"
_YES = r"yes|yep|yeah|indeed|absolutely|certainly|definitely|correct|right"
_NO = r"no|nope|incorrect|wrong"


class Contradiction:
    """Finds, among some labels, a question, its answer, and a claim that does not go with them."""

    def __init__(self, labels: Sequence[str]) -> None:
        # A letter is a label in its own case alone: `a` is an article.
        spelt = (f"(?-i:{re.escape(label)})" if len(label) == 1 else re.escape(label) for label in labels)
        label = "|".join(sorted(spelt, key=len, reverse=True))
        self._pattern = re.compile(
            rf"\bis[ \t]{_SUBJECT}(?:[ \t]{ADVERB})?{_BEFORE}(?P<asked>{label})\b{CLOSERS}\?{CLOSERS}\s{{0,4}}"
            rf"(?:(?P<yes>{_YES})|{_NO})\b[\s,.;:!–—-]{{1,4}}"
            rf"(?:(?:so|thus|therefore|hence|because|since)[ \t,]{{1,3}})?"
            rf"{_SUBJECT}(?:'s|[ \t]is)(?:[ \t]{ADVERB})?{_BEFORE}(?P<said>{label})\b",
            re.IGNORECASE,
        )

    def found(self, text: str) -> bool:
        """Whether a yes is followed by another label than the one asked about, or a no by the same."""
        return any(
            (match["yes"] is not None) != (match["asked"].casefold() == match["said"].casefold())
            for match in self._pattern.finditer(text)
        )
