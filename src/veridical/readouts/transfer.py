"""Readouts fitted on one set of questions and judged on another, with their nulls and controls.

Nothing is selected or fitted on the judged set. Every null permutes the fitted labels within their groups and does the
whole selection again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.model_selection import GroupKFold

from veridical.errors import UserError
from veridical.readouts.nulls import pairs_recovered, permuted_within
from veridical.readouts.rows import Rows
from veridical.readouts.selection import FOLDS, Chosen, PreparedFeatures, balanced_accuracy
from veridical.stats.units import Floats, Ints

StepCallback = Callable[[int], None]
"""Called with the number of fits with selection that were done."""

_MOST_REDRAWS = 1_000


def _quiet(_: int) -> None:
    pass


@dataclass(frozen=True, eq=False)
class RecoveryScores:
    """Two numbers for each of some answerings of the judged set: balanced accuracy, and complete sets as a count."""

    balanced_accuracy: Floats
    pairs: Ints


@dataclass(frozen=True, eq=False)
class TransferOutcome:
    """What one readout answered (codes, (m,)), what it scored, and what it scores when labels are permuted."""

    answers: Ints
    penalty: int
    validation: float
    observed: RecoveryScores
    null: RecoveryScores | None = None


@dataclass(frozen=True, eq=False)
class TransferTask:
    """A fitted and a judged set that share their labels. `labels` are codes into `fitted.names`."""

    fitted: Rows
    judged: Rows

    def __post_init__(self) -> None:
        if stray := sorted(set(self.judged.names) - set(self.fitted.names)):
            raise UserError(
                f"suite {self.judged.suite.name!r} has the label {stray[0]!r}, which {self.fitted.suite.name!r} lacks: "
                "nothing can be fitted that answers it"
            )

    @property
    def n_classes(self) -> int:
        """Number of labels in the fitted set."""
        return len(self.fitted.names)

    @property
    def gold(self) -> Ints:
        """Gold labels of the judged rows as codes into the labels of the fitted set, (m,)."""
        return self.judged.named(self.fitted.names)

    def scores(self, answers: Ints) -> RecoveryScores:
        """Answers (..., m) scored against the judged set."""
        gold = self.gold
        return RecoveryScores(
            balanced_accuracy(answers, gold, self.n_classes),
            pairs_recovered(answers, gold, self.judged.sets),
        )

    def vectors(self, draws: int, seed: int) -> Ints:
        """The fitted labels, then `draws` permutations of them within groups: the same for every readout of a seed."""
        observed = self.fitted.labels[None]
        if not draws:
            return observed
        rng = np.random.default_rng(seed)
        return np.vstack([observed, permuted_within(self.fitted.labels, self.fitted.group_codes, draws, rng)])

    def outcome(self, answers: Ints, penalty: int, validation: float) -> TransferOutcome:
        """Answers (vectors, m): the first row is of the observed labels, the others are its null."""
        scores = self.scores(answers)
        balanced, pairs = scores.balanced_accuracy, scores.pairs
        null = RecoveryScores(balanced[1:], pairs[1:]) if len(answers) > 1 else None
        return TransferOutcome(answers[0], penalty, validation, RecoveryScores(balanced[0], pairs[0]), null)

    def prepared(self, features: Floats, others: Floats) -> PreparedFeatures:
        """Hidden states (n, width) of the fitted and (m, width) of the judged set, ready for any labels."""
        prepared = PreparedFeatures.of(features, self.fitted.groups, others)
        prepared.check_labels(self.fitted.labels, self.fitted.names)
        return prepared


def fit(
    task: TransferTask, prepared: PreparedFeatures, draws: int, seed: int, step: StepCallback = _quiet
) -> TransferOutcome:
    """Select and fit on the fitted labels, answer the judged set, and the same for `draws` permutations of them."""
    labels = task.vectors(draws, seed)
    chosen = prepared.choose(labels, task.n_classes, done=step)
    return _outcome(task, chosen)


def _outcome(task: TransferTask, chosen: Chosen) -> TransferOutcome:
    return task.outcome(chosen.answers, int(chosen.penalty[0]), float(chosen.validation[0].max()))


def leave_one_out(
    task: TransferTask,
    features: Floats,
    others: Floats,
    categories: tuple[Sequence[str], Sequence[str]],
    draws: int,
    seed: int,
    step: StepCallback = _quiet,
) -> TransferOutcome:
    """Each category of the judged set answered by a readout that was fitted without it, and judged together.

    `categories` holds the category of every fitted and of every judged row. `penalty` is -1: there are several.
    """
    fitted, judged = (np.asarray(names) for names in categories)
    labels = task.vectors(draws, seed)
    answers = np.full((len(labels), len(task.judged)), -1, dtype=np.int64)
    validation = []
    for category in dict.fromkeys(judged.tolist()):
        kept, asked = np.flatnonzero(fitted != category), np.flatnonzero(judged == category)
        groups = [task.fitted.groups[row] for row in kept]
        prepared = PreparedFeatures.of(features[kept], groups, others[asked])
        prepared.check_labels(task.fitted.labels[kept], task.fitted.names)
        chosen = prepared.choose(labels[:, kept], task.n_classes, done=step)
        answers[:, asked] = chosen.answers
        validation.append(float(chosen.validation[0].max()))
    return task.outcome(answers, -1, float(np.mean(validation)))


@dataclass(frozen=True, eq=False)
class Sweep:
    """A readout at every layer, and the one at the layer that the fitted set chooses.

    `nested` is the balanced accuracy on the fitted set of layer and penalty chosen together, each fold answered by a
    choice made without it.
    """

    layers: Mapping[int, TransferOutcome]
    best_layer: int
    best: TransferOutcome
    nested: float


def sweep(
    task: TransferTask,
    features: Callable[[int], tuple[Floats, Floats]],
    layers: Sequence[int],
    draws: int,
    seed: int,
    step: StepCallback,
) -> Sweep:
    """`features` gives the fitted and the judged states at a layer. Layers that tie in validation: the lowest wins."""
    labels = task.vectors(draws, seed)
    outcomes: dict[int, TransferOutcome] = {}
    reached = np.full(len(labels), -np.inf)
    best = np.full((len(labels), len(task.judged)), -1, dtype=np.int64)
    owner = np.full(len(labels), -1, dtype=np.int64)
    for layer in sorted(layers):
        chosen = task.prepared(*features(layer)).choose(labels, task.n_classes, done=step)
        outcomes[layer] = _outcome(task, chosen)
        validation = np.round(chosen.validation.max(1), 12)
        better = validation > reached
        reached[better], best[better], owner[better] = validation[better], chosen.answers[better], layer
    chosen_layer = int(owner[0])
    return Sweep(
        outcomes,
        chosen_layer,
        task.outcome(best, outcomes[chosen_layer].penalty, float(reached[0])),
        _nested(task, features, layers),
    )


def _nested(task: TransferTask, features: Callable[[int], tuple[Floats, Floats]], layers: Sequence[int]) -> float:
    """Balanced accuracy on the fitted set with layer and penalty chosen inside every fold, pooled over folds."""
    labels, groups = task.fitted.labels, np.asarray(task.fitted.groups)
    answers = np.full(len(labels), -1, dtype=np.int64)
    for train, test in GroupKFold(FOLDS).split(labels, groups=task.fitted.group_codes):
        reached = -np.inf
        for layer in sorted(layers):
            states, _ = features(layer)
            prepared = PreparedFeatures.of(states[train], groups[train].tolist(), states[test])
            chosen = prepared.choose(labels[train][None], task.n_classes)
            if (validation := round(float(chosen.validation.max()), 12)) > reached:
                reached, answers[test] = validation, chosen.answers[0]
    return float(balanced_accuracy(answers, labels, task.n_classes))


def control_task(
    task: TransferTask,
    prepared: PreparedFeatures,
    categories: tuple[Sequence[str], Sequence[str]],
    draws: int,
    seed: int,
    step: StepCallback = _quiet,
) -> Floats:
    """Balanced accuracies (draws,) of readouts of a random label a category, which both sets share.

    Hewitt & Liang 2019 (arXiv 1909.03368): a control task has the structure of the real one and nothing to be learnt
    but by memory, so that what a probe makes of it is what the probe brings. Labels are dealt as evenly as they go
    among categories; a deal that leaves a fold without some label is dealt again.

    Raises UserError where no deal fills every fold.
    """
    fitted, judged = (np.asarray(names) for names in categories)
    names = sorted(set(fitted.tolist()) | set(judged.tolist()))
    rng = np.random.default_rng(seed)
    hand = np.arange(len(names)) % task.n_classes
    dealt: list[Ints] = []
    for _ in range(_MOST_REDRAWS * max(draws, 1)):
        if len(dealt) == draws:
            break
        deal = dict(zip(names, rng.permutation(hand).tolist(), strict=True))
        labels = np.array([deal[name] for name in fitted.tolist()])
        if all(len(np.unique(labels[train])) == task.n_classes for train, _, _ in prepared.folds):
            dealt.append(np.array([deal[name] for name in [*fitted.tolist(), *judged.tolist()]]))
    if len(dealt) < draws:
        raise UserError(
            f"a control task of {task.n_classes} labels over {len(names)} categories leaves a fold without some label: "
            "give more categories or fewer folds"
        )
    labels = np.stack(dealt)
    answers = prepared.choose(labels[:, : len(fitted)], task.n_classes, done=step).answers
    return balanced_accuracy(answers, labels[:, len(fitted) :], task.n_classes)
