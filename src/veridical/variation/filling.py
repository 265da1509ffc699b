"""A text with another word in it: its capitals, the article before it and the possessive behind it repaired."""

from __future__ import annotations

from dataclasses import dataclass

from veridical.variation.nouns import Target
from veridical.variation.protocol import Slot
from veridical.variation.tagging import TaggedTokens, Token
from veridical.variation.words import OPENING, article, cased, casing

_ARTICLE_TAGS = frozenset({"DT", "DET"})
_PLURALS = frozenset({"NNS", "NNPS"})
_APOSTROPHES = ("'", "\u2019")
_QUOTES = frozenset({"'", "\u2018", "`"})


@dataclass(frozen=True, slots=True)
class Filled:
    """A text with the replacement in it; `spans` are its characters there, one a slot."""

    text: str
    spans: tuple[tuple[int, int], ...]


def fill(text: str, tokens: TaggedTokens, target: Target, replacement: str) -> Filled:
    """The text with every occurrence replaced, cased as the word was, its article and its possessive repaired."""
    edits: list[tuple[int, int, str, bool]] = []
    for slot in target.slots:
        if slot.text != text:
            continue
        new = cased(replacement, casing(slot.word))
        # spaCy has tokens of white space, and of the marks that open a quotation: `a "unicorn"`.
        before = next((t for t in reversed(tokens) if t.stop <= slot.start and t.text.strip().strip(OPENING)), None)
        if before is not None and (repaired := _repaired(before, slot, new)):
            edits.append((before.start, before.stop, repaired, False))
        edits.append((slot.start, slot.stop, new, True))
        after = next((t for t in tokens if t.start == slot.stop), None)
        if after is not None and (clitic := _possessive(after, tokens, target, slot, new)) != after.text:
            edits.append((after.start, after.stop, clitic, False))
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    end = length = 0
    for start, stop, new, counts in sorted(edits):
        length += start - end + len(new)
        parts += [text[end:start], new]
        if counts:
            spans.append((length - len(new), length))
        end = stop
    return Filled("".join([*parts, text[end:]]), tuple(spans))


def _repaired(before: Token, slot: Slot, new: str) -> str:
    """The article that the new word needs, where the one before it is another; "" where there is none to repair."""
    found, wanted = before.text.lower(), article(new)
    if found not in ("a", "an") or found == wanted or before.tag not in _ARTICLE_TAGS:
        return ""
    if before.stop == slot.start or slot.text[before.stop : slot.start].strip().strip(OPENING):
        return ""
    # "A" alone does not say whether all is in capitals; the word does.
    capitals = before.text.isupper() and casing(slot.word) == "upper"
    return cased(wanted, "upper" if capitals else "title" if before.text[0].isupper() else "lower")


def _possessive(after: Token, tokens: TaggedTokens, target: Target, slot: Slot, new: str) -> str:
    """What stands behind the new word, where it is a possessive: `'s`, or `'` behind the s of a plural.

    A singular in s has either (`the boss'`, `the boss's`) and keeps what it has.
    """
    bare, in_s = after.text in _APOSTROPHES, new.lower().endswith("s")
    quoted = any(token.text in _QUOTES for token in tokens if token.start < slot.start)
    # `'s` may be a verb, which its tag says; what closes a quotation may have any tag.
    if quoted if bare else after.tag != "POS" or not after.text.startswith(_APOSTROPHES):
        return after.text
    if in_s and (bare or target.tag in _PLURALS):
        return after.text[0]
    return after.text if not bare else after.text + ("S" if casing(slot.word) == "upper" else "s")
