"""Permutation nulls of a readout: ours against a plain scikit-learn loop, which is timed for 5 permutations.

    python benchmarks/readouts.py

1,000 permutations of 144 labels within 18 groups, each with the whole selection (7 penalties, 5 folds of whole groups),
on 144 x 3,584 features; 108 rows are answered. Answers must be the same, but for margins under 1e-6. Prints the ratio
of times last.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings

os.environ.pop("OPENBLAS_CORETYPE", None)

import numpy as np
from harness import report
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical.readouts.nulls import permuted_within
from veridical.readouts.selection import FOLDS, PENALTIES, PreparedFeatures

ROWS, GROUPS, CLASSES, ANSWERED = 144, 18, 4, 108
MARGIN = 1e-6


def plain(features: np.ndarray, groups: np.ndarray, others: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Decision values (m, classes) of scikit-learn's own search."""
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=100_000)),
        {"logisticregression__C": list(PENALTIES)},
        scoring="balanced_accuracy",
        cv=GroupKFold(FOLDS),
    )
    return np.asarray(search.fit(features, labels, groups=groups).decision_function(others))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--width", type=int, default=3_584)
    parser.add_argument("--draws", type=int, default=1_000)
    parser.add_argument("--plain", type=int, default=5, help="permutations of the plain loop")
    given = parser.parse_args()
    rng = np.random.default_rng(0)
    labels = np.tile(np.arange(CLASSES), ROWS // CLASSES)
    groups = np.repeat(np.arange(GROUPS), ROWS // GROUPS)
    # Features as hidden states have them: a few strong directions, a weak trace of the label.
    loadings = rng.normal(size=(24, given.width)) * np.geomspace(4, 0.2, 24)[:, None]
    means = rng.normal(size=(CLASSES, given.width)) * 0.15

    def drawn(labels: np.ndarray) -> np.ndarray:
        noise = rng.normal(size=(len(labels), given.width))
        return rng.normal(size=(len(labels), 24)) @ loadings + noise + means[labels]

    features, others = drawn(labels), drawn(rng.integers(0, CLASSES, ANSWERED))
    permuted = permuted_within(labels, groups, given.draws, rng)

    began = time.perf_counter()
    prepared = PreparedFeatures.of(features, groups.tolist(), others)
    factored = time.perf_counter() - began
    chosen = prepared.choose(permuted, CLASSES)
    ours = time.perf_counter() - began

    warnings.simplefilter("ignore")
    began = time.perf_counter()
    values = [plain(features, groups, others, permuted[draw]) for draw in range(given.plain)]
    loop = (time.perf_counter() - began) / given.plain * given.draws
    differing = close = 0
    for draw, decision in enumerate(values):
        best = np.sort(decision, axis=1)
        tight = best[:, -1] - best[:, -2] < MARGIN
        close += int(tight.sum())
        differing += int((~tight & (decision.argmax(1) != chosen.answers[draw])).sum())
    what = {
        "draws": given.draws,
        "features": [ROWS, given.width],
        "veridical_s": ours,
        "of_which_factoring_s": factored,
        "scikit_learn_s_extrapolated": loop,
        "answers_compared": given.plain * ANSWERED,
        "answers_that_differ": differing,
        "margins_under_1e-6": close,
    }
    report("readouts", what, loop / ours, "time of a plain scikit-learn loop, over veridical's")


if __name__ == "__main__":
    main()
