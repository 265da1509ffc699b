"""Multinomial logistic regression for many label vectors over one set of features.

Minimises, for each label vector y, C * sum_i -log softmax(x_i W + b)[y_i] + ||W||^2 / 2, which is what scikit-learn's
`LogisticRegression(C=C)` minimises. A permutation test changes labels and leaves features alone, so whatever depends on
features is done once:

* With n rows the optimal W lies in their span. Features become their coordinates on the singular vectors of the
  training rows, at most n of them, whatever the width.
* In these coordinates the Hessian is bounded by a diagonal (Boehning 1992, Ann. Inst. Stat. Math. 44), which serves
  as preconditioner for nonlinear conjugate gradients. All label vectors take their steps together, as matrix products.
* The objective is strongly convex in W, so the gradient's length bounds how far any decision can still move. A
  label vector is done when its decisions are proved, not when its digits are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import svd
from sklearn.preprocessing import StandardScaler

from veridical.stats.units import Bools, Floats, Ints

MARGIN = 1e-7
"""A decision is settled when no score of a row can still move by this much, or it cannot change which is best."""

_MOST_STEPS = 3_000
_CURVATURE = 0.25
"""Scale of the preconditioner: the curvature of the loss in a logit, at most 1/2, and 1/K where K classes are alike."""


@dataclass(frozen=True, eq=False)
class Reduced:
    """Standardised rows in the coordinates of the training rows' singular vectors.

    `train` has shape (n, r) and orthogonal columns of length `scale` (r,); `test` has shape (m, r). r is the rank of
    the training rows, at most n - 1. What is standardised are the columns, by the training rows alone.
    """

    train: Floats
    test: Floats
    scale: Floats


def reduce(train: Floats, test: Floats, *, scaled: bool = True) -> Reduced:
    """Standardise columns by the training rows (n, d) and turn both parts; (m, d) for `test`.

    Without `scaled` columns are centred alone, which the intercept makes up for: the answers are those of the columns
    as they are. Scalar products between rows and every solution of the regression are kept: a part of a test row
    outside the span of the training rows meets only weights that are 0.
    """
    scaler = StandardScaler(with_std=scaled).fit(train)
    rows, others = scaler.transform(train), scaler.transform(test)
    left, scale, right = svd(rows, full_matrices=False, check_finite=False)
    kept = scale > scale[0] * max(rows.shape) * np.finfo(np.float64).eps if len(scale) else scale > 0
    scale, right = scale[kept], right[kept]
    return Reduced(left[:, kept] * scale, others @ right.T, scale)


def decide(
    features: Reduced, labels: Ints, n_classes: int, penalties: Sequence[float], wanted: Sequence[Ints] | None = None
) -> list[Ints]:
    """What regressions on `labels` (vectors, n), codes below `n_classes`, answer to the test rows.

    One array (vectors, m) of codes for each of `penalties` (C, ascending: each starts where the one before ended).
    Every class must occur in every vector. `wanted`, if given, holds for each C the vectors (positions) that need it:
    the others' rows are -1.
    """
    solver = _Solver(features, labels, n_classes)
    return [
        solver.solve(c, np.arange(len(labels)) if wanted is None else wanted[place])
        for place, c in enumerate(penalties)
    ]


def scores(features: Reduced, labels: Ints, n_classes: int, penalty: float) -> Floats:
    """Log-odds (m, classes), summing to 0 in each row, of one regression on `labels` (n,) with C `penalty`."""
    solver = _Solver(features, labels[None], n_classes)
    solver.solve(penalty, np.arange(1), settle=False)
    return solver.test_scores(np.arange(1))[:, :, 0]


class _Solver:
    """The regressions of all label vectors, kept from one penalty to the next.

    `weights` has shape (r + 1, classes, vectors); its last row is the intercept, which is not penalised.
    """

    def __init__(self, features: Reduced, labels: Ints, n_classes: int) -> None:
        n, m = len(features.train), len(features.test)
        self.rows = np.hstack([features.train, np.ones((n, 1))])
        self.others = np.hstack([features.test, np.ones((m, 1))])
        self.squares = np.append(features.scale**2, n)
        self.penalised = np.append(np.ones(len(features.scale)), 0.0)
        self.reach = float(np.sqrt((features.test**2).sum(1).max(initial=0.0)))
        self.span = float(np.sqrt((features.train**2).sum(1).max(initial=0.0)))
        self.target = np.ascontiguousarray((labels.T[:, None, :] == np.arange(n_classes)[:, None]).astype(np.float64))
        self.weights = np.zeros((self.rows.shape[1], n_classes, len(labels)))

    def test_scores(self, vectors: Ints) -> Floats:
        weights = self.weights[:, :, vectors]
        return _product(self.others, weights)

    def solve(self, penalty: float, vectors: Ints, *, settle: bool = True) -> Ints:
        """Bring `vectors` to the optimum for C = `penalty`; answers (vectors of the solver, m), -1 for the others."""
        answers = np.full((self.weights.shape[2], len(self.others)), -1, dtype=np.int64)
        if len(vectors):
            # Two classes are one weight vector w to scikit-learn and (-w/2, w/2) here, whose penalty is half as large.
            strength = penalty / 2 if self.weights.shape[1] == 2 else penalty
            _Descent(self, strength, vectors, settle=settle).run()
            answers[vectors] = self.test_scores(vectors).argmax(1).T
        return answers


class _Descent:
    """Preconditioned nonlinear conjugate gradients (Polak-Ribiere, restarted) for the vectors that are not done."""

    def __init__(self, solver: _Solver, penalty: float, vectors: Ints, *, settle: bool) -> None:
        self.solver, self.c, self.left, self.settle = solver, penalty, vectors, settle
        self.precondition = 1.0 / (penalty * _CURVATURE * solver.squares + solver.penalised)[:, None, None]
        self.ridge = solver.penalised[:, None, None]
        self.target = solver.target[:, :, vectors]
        self.weights = solver.weights[:, :, vectors]
        self.logits = _product(solver.rows, self.weights)
        self.probabilities = _softmax(self.logits)
        self.gradient = self._gradient()
        self.step_from = self.precondition * self.gradient
        self.direction = -self.step_from

    def run(self) -> None:
        for step in range(_MOST_STEPS):
            if step % 4 == 3 or step == 0:
                self._drop(self._settled())
                if not len(self.left):
                    return
            self._step()
        self._drop(np.ones(len(self.left), dtype=bool))

    def _gradient(self) -> Floats:
        loss: Floats = self.c * _product(self.solver.rows.T, self.probabilities - self.target)
        loss += self.ridge * self.weights
        return loss

    def _step(self) -> None:
        """One exact enough line search for every vector, then the next direction."""
        moved = _product(self.solver.rows, self.direction)
        slope = _dot(self.gradient, self.direction)
        ridge_slope = self.ridge * self.direction
        own = _dot(ridge_slope, self.direction)
        length = -slope / (self.c * self._curvature(self.probabilities, moved) + own)
        weights_slope = _dot(ridge_slope, self.weights)
        low, high = np.zeros_like(length), np.full_like(length, np.inf)
        for _ in range(8):
            logits = self.logits + length * moved
            probabilities = _softmax(logits)
            now = self.c * _dot(probabilities - self.target, moved) + weights_slope + length * own
            far = np.abs(now) > 0.3 * np.abs(slope)
            if not far.any():
                break
            low, high = (
                np.where(now < 0, np.maximum(low, length), low),
                np.where(now > 0, np.minimum(high, length), high),
            )
            newton = length - now / (self.c * self._curvature(probabilities, moved) + own)
            inside = (newton > low) & (newton < high)
            middle = np.where(np.isfinite(high), 0.5 * (low + high), 2.0 * length)
            length = np.where(far, np.where(inside, newton, middle), length)
        self.weights = self.weights + length * self.direction
        self.logits, self.probabilities = logits, probabilities
        gradient = self._gradient()
        step_from = self.precondition * gradient
        before = _dot(self.gradient, self.step_from)
        turn = np.maximum(_dot(gradient - self.gradient, step_from) / np.maximum(before, 1e-300), 0.0)
        direction = turn * self.direction - step_from
        uphill = _dot(direction, gradient) >= 0
        self.direction = np.where(uphill, -step_from, direction)
        self.gradient, self.step_from = gradient, step_from

    def _curvature(self, probabilities: Floats, moved: Floats) -> Floats:
        """Second derivative of the loss along `moved`: the variance of its logits, summed over rows."""
        weighted = probabilities * moved
        mean = weighted.sum(1)
        spread: Floats = np.einsum("ikv,ikv->v", weighted, moved) - (mean * mean).sum(0)
        return spread

    def _settled(self) -> Bools:
        """Which vectors cannot change a decision any more.

        The objective, minimised over the intercept, is strongly convex in W with modulus 1: ||W - W*|| is at most the
        length of the gradient in W where that in b is 0. What b lacks is added to first order. A difference of two
        scores moves by at most sqrt(2) ||W - W*|| times the length of the row, and b by the longest training row's.
        """
        lengths = np.sqrt(np.einsum("qkv,qkv->v", self.gradient[:-1], self.gradient[:-1]))
        intercept = np.abs(self.gradient[-1]).max(0) / (self.c * self.solver.squares[-1])
        bound = np.sqrt(2.0) * (self.solver.reach + self.solver.span) * lengths
        bound += 2.0 * self.weights.shape[1] * intercept
        done = bound < MARGIN
        if self.settle:
            best = np.partition(_product(self.solver.others, self.weights), -2, axis=1)
            done |= bound < (best[:, -1] - best[:, -2]).min(0, initial=np.inf)
        return np.asarray(done, dtype=np.bool_)

    def _drop(self, done: Bools) -> None:
        if not done.any():
            return
        self.solver.weights[:, :, self.left[done]] = self.weights[:, :, done]
        keep = ~done
        self.left = self.left[keep]
        for name in ("target", "weights", "logits", "probabilities", "gradient", "step_from", "direction"):
            setattr(self, name, np.ascontiguousarray(getattr(self, name)[:, :, keep]))


def _product(matrix: Floats, stacked: Floats) -> Floats:
    """(a, b) times (b, classes, vectors) as one matrix product."""
    shape = stacked.shape
    return np.asarray((matrix @ stacked.reshape(shape[0], -1)).reshape(len(matrix), *shape[1:]))


def _dot(one: Floats, other: Floats) -> Floats:
    """Scalar product of every vector's two arrays."""
    return np.asarray(np.einsum("akv,akv->v", one, other))


def _softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    return np.asarray(weights)
