"""Where the labels stand in a reply: as words, with what is wrapped around them, alone or as one of several."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from veridical.prompts.forms import WRAPPERS
from veridical.unicode_text import compatible

MOST_MENTIONS = 200
"""Mentions of labels that are looked at, from the beginning of a reply and from its end: more is a loop."""
_LAYERS = 8
"""How many wrappers around one label are taken off."""
_CLOSE = 32
"""Characters between two labels that may stand in one list."""

_QUOTES = str.maketrans(
    {**dict.fromkeys("“”„«»", '"'), **dict.fromkeys("‘’‚", "'"), "。": ".", **dict.fromkeys("\u200b\u2060\ufeff\u00ad")}
)
_EMPHASIS = re.compile(r"[*`]+|(?<![^\W_])_+|_+(?![^\W_])")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~|<(s|del|strike)>[^<\n]{1,200}</\1>", re.IGNORECASE)
"""What a reply has struck out."""

_OPEN, _SHUT = r"[\"'(\[${]{0,3}", r"[\"')\]$}]{0,3}"
_LISTED = re.compile(
    rf"{_SHUT}(?:\s{{0,3}}(?:[,/|&+;]|[-–→]|->|=>)\s{{0,3}}(?:(?:or|and|nor|and/or)\s)?"
    r"|\s{1,3}(?:or|and|nor|and/or|vs\.?|versus|through|to)\s)"
    rf"(?:(?:maybe|perhaps|possibly|even|else|also|rather|option|choice)\s){{0,2}}{_OPEN}\Z",
    re.IGNORECASE,
)
_NOR = re.compile(r"\bnor\s{1,3}(?:option )?\Z", re.IGNORECASE)
_INSTEAD = re.compile(rf"{_SHUT}\s{{0,3}}[;:—–]\s", re.IGNORECASE)
"""Between what `neither ... nor` excludes and what stands in its place."""
_ENUMERATED = re.compile(rf"{_SHUT}[.;)]{{0,2}}[ \t]{{1,3}}{_OPEN}\Z")
"""Between letters that follow each other (`A. B. C.`), where nothing follows the last but punctuation."""
_LIST_GOES_ON = re.compile(r"[\"')\]$}]{0,3}[ \t]*(?:[.;),]|\n|\Z)")
_WEIGHED = re.compile(r"[\"')\]]{0,3}[ \t]{0,3}[:=(–—-]{0,2}[ \t]{0,3}(?:\d{1,3}(?:\.\d{1,9})?[ \t]?%|0?\.\d{1,9}\b)")
"""A label with a probability: where several have one, none of them is the answer."""
_ARTICLE = re.compile(
    r"[ \t]+(?!(?:and|or|is|because|since|fits|as|given|would|must|based|due|here|in|if|unless|provided|rather|instead"
    r"|not|over|it)\b)[a-z]"
)


@dataclass(frozen=True, slots=True)
class Mention:
    """A label at [start, end); [left, right) holds the wrappers around it. `listed`: one of several in a list."""

    label: str
    written: str
    start: int
    end: int
    left: int
    right: int
    listed: bool = False

    @property
    def wrapped(self) -> bool:
        """Whether something closes around the label."""
        return self.right > self.end

    @property
    def is_letter(self) -> bool:
        """Whether the label is written as a single character."""
        return len(self.written) == 1

    @property
    def counts(self) -> bool:
        """Whether a mention in prose is one: a single letter is written as its label is."""
        return not self.is_letter or self.written == self.label


class Finder:
    """Finds the labels of one set. `texts` holds, by label, the text of a choice, which stands for its label."""

    def __init__(self, labels: Sequence[str], texts: Mapping[str, str]) -> None:
        names = {_spaced(plain(label)): label for label in labels if label.strip()}
        for label, text in texts.items():
            if len(spaced := _spaced(plain(text))) > 1 and label in labels:
                names.setdefault(spaced, label)
        # Labels that differ in case alone are distinguished by it.
        self._any_case = len({name.casefold() for name in names}) == len(names)
        self._labels = {self._key(name): label for name, label in names.items()}
        self._keeps_marks = any(_EMPHASIS.search(name) for name in names)
        # Longest first: `Not True` before `True`.
        longest_first = sorted(names, key=len, reverse=True)
        any_label = "|".join(r"\s{1,9}".join(map(re.escape, name.split())) for name in longest_first) or r"(?!)"
        flags = re.IGNORECASE if self._any_case else 0
        self._mention = re.compile(rf"(?<![^\W_])(?:{any_label})(?![^\W_])", flags)

    def unmarked(self, text: str) -> str:
        """The text without marks of emphasis and what is struck out, unless labels hold such marks themselves."""
        return text if self._keeps_marks else _EMPHASIS.sub("", _STRUCK.sub(" ", text))

    def is_label(self, word: str) -> bool:
        """Whether a word is a label as it stands."""
        return self._key(word) in self._labels

    def mentions(self, text: str) -> list[Mention]:
        """The labels that stand in the text as words, left to right."""
        every = self._mention.finditer(text)
        matches = (*islice(every, MOST_MENTIONS), *deque(every, MOST_MENTIONS))
        found: list[Mention] = []
        for start, end in (match.span() for match in matches):
            label = self._label(text[start:end])
            left, right = unwrapped(text, start, end)
            # None where case folding and the matching of regular expressions differ (dotless i and the like).
            if label is None or (left == start and _is_article(text, start, end)):
                continue
            if "_" in (text[left - 1 : left], text[right : right + 1]):
                continue
            found.append(Mention(label, text[start:end], start, end, left, right))
        listed = _listed(text, found)
        return [replace(mention, listed=place in listed) for place, mention in enumerate(found)]

    def alone(self, value: str) -> str | None:
        """The label that a whole text is, with wrappers and a full stop around it."""
        text = self.unmarked(value).strip()[:200]
        for start, end in [match.span() for match in self._mention.finditer(text)][:1]:
            left, right = unwrapped(text, start, end)
            if not text[:left].strip() and not text[right:].strip(".! "):
                return self._label(text[start:end])
        return None

    def _key(self, name: str) -> str:
        return _spaced(name).casefold() if self._any_case else _spaced(name)

    def _label(self, written: str) -> str | None:
        return self._labels.get(self._key(written))


def plain(text: str) -> str:
    """The text with one kind of line break, of quotation marks, and of each character that has several forms."""
    return compatible(text.replace("\r\n", "\n").replace("\r", "\n")).translate(_QUOTES)


def _listed(text: str, mentions: Sequence[Mention]) -> set[int]:
    """Places of mentions that are one of several: joined by commas or conjunctions, in a row, or with probabilities."""
    found: set[int] = set()
    for place in range(1, len(mentions)):
        before, after = mentions[place - 1], mentions[place]
        if not 0 <= after.start - before.end < _CLOSE:
            continue
        excluded = _NOR.search(text, max(0, before.left - 16), before.left) is not None
        if excluded and _INSTEAD.match(text, before.end, after.start):
            continue
        row = before.is_letter and after.is_letter and _LIST_GOES_ON.match(text, after.end)
        if _LISTED.match(text, before.end, after.start) or (row and _ENUMERATED.match(text, before.end, after.start)):
            found |= {place - 1, place}
    weighed = {place for place, mention in enumerate(mentions) if _WEIGHED.match(text, mention.end)}
    return found | weighed if len({mentions[place].label for place in weighed}) > 1 else found


def _is_article(text: str, start: int, end: int) -> bool:
    """Whether a single letter is the word "a" or "I": a word in lower case follows."""
    return text[start:end] in ("a", "A", "i", "I") and _ARTICLE.match(text, end) is not None


def unwrapped(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the wrappers around a label begin and end, layer by layer; a full stop may stand inside them."""
    for _ in range(_LAYERS):
        left = start
        while left > 0 and start - left < 3 and text[left - 1] in " \t\n":
            left -= 1
        right = end + (text[end : end + 1] == ".")
        while right < len(text) and right - end < 4 and text[right] in " \t\n":
            right += 1
        for wrapper in _LONGEST_FIRST:
            if text.endswith(wrapper.open, 0, left) and text.startswith(wrapper.close, right):
                start, end = left - len(wrapper.open), right + len(wrapper.close)
                break
        else:
            return start, end
    return start, end


_LONGEST_FIRST = tuple(sorted(WRAPPERS, key=lambda wrapper: -len(wrapper.open)))


def _spaced(label: str) -> str:
    return " ".join(label.split())
