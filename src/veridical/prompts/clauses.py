"""Whether a sentence asserts the claim that stands in it, or denies, supposes, attributes or asks it.

A small grammar instead of understanding. The words before a claim, back to the beginning of its sentence, are cut at
the last connective that begins a new assertion (`..., so the answer is`), and looked through for cues. Some cues
govern all that follows in the sentence (`if`, `at first sight`), others only their own clause (`not`, `might`, `one
would say`): where the claim begins a clause of its own after a comma, those before the comma do not reach it.
`CUES` is the table, with an example each, in which `<label>` is not an answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

WINDOW = 400
"""Characters before and after a claim that are looked at."""


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that govern a claim. `reach`: what follows in the sentence, in the clause, or the words after a claim."""

    name: str
    reach: Literal["sentence", "clause", "after", "contrast"]
    pattern: str
    example: str


_OTHERS = (
    r"(?:one|some|someone|somebody|anyone|people|many|most|others?|they|he|she|you|nobody"
    r"|(?:a|an|the|another|some|many|careless|naive|hasty)\s(?:\w+\s)?"
    r"(?:readers?|students?|persons?|people|annotators?|models?))"
)
_SAYING = (
    r"(?:think|thinks|thought|say|says|said|believe[sd]?|claim(?:s|ed)?|argue[sd]?|assume[sd]?|guess(?:es|ed)?"
    r"|suppose[sd]?"
    r"|expect(?:s|ed)?|conclude[sd]?|answer(?:s|ed)?|infer(?:s|red)?|imagine[sd]?)"
)
_EVALUATION = (
    r"(?:wrong|incorrect|mistaken|a mistake|an error|erroneous|premature|tempting|misleading|hasty|rash|careless"
    r"|unsafe"
    r"|a fallacy|fallacious|unjustified|unwarranted|false|untrue|easy|natural|impossible|hard|difficult"
    r"|too (?:quick|early|much|strong))"
)

CUES: tuple[Cue, ...] = (
    Cue(
        "condition",
        "sentence",
        r"\b(?:if|unless|suppose|supposing|assuming|assume|imagine|provided|in case|otherwise|as long as|were it)\b",
        "If she had finished, the answer would be <label>. She had not.",
    ),
    Cue(
        "inversion",
        "sentence",
        r"\A\W*(?:had|were|should)\s(?!the answer|i\b)\w+",
        "Had he finished, the answer would be <label>.",
    ),
    Cue(
        "without",
        "sentence",
        r"\b(?:without|but for|in (?:a|another) (?:world|reading|scenario|case) (?:where|in which|that))\b",
        "Without the rain, the answer would be <label>.",
    ),
    Cue(
        "first_impression",
        "sentence",
        r"\b(?:at first|at a (?:quick )?glance|on the (?:surface|face of it)|initially|naively"
        r"|superficially|my first)\b",
        "At first sight the answer is <label>.",
    ),
    Cue(
        "source",
        "sentence",
        r"\b(?:according to (?!the (?:premise|text|passage|evidence|statement))"
        r"|for some\b|to some\b|in the eyes of)",
        "According to some, the answer is <label>.",
    ),
    Cue(
        "negation",
        "clause",
        r"\b(?:not|never|cannot|neither|nor|hardly|nothing|nobody|no one|none|without|unable|unlikely"
        r"|far from|fails? to"
        r"|refuse[sd]?|deny|denies|denied|doubt(?:s|ed|ful)?|reject(?:s|ed)?|rules? out|ruled out"
        r"|instead of|rather than)\b"
        r"|n't\b|\bno (?:\w+ )?(?:reason|evidence|proof|way|basis|guarantee|indication|support|grounds?)\b",
        "It does not follow that the answer is <label>.",
    ),
    Cue(
        "evaluation",
        "clause",
        rf"\b{_EVALUATION} (?:for \w+ )?(?:to|that)\b",
        "It would be wrong to say the answer is <label>.",
    ),
    Cue(
        "possibility",
        "clause",
        r"\b(?:might|may|could|perhaps|maybe|possibly|possible|whether|wonder(?:s|ed|ing)?|question of)\b",
        "It could be that the answer is <label>.",
    ),
    Cue(
        "others_say",
        "clause",
        rf"\b{_OTHERS}\s(?:(?:would|will|also|often|first|then|even)\s){{0,2}}(?:be tempted to\s)?{_SAYING}\b",
        "Some would say that the answer is <label>.",
    ),
    Cue(
        "reserve",
        "after",
        r"[,;]?\s\(?(?:but )?(?:only )?(?:if|unless|provided|assuming|or so|one might|some would"
        r"|some might|at first)\b",
        "The answer is <label>, if she finished.",
    ),
    Cue(
        "contrast",
        "contrast",
        r"\W*(?:but|however|yet|actually|wait|on the other hand|still|no,|hmm|although|though|that would be wrong)\b",
        "It seems that the answer is <label>. However, the text leaves it open.",
    ),
)

_IDIOMS = re.compile(
    r"\b(?:no doubt|without (?:a |any )?doubt|not only|cannot be denied|no question|not surprisingly|whether or not"
    r"|why not|do not forget|don't forget|needless to say)\b"
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
_DETERMINER = re.compile(r"\b(?:(?:the|my|our|this|its|a|an|correct|final|best|right|only)\s+)+\Z")
_SUBJECT = re.compile(
    r"\s*(?:and |then )?(?:i|we|it|this|that (?:is|means|makes|leaves)|the|a|an|one|some|he|she|they|you"
    r"|there|my|our)\b"
)
_HEDGE = re.compile(
    r"\b(?:seems?|appears?|looks? like|i (?:think|guess|believe|suspect)|probably|likely|would be|intuitively|first)\b"
)
_SUPPOSED = re.compile(r"\W*(?:suppose|imagine|assume|say|let us (?:suppose|assume))\b")
_SENTENCE_START = re.compile(r"[.!?;][\"')\]]{0,3}\s|\n[ \t]*\n|(?<![a-z,])\n|\n(?![a-z])")
_SENTENCE_END = re.compile(r"[.!?;](?=[\"')\]]{0,3}(?:\s|\Z))|\n[ \t]*(?:\n|\Z)|\n(?![a-z])")

_PATTERNS = {cue.name: (cue.reach, re.compile(cue.pattern)) for cue in CUES}


def governed(text: str, start: int, left: int, right: int) -> str:
    """The name of the cue that governs a claim; empty where the sentence asserts it.

    The claim begins at `start` with its own words (`the answer is`), and its label stands at [left, right).
    """
    before = _IDIOMS.sub("", _before(text, start))
    main = before[_last_end(_NEW_ASSERTION, before) :]
    after = text[right : right + WINDOW].lower()
    if cue := _found("sentence", main):
        return cue
    if cue := _found("clause", _clause(main)):
        return cue
    if _PATTERNS["reserve"][1].match(after):
        return "reserve"
    end = _SENTENCE_END.search(after)
    if end is not None and end[0] == "?":
        return "question"
    if "would" in text[start:left] and _SUPPOSED.match(_sentence_before(text, start)):
        return "condition"
    hedged = _HEDGE.search(main + text[start:left].lower()) is not None
    if hedged and end is not None and _PATTERNS["contrast"][1].match(after, end.end()):
        return "contrast"
    return ""


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
    if not main.strip() or _FRESH.search(main):
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
