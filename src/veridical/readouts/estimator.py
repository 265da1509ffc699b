"""The readout as a scikit-learn estimator, for features of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from veridical.readouts.logistic import reduce, scores
from veridical.readouts.selection import FOLDS, PENALTIES, PreparedFeatures
from veridical.stats.units import Floats, Ints


class LinearReadout(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Standardised features, L2 multinomial logistic regression, the penalty chosen on folds of whole groups.

    What is chosen and answered is what scikit-learn's `GridSearchCV(make_pipeline(StandardScaler(),
    LogisticRegression()), {"logisticregression__C": penalties}, scoring="balanced_accuracy", cv=GroupKFold(folds))`
    chooses and answers.

    Parameters: `penalties`, inverse strengths C; `folds`, their number.
    Attributes after `fit`: `classes_`; `C_`, the penalty chosen; `validation_` (penalties,), mean balanced accuracy.
    """

    def __init__(self, penalties: Sequence[float] = PENALTIES, folds: int = FOLDS) -> None:
        self.penalties = penalties
        self.folds = folds

    def fit(self, X: Any, y: Any, groups: Sequence[object] | None = None) -> Self:  # noqa: N803
        """Fit to features `X` (n, d), labels `y` (n,) and `groups` (n,), each row a group of its own where None.

        Raises UserError where there are fewer groups than folds, a class is missing from a fold's fitted part, or a
        feature is not finite.
        """
        X, y = validate_data(self, X, y, dtype=np.float64, ensure_all_finite=False, ensure_min_samples=2)  # noqa: N806
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"a readout needs two classes or more; the number of classes is {len(self.classes_)}")
        prepared = PreparedFeatures.of(X, range(len(X)) if groups is None else groups, X[:1], self.folds)
        prepared.check_labels(codes, [str(name) for name in self.classes_])
        chosen = prepared.choose(codes[None], len(self.classes_), tuple(self.penalties))
        self.validation_: Floats = chosen.validation[0]
        self.C_ = float(self.penalties[int(chosen.penalty[0])])
        self._fitted: tuple[Floats, Ints] = (X, codes)
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """Log-odds (m, classes), which sum to 0 in each row; of two classes, the second's less the first's, (m,)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)  # noqa: N806
        rows, codes = self._fitted
        found = scores(reduce(rows, X), codes, len(self.classes_), self.C_)
        return found[:, 1] - found[:, 0] if len(self.classes_) == 2 else found

    def predict(self, X: Any) -> npt.NDArray[Any]:  # noqa: N803
        """The likeliest class of each row (m,)."""
        found = self.decision_function(X)
        best = (found > 0).astype(int) if found.ndim == 1 else found.argmax(1)
        return np.asarray(self.classes_[best])
