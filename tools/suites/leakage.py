"""How well surface cues alone tell telicity: TF-IDF classifiers under grouped cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, TypeAlias

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, StratifiedGroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline

Splitter: TypeAlias = GroupKFold | StratifiedGroupKFold

EVERY_WORD = r"(?u)\b\w+\b"
"""Words of one letter too: scikit-learn's own pattern drops the determiner "a", which is a cue like any other."""


@dataclass(frozen=True, slots=True)
class Features:
    """What a text is cut into, as scikit-learn's `TfidfVectorizer` words it."""

    name: str
    analyzer: Literal["word", "char_wb"]
    ngram_range: tuple[int, int]


FEATURES = (Features("words", "word", (1, 2)), Features("characters", "char_wb", (2, 5)))


def partitions(seeds: Sequence[int] = (0,)) -> tuple[Splitter, ...]:
    """Five and ten folds, stratified and not, each unshuffled and once a seed: a figure should not hang on one."""
    return tuple(
        kind(folds, shuffle=seed is not None, random_state=seed)
        for kind in (GroupKFold, StratifiedGroupKFold)
        for folds in (5, 10)
        for seed in (None, *seeds)
    )


def telicity_accuracy(
    texts: Sequence[str],
    telic: Sequence[bool],
    groups: Sequence[str],
    features: Features,
    splitter: Splitter | None = None,
) -> float:
    """Share of texts whose telicity logistic regression on TF-IDF tells, out of fold.

    Settings are scikit-learn's defaults but for the word pattern. `groups` keeps texts of one group in one fold;
    ten folds unless a `splitter` is given.
    """
    cut = {"token_pattern": EVERY_WORD} if features.analyzer == "word" else {}
    classifier = make_pipeline(
        TfidfVectorizer(analyzer=features.analyzer, ngram_range=features.ngram_range, **cut), LogisticRegression()
    )
    target = np.asarray(telic)
    predicted = cross_val_predict(classifier, texts, target, groups=groups, cv=splitter or GroupKFold(10))
    return float((predicted == target).mean())


@dataclass(frozen=True, slots=True)
class Spread:
    """Accuracies over all partitions."""

    lowest: float
    mean: float
    highest: float


def accuracy_spread(texts: Sequence[str], telic: Sequence[bool], groups: Sequence[str], features: Features) -> Spread:
    """`telicity_accuracy` over all of `partitions`."""
    found = [telicity_accuracy(texts, telic, groups, features, splitter) for splitter in partitions()]
    return Spread(min(found), fmean(found), max(found))
