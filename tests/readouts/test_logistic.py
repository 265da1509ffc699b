"""The regressions of many label vectors, against scikit-learn's one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from veridical.errors import UserError
from veridical.readouts.logistic import decide, reduce, scores
from veridical.readouts.selection import FOLDS, PENALTIES, PreparedFeatures, balanced_accuracy
from veridical.stats.units import Floats, Ints

MARGIN = 1e-6


def data(seed: int, rows: int = 48, width: int = 70, classes: int = 4, others: int = 30) -> tuple[Floats, Floats, Ints]:
    rng = np.random.default_rng(seed)
    labels = np.tile(np.arange(classes), rows // classes)
    means = rng.normal(size=(classes, width)) * 0.3
    scale = np.geomspace(0.1, 30, width)
    features = (rng.normal(size=(rows, width)) + means[labels]) * scale + 5
    answered = (rng.normal(size=(others, width)) + means[rng.integers(0, classes, others)]) * scale + 5
    return features, answered, labels


def centred(scores: Floats) -> Floats:
    """Scores less their mean over classes, which no answer depends on."""
    return scores - scores.mean(1, keepdims=True)


def theirs(features: Floats, answered: Floats, labels: Ints, penalty: float) -> Floats:
    scaler = StandardScaler().fit(features)
    model = LogisticRegression(C=penalty, tol=1e-10, max_iter=100_000).fit(scaler.transform(features), labels)
    return np.asarray(model.decision_function(scaler.transform(answered)))


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("width", [3, 70])
def test_scores_are_scikit_learns(penalty: float, width: int) -> None:
    features, answered, labels = data(1, width=width)
    ours = scores(reduce(features, answered), labels, 4, penalty)
    expected = theirs(features, answered, labels, penalty)
    # scikit-learn's own tolerance is on its scaled objective; at weak penalties its weights move in the fifth digit.
    np.testing.assert_allclose(
        ours - ours.mean(1, keepdims=True), expected - expected.mean(1, keepdims=True), atol=2e-4
    )


def test_decisions_of_many_vectors_are_those_of_each_alone() -> None:
    features, answered, labels = data(2)
    rng = np.random.default_rng(3)
    vectors = np.stack([labels, *(rng.permutation(labels) for _ in range(19))])
    found = decide(reduce(features, answered), vectors, 4, PENALTIES)
    for penalty, answers in zip(PENALTIES, found, strict=True):
        for vector, mine in zip(vectors, answers, strict=True):
            decision = theirs(features, answered, vector, penalty)
            best = np.sort(decision, axis=1)
            clear = best[:, -1] - best[:, -2] > MARGIN
            assert (decision.argmax(1) == mine)[clear].all()


def test_features_that_are_only_centred_give_the_answers_of_features_as_they_are() -> None:
    features, answered, labels = data(4, width=10)
    ours = scores(reduce(features, answered, scaled=False), labels, 4, 0.01)
    model = LogisticRegression(C=0.01, tol=1e-12, max_iter=100_000).fit(features, labels)
    expected = model.decision_function(answered)
    np.testing.assert_allclose(
        ours - ours.mean(1, keepdims=True), expected - expected.mean(1, keepdims=True), atol=2e-3
    )


def test_two_classes_are_the_symmetric_model() -> None:
    """With two classes scikit-learn fits one weight vector; the log-odds are those of ours."""
    features, answered, labels = data(5, classes=2)
    ours = scores(reduce(features, answered), labels, 2, 0.1)
    scaler = StandardScaler().fit(features)
    binary = LogisticRegression(C=0.1, tol=1e-12, max_iter=100_000).fit(scaler.transform(features), labels)
    np.testing.assert_allclose(ours[:, 1] - ours[:, 0], binary.decision_function(scaler.transform(answered)), atol=1e-4)


def test_a_constant_column_is_not_an_obstacle() -> None:
    features, answered, labels = data(6, width=12)
    features[:, 3] = answered[:, 3] = 7.0
    ours = scores(reduce(features, answered), labels, 4, 1.0)
    expected = theirs(features, answered, labels, 1.0)
    np.testing.assert_allclose(
        ours - ours.mean(1, keepdims=True), expected - expected.mean(1, keepdims=True), atol=2e-4
    )


class TestSelection:
    def search(self, features: Floats, answered: Floats, labels: Ints, groups: Ints) -> tuple[float, Floats, Floats]:
        search = GridSearchCV(
            make_pipeline(StandardScaler(), LogisticRegression(tol=1e-10, max_iter=100_000)),
            {"logisticregression__C": list(PENALTIES)},
            scoring="balanced_accuracy",
            cv=GroupKFold(FOLDS),
        ).fit(features, labels, groups=groups)
        validation = search.cv_results_["mean_test_score"]
        return search.best_params_["logisticregression__C"], search.decision_function(answered), validation

    @pytest.mark.parametrize("seed", range(4))
    def test_penalty_validation_and_answers_are_grid_searchs(self, seed: int) -> None:
        features, answered, labels = data(seed, rows=72, width=90)
        groups = np.repeat(np.arange(9), 8)
        rng = np.random.default_rng(seed)
        vectors = np.stack([labels, rng.permutation(labels)])
        chosen = PreparedFeatures.of(features, groups.tolist(), answered).choose(vectors, 4)
        for vector, mine, penalty, scored in zip(
            vectors, chosen.answers, chosen.penalty, chosen.validation, strict=True
        ):
            expected, decision, validation = self.search(features, answered, vector, groups)
            np.testing.assert_allclose(scored, validation, atol=1e-12)
            assert PENALTIES[penalty] == expected
            best = np.sort(decision, axis=1)
            clear = best[:, -1] - best[:, -2] > MARGIN
            assert (decision.argmax(1) == mine)[clear].all()

    def test_vectors_in_many_chunks_are_answered_as_alone(self) -> None:
        features, answered, labels = data(7, rows=40, width=8)
        rng = np.random.default_rng(8)
        vectors = np.stack([rng.permutation(labels) for _ in range(300)])
        prepared = PreparedFeatures.of(features, np.repeat(np.arange(10), 4).tolist(), answered)
        seen: list[int] = []
        together = prepared.choose(vectors, 4, done=seen.append)
        assert sum(seen) == 300
        for row in (0, 127, 128, 299):
            np.testing.assert_array_equal(prepared.choose(vectors[row : row + 1], 4).answers[0], together.answers[row])

    def test_scaling_is_learnt_inside_the_fold(self) -> None:
        """Random features score chance on average, whatever their labels (trap 47)."""
        rng = np.random.default_rng(9)
        labels = np.tile(np.arange(4), 12)
        reached = []
        for _ in range(60):
            features = rng.normal(size=(48, 200)) * np.geomspace(1e-3, 1e3, 200)
            chosen = PreparedFeatures.of(features, np.repeat(np.arange(12), 4).tolist(), features[:1]).choose(
                labels[None], 4
            )
            reached.append(chosen.validation[0, 3])
        error = np.std(reached, ddof=1) / np.sqrt(len(reached))
        assert abs(np.mean(reached) - 0.25) < 4 * error

    def test_non_finite_features_are_refused(self) -> None:
        features, answered, _ = data(1)
        features[5, 2] = np.inf
        with pytest.raises(UserError, match=r"row 5 \(from 0\) of the fitted features"):
            PreparedFeatures.of(features, list(range(48)), answered)

    def test_fewer_groups_than_folds_are_refused(self) -> None:
        features, answered, _ = data(1)
        with pytest.raises(UserError, match="4 groups cannot be kept whole in 5 folds"):
            PreparedFeatures.of(features, [row % 4 for row in range(48)], answered)

    def test_a_class_missing_from_a_fold_is_refused(self) -> None:
        features, answered, labels = data(1)
        labels = np.where(np.arange(48) < 8, 3, labels % 3)
        prepared = PreparedFeatures.of(features, [row // 8 for row in range(48)], answered)
        with pytest.raises(UserError, match="class 'd' is missing from the rows fitted in fold"):
            prepared.check_labels(labels, ["a", "b", "c", "d"])


def test_balanced_accuracy_is_the_mean_recall_over_classes_that_occur() -> None:
    # Recalls 1/2 and 1; class 2 is answered and never right, class 3 never occurs.
    answers, labels = np.array([0, 2, 1, 1]), np.array([0, 0, 1, 1])
    assert balanced_accuracy(answers, labels, 4) == pytest.approx(0.75)
    many = balanced_accuracy(np.stack([answers, labels, np.zeros(4, dtype=np.int64)]), labels, 4)
    np.testing.assert_allclose(many, [0.75, 1.0, 0.5])
