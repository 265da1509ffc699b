"""The readout as an estimator: scikit-learn's own search and pipeline, in one."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical.errors import UserError
from veridical.readouts import LinearReadout

from .test_logistic import centred, data


@pytest.mark.parametrize("classes", [2, 4])
def test_it_chooses_and_answers_as_a_grid_search_of_the_pipeline(classes: int) -> None:
    features, answered, codes = data(11, rows=48, width=60, classes=classes)
    labels = np.array(["no", "yes", "perhaps", "never"])[codes]
    groups = np.repeat(np.arange(12), 4)
    penalties = (1e-3, 1e-1, 10.0)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=100_000)),
        {"logisticregression__C": list(penalties)},
        scoring="balanced_accuracy",
        cv=GroupKFold(4),
    ).fit(features, labels, groups=groups)
    ours = LinearReadout(penalties, folds=4).fit(features, labels, groups)
    assert ours.classes_.tolist() == sorted(set(labels.tolist()))
    assert search.best_params_["logisticregression__C"] == ours.C_
    np.testing.assert_allclose(ours.validation_, search.cv_results_["mean_test_score"], atol=1e-12)
    expected = search.decision_function(answered)
    if classes == 2:
        np.testing.assert_allclose(ours.decision_function(answered), expected, atol=1e-3)
    else:
        np.testing.assert_allclose(ours.decision_function(answered), centred(expected), atol=1e-3)
    assert (ours.predict(answered) == search.predict(answered)).all()


def test_it_is_an_estimator() -> None:
    copy = clone(LinearReadout((1.0,), folds=3))
    assert (copy.penalties, copy.folds) == ((1.0,), 3)
    features, _, codes = data(12)
    assert 0 <= copy.fit(features, codes).score(features, codes) <= 1


def test_bad_input_is_reported() -> None:
    features, _, codes = data(12)
    with pytest.raises(UserError, match="3 groups cannot be kept whole in 5 folds"):
        LinearReadout().fit(features, codes, [row % 3 for row in range(48)])
    features[0, 0] = np.nan
    with pytest.raises(UserError, match="not finite"):
        LinearReadout().fit(features, codes)
