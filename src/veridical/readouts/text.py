"""Text baselines: what words and characters of the question recover without any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GroupKFold

from veridical.readouts.answers import TEXT_BASELINES
from veridical.readouts.logistic import Reduced, reduce
from veridical.readouts.selection import FOLDS, PreparedFeatures, group_codes
from veridical.stats.units import Ints

# Words of one letter count: the default pattern would not see "a", nor a digit.
_WORDS = {"analyzer": "word", "token_pattern": r"(?u)\b\w+\b", "ngram_range": (1, 2), "sublinear_tf": True}
_CHARACTERS = {"analyzer": "char_wb", "ngram_range": (2, 5), "sublinear_tf": True}
VECTORIZERS: dict[str, dict[str, Any]] = dict(zip(TEXT_BASELINES, (_WORDS, _CHARACTERS), strict=True))
"""Answerer to the arguments of scikit-learn's `TfidfVectorizer`."""


def tfidf(answerer: str, train: Sequence[str], others: Sequence[str]) -> Reduced:
    """TF-IDF features with the vocabulary of the training texts alone, not scaled."""
    vectorizer = TfidfVectorizer(**VECTORIZERS[answerer])
    try:
        rows = np.asarray(vectorizer.fit_transform(train).todense(), dtype=np.float64)
    except ValueError:  # no word in any text (`???`): nothing to go by, so the most frequent label it is
        return reduce(np.zeros((len(train), 1)), np.zeros((len(others), 1)), scaled=False)
    return reduce(rows, np.asarray(vectorizer.transform(others).todense(), dtype=np.float64), scaled=False)


def prepared_text(
    answerer: str, texts: Sequence[str], groups: Sequence[object], others: Sequence[str], n_folds: int = FOLDS
) -> PreparedFeatures:
    """A text baseline as a readout: selected and fitted on `texts`, to answer `others`."""
    codes = group_codes(groups, n_folds)

    def pick(rows: Ints) -> list[str]:
        return [texts[row] for row in rows]

    folds = tuple(
        (train, test, tfidf(answerer, pick(train), pick(test)))
        for train, test in GroupKFold(n_folds).split(np.zeros((len(texts), 1)), groups=codes)
    )
    return PreparedFeatures(folds, tfidf(answerer, texts, others), codes)
