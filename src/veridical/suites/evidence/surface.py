"""What the surface of the text gives away: rules that know no causal inference."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

from veridical.suites.evidence.text import Endpoint, EvidencePair

LABEL_WORD = re.compile(r"\b(favou?r\w*|challeng\w*|unresolved|wrong\w*|target\w*)\b", re.IGNORECASE)
"""A word of a label, which no text that a model reads may hold."""

_WORD = re.compile(r"[a-z0-9']+(?:-[a-z0-9]+)*")
_ENDINGS = ("ings", "ing", "ied", "ies", "ed", "es", "s")


def words(text: str) -> list[str]:
    """The words of a text in lower case; a hyphenated word is one."""
    return _WORD.findall(text.lower())


def _stem(word: str) -> str:
    """The word without a regular ending, so that `schools` meets `school`."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def content(text: str) -> set[str]:
    """Stems of the words that are not function words."""
    return {_stem(word) for word in words(text) if word not in ENGLISH_STOP_WORDS}


def own_text(endpoint: Endpoint) -> str:
    """What only this endpoint of a pair says."""
    return f"{endpoint.target} {endpoint.condition} {endpoint.detail}"


def length(pair: EvidencePair, endpoint: Endpoint) -> float:
    """Number of words that only this endpoint has."""
    return len(words(own_text(endpoint)))


def overlap(pair: EvidencePair, endpoint: Endpoint) -> float:
    """Number of content words that the endpoint shares with the evidence."""
    return len(content(pair.evidence) & content(own_text(endpoint)))


def similarity(pair: EvidencePair, endpoint: Endpoint) -> float:
    """Shared content words as a share of all content words of evidence and endpoint (Jaccard)."""
    one, other = content(pair.evidence), content(own_text(endpoint))
    return len(one & other) / len(one | other)


RULES: dict[str, Callable[[EvidencePair, Endpoint], float]] = {
    "the longer endpoint": length,
    "the endpoint that shares more words with the evidence": overlap,
    "the endpoint more similar to the evidence": similarity,
}


def rule_accuracy(pairs: Sequence[EvidencePair], rule: Callable[[EvidencePair, Endpoint], float]) -> float:
    """Share of pairs in which the rule's greater endpoint is the addressed one; a tie counts one half."""
    won = 0.0
    for pair in pairs:
        addressed, wrong = rule(pair, pair.addressed), rule(pair, pair.wrong_target)
        won += float(addressed > wrong) + 0.5 * float(addressed == wrong)
    return won / len(pairs)
