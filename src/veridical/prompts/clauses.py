"""Whether a sentence asserts the claim that stands in it, or denies, supposes, attributes or asks it.

A small grammar instead of understanding. The words before a claim, back to the beginning of its sentence, are cut at
the last connective that begins a new assertion (`..., so the answer is`), and looked through for cues. Some cues
govern all that follows in the sentence (`if`, `at first sight`), others only their own clause (`not`, `might`, `one
would say`): where the claim begins a clause of its own after a comma, those before the comma do not reach it.
`prompts.cues.CUES` is the table.
"""

from __future__ import annotations

import re

from veridical.prompts.cues import CUES, SAYING

WINDOW = 400
"""Characters before and after a claim that are looked at."""

_IDIOMS = re.compile(
    r"\b(?:no doubt|without (?:a |any )?doubt|not only|cannot be denied|no question|not surprisingly|whether or not"
    r"|why not|do not forget|don't forget|needless to say"
    r"|if i (?:had|have) to (?:guess|choose|answer|pick)|were i forced to (?:choose|answer)"
    r"|if forced to (?:choose|answer))\b"
)
"""Phrases that hold a cue and assert what follows."""

# A connective that begins a new assertion; what was supposed or denied before it does not reach further.
_NEW_ASSERTION = re.compile(
    r"(?:[,;:—–]|\s-)\s*(?:and |but )?(?:so|but|however|therefore|thus|hence|yet|still|nevertheless"
    r"|instead|consequently"
    r"|accordingly|which means|meaning|making|which makes)\b(?! that the| as| far)"
    r"|\b(?:so|therefore|thus|hence|but)\b(?=,? (?:the|my|this|it|i|we|our)\b|,?\s*\Z)|→|=>"
)
_FRESH = re.compile(r"[,:;—–]\s*(?:and |then |and then )?\Z")
_SAID = re.compile(rf"\b{SAYING}\s?(?::|,\s?[\"'])[\"' ]*\Z")
"""A colon after a verb of saying does not begin anything new."""
_DETERMINER = re.compile(r"\b(?:(?:the|my|our|this|its|a|an|correct|final|best|right|only)\s+)+\Z")
_SUBJECT = re.compile(
    r"\s*(?:and |then )?(?:i|we|it|this|that (?:is|means|makes|leaves)|the|a|an|one|some|he|she|they|you"
    r"|there|my|our)\b"
)
_HEDGE = re.compile(
    r"\b(?:seems?|appears?|looks? like|i (?:think|guess|believe|suspect)|lean(?:ing)?|inclined"
    r"|probably|likely|would be|intuitively|first)\b"
)
_SUPPOSED = re.compile(r"\W*(?:suppose|imagine|assume|say|let us (?:suppose|assume))\b")
_SENTENCE_START = re.compile(r"[.!?;][\"')\]]{0,3}\s|\n[ \t]*\n|(?<![a-z,])\n|\n(?![a-z])")
_SENTENCE_END = re.compile(r"[.!?;](?=[\"')\]]{0,3}(?:\s|\Z))|\n[ \t]*(?:\n|\Z)|\n(?![a-z])")

_PATTERNS = {cue.name: (cue.reach, re.compile(cue.pattern)) for cue in CUES}


def governed(text: str, start: int, left: int, right: int, *, remark: bool = False) -> str:
    """The name of the cue that governs a claim; empty where the sentence asserts it.

    The claim begins at `start` with its own words (`the answer is`), and its label stands at [left, right). What a
    `remark` says the next sentence may take back, as it may a hedge.
    """
    before = _IDIOMS.sub("", _before(text, start))
    main = before[_last_end(_NEW_ASSERTION, before) :]
    after = text[right : right + WINDOW].lower()
    if cue := _found("sentence", main):
        return cue
    if cue := _found("clause", _clause(main)):
        return cue
    if cue := _found("noun", main):
        return cue
    for name in ("reserve", "attributed", "taken_back"):
        if _PATTERNS[name][1].match(after):
            return name
    end = _SENTENCE_END.search(after)
    if end is not None and end[0] == "?":
        return "question"
    if "would" in text[start:left] and _SUPPOSED.match(_sentence_before(text, start)):
        return "condition"
    hedged = remark or _HEDGE.search(main + text[start:left].lower()) is not None
    if hedged and end is not None and _PATTERNS["contrast"][1].match(after, end.end()):
        return "contrast"
    return ""


_DENIED_BOX = re.compile(r"(?:\bnot|n't|\bnever|\brather than|\binstead of)[\s$\"'(\[{]{0,8}(?:the )?\Z")
_LEADS_ON = re.compile(
    r"(?:\b(?:is|are|be|was|were|as|like|with|of|for|to|than|the|a|an|and|or|not|follows|following|examples?|options?"
    rf"|choices?|labels?|answers?|words?|include|includes|between|these"
    rf"|(?<!the )(?<!this )(?<!a )(?<!an ){SAYING}))\W*\Z"
)
_CASE = re.compile(r"\A\W*(?:for|when|whenever|where|while|in case)\b")


def denied(text: str, start: int) -> bool:
    """Whether what begins at `start` is denied by the words right before it."""
    return _DENIED_BOX.search(text[max(0, start - 40) : start].lower()) is not None


def concluded(text: str, place: int) -> bool:
    """Whether the sentence up to `place` is whole, so that what follows its colon or dash concludes from it."""
    sentence = _before(text, place)
    main = sentence[_last_end(_NEW_ASSERTION, sentence) :]
    whole = len(sentence.split()) >= 3 and not _LEADS_ON.search(sentence) and not _CASE.match(main)
    return whole and not _found("sentence", main)


def _before(text: str, start: int) -> str:
    """The words of the sentence before a place, in lower case and without the claim's own article."""
    window = text[max(0, start - WINDOW) : start]
    sentence = window[_last_end(_SENTENCE_START, window) :].lower()
    return _DETERMINER.sub("", " ".join(sentence.split()) + " ")


def _sentence_before(text: str, place: int) -> str:
    """The sentence before the one that a place is in, in lower case."""
    window = text[max(0, place - 2 * WINDOW) : place]
    ends = [match.end() for match in _SENTENCE_START.finditer(window)][-2:]
    return window[ends[0] : ends[1]].lower() if len(ends) == 2 else window[: ends[0]].lower() if ends else ""


def _clause(main: str) -> str:
    """The part of the sentence in which a cue of a clause's reach governs what follows at its end."""
    if not main.strip() or (_FRESH.search(main) and not _SAID.search(main)):
        return ""
    start = len(main)
    while (comma := max(main.rfind(mark, 0, start) for mark in ",:—–")) >= 0:
        if _SUBJECT.match(main, comma + 1):
            return main[comma + 1 :]
        start = comma
    return main


def _found(reach: str, words: str) -> str:
    if not words.strip():
        return ""
    return next((name for name, (how, p) in _PATTERNS.items() if how == reach and p.search(words)), "")


def _last_end(pattern: re.Pattern[str], text: str) -> int:
    end = 0
    for match in pattern.finditer(text):
        end = match.end()
    return end
