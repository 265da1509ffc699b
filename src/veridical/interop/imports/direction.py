"""Which way of a score is better: as the log says, else by the words in the names of its metric and its scorer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise

_LOWER = (
    *("toxic", "stereotyp", "bias", "harm", "hallucinat", "fabricat", "confabulat", "error", "violat", "perplex"),
    *("loss", "fail", "unsafe", "danger", "leak", "jailbreak", "profan", "obscen", "offens", "insult", "hate", "slur"),
    *("misinform", "disinform", "sycophan", "decepti", "dishonest", "mistake", "incorrect", "wrong", "distance"),
    *("plagiar", "regurgit", "misalign", "attack", "cheat", "scheming", "sabotage", "unfair", "discriminat"),
    *("unfaithful", "ungrounded", "degenerat"),
)
"""Beginnings of words in the names of what one wants less of."""
_LOWER_WORDS = (
    "wer",
    "cer",
    "ter",
    "mae",
    "mse",
    "rmse",
    "fpr",
    "fnr",
    "ece",
    "brier",
    "nll",
    "bpb",
    "asr",
    "lie",
    "lies",
)
_LOWER_PAIRS = (("false", "positive"), ("false", "negative"), ("false", "positives"), ("false", "negatives"))
_AGAINST = ("non", "not", "no", "without", "free", "anti", "avoid", "avoids", "avoidance", "avoided", "less", "zero")
_FOUND = ("acc", "accuracy", "accurate", "correct", "correctness", "match", "f1", "auc", "auroc", "precision", "recall")
_HANDLED = (
    "harmon",
    "detect",
    "refus",
    "reject",
    "resist",
    "robust",
    "defen",
    "recogni",
    "identif",
    "classif",
    "correction",
)


def is_lower_better(metric: str, reading: str, ways: Mapping[str, bool]) -> bool:
    """Whether less of a metric is better.

    `ways` says of a metric, or of a reading (a filter, a scorer), whether more is better, where the log says it. Where
    it does not, either name may say that less is.
    """
    for name in (f"{metric},{reading}", reading, metric):
        if name in ways:
            return not ways[name]
    return says_lower(metric) or says_lower(reading)


def says_lower(name: str) -> bool:
    """Whether a name is of what one wants less of: `toxicity`, `WER`; neither `harmless` nor `bias_detection_acc`."""
    words = re.findall(r"[a-z]+|[0-9]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower())
    if any(word in _AGAINST for word in words) or any(word.startswith(_HANDLED) for word in words):
        return False
    if words and (words[-1] in _FOUND or (len(words) > 1 and words[-2] in _FOUND)):
        return False
    pairs = pairwise(words)
    low = (word for word in words if "less" not in word)
    return any(word.startswith(_LOWER) or word in _LOWER_WORDS for word in low) or any(
        pair in _LOWER_PAIRS for pair in pairs
    )


def declared_way(*places: object) -> bool | None:
    """Whether more is better as any of these objects says it, under the names that harnesses use; None where none does.

    The places are looked into by one level: `{"params": {"higher_is_better": false}}` says it too.
    """
    for place in places:
        if not isinstance(place, Mapping):
            continue
        inner = [value for value in place.values() if isinstance(value, Mapping)]
        for one in (place, *inner):
            for name, value in one.items():
                if (way := _way(str(name).lower(), value)) is not None:
                    return way
    return None


def _way(name: str, value: object) -> bool | None:
    said = truth(value)
    if name in ("higher_is_better", "greater_is_better", "bigger_is_better"):
        return said
    if name in ("lower_is_better", "smaller_is_better", "less_is_better"):
        return None if said is None else not said
    if name in ("direction", "optimization_direction", "goal") and isinstance(value, str):
        word = value.lower()
        if word.startswith(("max", "high", "up", "increas")):
            return True
        if word.startswith(("min", "low", "down", "decreas")):
            return False
    return None


def truth(value: object) -> bool | None:
    """A boolean, also as text or as 0 and 1; None for anything else."""
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower() if isinstance(value, str | int) else ""
    return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}.get(text)
