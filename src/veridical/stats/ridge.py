"""Ridge regression with a penalty chosen inside, and its predictions for groups that are left out.

The objective is scikit-learn's: squared error summed over rows, plus the penalty times the squared norm of the
coefficients of features standardised by the rows fitted on (a constant one is left as it is); the intercept is free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from veridical.stats.units import Floats, Ints

PENALTIES = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
SINGLE_FOLDS = 8
"""Up to so many groups each is an inner fold of its own."""
FOLDS = 5
CONSTANT = 1e-12
"""A feature is constant over some rows where its variance there is this share of its mean square: what is left of sums
over all rows, once those of the others are taken from them, is exact to about 1e-15."""


def folds_of_groups(groups: Ints) -> Ints:
    """The inner fold of each group 0 … F-1, shape (F,): one each up to `SINGLE_FOLDS`, else `FOLDS` of alike sizes.

    Largest groups first, each into the fold with the fewest rows; of groups as large, the lower code first. Codes that
    stand for sorted names make the folds independent of the order of rows.
    """
    sizes = np.bincount(groups)
    if len(sizes) <= SINGLE_FOLDS:
        return np.arange(len(sizes))
    folds, filled = np.empty(len(sizes), dtype=np.int64), np.zeros(FOLDS)
    for group in np.argsort(-sizes, kind="stable"):
        folds[group] = int(np.argmin(filled))
        filled[folds[group]] += sizes[group]
    return folds


@dataclass(frozen=True, eq=False)
class HeldOutFits:
    """Fits without each of F groups: predictions of that group's rows, (rows, outcomes), and for each fit its penalty,
    (F, outcomes), and its slopes, (F, features, outcomes), in the outcome's unit by that of the feature."""

    predicted: Floats
    penalties: Floats
    slopes: Floats


def leave_groups_out(
    features: Floats, y: Floats, groups: Ints, penalties: tuple[float, ...] = PENALTIES
) -> tuple[Floats, Floats]:
    """Predictions (rows, outcomes) and penalties (F, outcomes) of `held_out_fits`."""
    fits = held_out_fits(features, y, groups, penalties)
    return fits.predicted, fits.penalties


def held_out_fits(features: Floats, y: Floats, groups: Ints, penalties: tuple[float, ...] = PENALTIES) -> HeldOutFits:
    """A fit without each group, and what it predicts for that group. Several sets of features may come at once, as
    (…, rows, p); then they come first in every result.

    `features` (rows, p), `y` (rows, outcomes), `groups` (rows,) codes 0 … F-1. Each group is predicted by a fit on the
    others. Its penalty is the one with the least squared error, pooled over inner folds of whole groups among those
    others (`folds_of_groups`); the strongest of those that tie. All fits are made at once, from products summed by
    group.
    """
    p, alphas = features.shape[-1], np.array(penalties)
    # About the overall means, so that sums of squares lose no digits; no prediction depends on it.
    level = y.mean(axis=0)
    fixed = np.broadcast_to(np.ones((len(y), 1)), (*features.shape[:-1], 1))
    outcomes_of_all = np.broadcast_to(y - level, (*features.shape[:-1], y.shape[1]))
    rows = np.concatenate([fixed, features - features.mean(axis=-2, keepdims=True), outcomes_of_all], axis=-1)
    folds = folds_of_groups(groups)
    n_groups, n_folds = len(folds), int(folds.max()) + 1
    by_group = (rows[..., groups == group, :] for group in range(n_groups))
    products = np.stack([own.swapaxes(-1, -2) @ own for own in by_group], axis=-3)
    of_fold = np.stack([products[..., folds == fold, :, :].sum(axis=-3) for fold in range(n_folds)], axis=-3)
    outer = products.sum(axis=-3, keepdims=True) - products
    inside = folds[:, None] == np.arange(n_folds)
    own_part = np.where(inside[:, :, None, None], products[..., :, None, :, :], 0.0)
    validation = of_fold[..., None, :, :, :] - own_part
    coefficients = _paths(outer[..., :, None, :, :] - validation, p, alphas)
    # Squared error of predictions c'r over validation rows r: (c, -1)' products (c, -1), (…, F, folds, penalties, o).
    design, outcomes = slice(0, p + 1), slice(p + 1, None)
    own = np.einsum("...oo->...o", validation[..., outcomes, outcomes])[..., None, :]
    crossed = np.einsum("...alo,...ao->...lo", coefficients, validation[..., design, outcomes])
    through = np.einsum("...ab,...blo->...alo", validation[..., design, design], coefficients)
    errors = own - 2 * crossed + np.einsum("...alo,...alo->...lo", coefficients, through)
    # A fold that the group fills alone is empty.
    filled = validation[..., 0, 0] > 0.5
    pooled = np.where(filled[..., None, None], errors, 0.0).sum(axis=-3)
    best = last_least(pooled.swapaxes(-1, -2))
    paths = _paths(outer[..., :, None, :, :], p, alphas)[..., 0, :, :, :]
    fits = np.take_along_axis(paths, best[..., None, None, :], axis=-2)[..., 0, :]
    predicted = np.einsum("...na,...nao->...no", rows[..., design], fits[..., groups, :, :]) + level
    return HeldOutFits(predicted, alphas[best], fits[..., 1:, :])


def _paths(products: Floats, p: int, alphas: Floats) -> Floats:
    """Coefficients of (1, features), (groups, folds, 1 + p, penalties, o), from products (groups, folds, m, m)."""
    n = np.maximum(products[..., 0, 0], 1.0)
    means = products[..., 0, :] / n[..., None]
    centred = products - n[..., None, None] * means[..., :, None] * means[..., None, :]
    variance = np.einsum("...ii->...i", centred)[..., 1 : p + 1] / n[..., None]
    total = np.einsum("...ii->...i", products)[..., 1 : p + 1] / n[..., None]
    scale = np.sqrt(np.where(variance > CONSTANT * total, variance, 1.0))
    square = centred[..., 1 : p + 1, 1 : p + 1] / (scale[..., :, None] * scale[..., None, :])
    values, vectors = np.linalg.eigh(square)
    turned = np.einsum("...ij,...io->...jo", vectors, centred[..., 1 : p + 1, p + 1 :] / scale[..., None])
    shrunk = turned[..., :, None, :] / (np.maximum(values, 0.0)[..., :, None] + alphas)[..., None]
    slopes = np.einsum("...ij,...jlo->...ilo", vectors, shrunk) / scale[..., None, None]
    intercepts = means[..., None, p + 1 :] - np.einsum("...i,...ilo->...lo", means[..., 1 : p + 1], slopes)
    return np.concatenate([intercepts[..., None, :, :], slopes], axis=-3)


def last_least(errors: Floats) -> Ints:
    """The place of the least along the last axis; the last of those that tie but for rounding."""
    near = errors <= errors.min(axis=-1, keepdims=True) * (1 + 1e-12)
    places: Ints = errors.shape[-1] - 1 - np.argmax(near[..., ::-1], axis=-1)
    return places


def mean_of_others(y: Floats, groups: Ints) -> Floats:
    """For each row the mean of y over the rows of other groups, shape (rows,): what a fit without features predicts."""
    sums, counts = np.bincount(groups, weights=y), np.bincount(groups)
    means: Floats = ((y.sum() - sums) / (len(y) - counts))[groups]
    return means
