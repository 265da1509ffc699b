"""Ridge on a baseline and one feature, from totals over families: fits for many draws of the feature at once.

The baseline z (rows, n_baseline) and the outcomes y stay as they are; the feature x changes from draw to draw. In the
eigenbasis of the baseline's correlations, the baseline's part of every ridge is diagonal, so that the slope of x
follows by elimination:

    slope = (x'y - sum x'z z'y / (lambda + a)) / (n + a - sum (x'z)^2 / (lambda + a))

with x standardised, z the baseline's eigenfeatures, lambda their eigenvalues and a the penalty. Products with x and the
validation errors are sums over families, so no row is looked at.
"""

from __future__ import annotations

import numpy as np

from veridical.stats.ridge import CONSTANT, PENALTIES
from veridical.stats.units import Floats, Ints

ALPHAS = np.array(PENALTIES)


class BaselineFits:
    """What ridge on (z, x) has of training families whatever x is, from their products of (1, z, y): (fits, m, m).

    Several fits at once: they come first in every array, and draws last. All that is linear in a draw's totals (the
    products of x with 1, z and y) is one matrix: a product of matrices is quicker than anything that is done by cell.
    """

    def __init__(self, products: Floats, n_baseline: int) -> None:
        self.n_baseline, rows = n_baseline, products[:, 0, 0]
        baseline, outcomes = slice(1, n_baseline + 1), slice(n_baseline + 1, None)
        self.rows, self.mean = rows[:, None], products[:, 0] / rows[:, None]
        centred = products - rows[:, None, None] * self.mean[:, :, None] * self.mean[:, None, :]
        variance = np.maximum(np.einsum("kii->ki", centred)[:, baseline], 0) / self.rows
        varies = variance > CONSTANT * np.einsum("kii->ki", products)[:, baseline] / self.rows
        scale = np.sqrt(np.where(varies, variance, 1.0))
        values, vectors = np.linalg.eigh(centred[:, baseline, baseline] / (scale[:, :, None] * scale[:, None, :]))
        self.from_eigen = vectors / scale[:, :, None]
        self.to_eigen = self.from_eigen.swapaxes(1, 2)
        # 1 / (lambda + a), and products of eigenfeatures with outcomes.
        self.inverse = 1 / (np.maximum(values, 0.0)[:, :, None] + ALPHAS)
        self.with_outcomes = self.to_eigen @ centred[:, baseline, outcomes]
        self.slopes_alone = np.einsum("kqo,kql->kolq", self.with_outcomes, self.inverse)
        # From totals to products about the means: with y and with the eigenfeatures.
        size = products.shape[1] - 1
        unit = np.broadcast_to(np.eye(size), (len(rows), size, size))
        self.to_centred = np.concatenate([-self.mean[:, 1:, None], unit], axis=2)
        self.to_with_outcomes = self.to_centred[:, n_baseline:]
        self.to_with_eigen = self.to_eigen @ self.to_centred[:, :n_baseline]
        # Ones spread each outcome over its penalties; the numerator of the slope of x.
        self.per_penalty = np.repeat(np.eye(self.with_outcomes.shape[2]), len(ALPHAS), axis=0)
        alone = self.slopes_alone.reshape(len(rows), -1, n_baseline)
        self.to_numerator = self.per_penalty @ self.to_with_outcomes - alone @ self.to_with_eigen


class Validation:
    """What squared errors on some families have, whatever x is, for fits on others: products are (fits, m, m)."""

    def __init__(self, fits: BaselineFits, products: Floats) -> None:
        n_baseline, mean, sums = fits.n_baseline, fits.mean, products[:, 0]
        baseline, outcomes = slice(1, n_baseline + 1), slice(n_baseline + 1, None)
        self.rows = products[:, 0, :1]
        # Products of what is centred by the training families' means.
        crossed = mean[:, :, None] * sums[:, None, :]
        centred = products - crossed - crossed.swapaxes(1, 2)
        centred += self.rows[:, :, None] * mean[:, :, None] * mean[:, None, :]
        among_eigen = fits.to_eigen @ centred[:, baseline, baseline] @ fits.from_eigen
        with_outcomes = (fits.to_eigen @ centred[:, baseline, outcomes]).swapaxes(1, 2)[:, :, None]
        self.first, self.second = np.triu_indices(n_baseline)
        twice = np.where(self.first == self.second, 1.0, 2.0)
        pairs = (twice * among_eigen[:, self.first, self.second])[:, :, None]
        pairs = pairs * fits.inverse[:, self.first] * fits.inverse[:, self.second]
        self.of_square = np.concatenate([-2 * fits.inverse, pairs], axis=1).swapaxes(1, 2)
        explained = np.einsum("kqr,kolr->kolq", among_eigen, fits.slopes_alone)
        rest = (with_outcomes - explained) * fits.inverse.swapaxes(1, 2)[:, None]
        # From the totals of these families, and after them those of 1 and z over the training families.
        to_mean = (self.rows * mean[:, 1:] - sums[:, 1:])[:, :, None] / fits.rows[:, :, None]
        nothing = np.zeros((len(sums), len(mean[0]) - 1, n_baseline))
        to_centred = np.concatenate([fits.to_centred, to_mean, nothing], axis=2)
        self.to_with_eigen = fits.to_eigen @ to_centred[:, :n_baseline]
        no_held = np.zeros((len(sums), n_baseline, len(mean[0])))
        to_training = np.concatenate([no_held, fits.to_with_eigen[:, :, : n_baseline + 1]], axis=2)
        flat = (len(sums), -1, n_baseline)
        crossed = fits.slopes_alone.reshape(flat) @ self.to_with_eigen + rest.reshape(flat) @ to_training
        self.to_crossed = 2 * (crossed - fits.per_penalty @ to_centred[:, n_baseline:])
        own = np.einsum("kii->ki", centred)[:, n_baseline + 1 :, None]
        # Summed over the fits: this part of the errors no draw changes.
        self.without = (own + ((explained - 2 * with_outcomes) * fits.slopes_alone).sum(axis=3)).sum(axis=0)


def _spread_of(fits: BaselineFits, total: Floats, square: Floats) -> tuple[Floats, Floats, Floats]:
    """The mean of x over the training families, its sum of squares about it, and its variance (1 where it is constant):
    (fits, draws), from the totals of x with 1 and with x."""
    mean = total / fits.rows
    about = np.maximum(square - total * mean, 0)
    return mean, about, np.where(about > CONSTANT * square, about / fits.rows, 1.0)


def validation_errors(
    fits: BaselineFits, validation: Validation, totals: Floats, training: Floats, held: Floats
) -> Floats:
    """Squared errors summed over fits and over the rows held, as (outcomes, penalties, draws).

    `totals` (fits, 2m, draws) are products of x with (1, z, y) over the rows held and then over the training families;
    `training` and `held` (fits, draws) those of x with itself. The slope of x is numerator * shrunk, and the errors
    are its square times `of_square` and itself times `crossed`, added to what no draw changes.
    """
    m, n_baseline = fits.mean.shape[1], fits.n_baseline
    mean, about, variance = _spread_of(fits, totals[:, m], training)
    with_eigen = fits.to_with_eigen[:, :, : n_baseline + 1] @ totals[:, m : m + n_baseline + 1]
    held_with_eigen = validation.to_with_eigen @ totals[:, : m + n_baseline + 1]
    penalised = about[:, None] + ALPHAS[:, None] * variance[:, None]
    shrunk = 1 / (penalised - fits.inverse.swapaxes(1, 2) @ (with_eigen * with_eigen))
    of_pairs = with_eigen[:, validation.first] * with_eigen[:, validation.second]
    of_square = validation.of_square @ np.concatenate([held_with_eigen * with_eigen, of_pairs], axis=1)
    of_square += (held - mean * (2 * totals[:, 0] - validation.rows * mean))[:, None]
    shape = (len(mean), -1, len(ALPHAS), mean.shape[1])
    numerator = (fits.to_numerator @ totals[:, m:]).reshape(shape)
    crossed = (validation.to_crossed @ totals[:, : m + n_baseline + 1]).reshape(shape)
    errors: Floats = np.einsum("kold,kold,kld->old", numerator, numerator, of_square * shrunk * shrunk)
    errors += np.einsum("kold,kold,kld->old", numerator, crossed, shrunk)
    errors += validation.without[:, :, None]
    return errors


def coefficients(fits: BaselineFits, totals: Floats, squares: Floats, penalties: Ints) -> tuple[Floats, Floats]:
    """Of (1, z), (fits, 1 + n_baseline, outcomes, draws), and of x, (fits, outcomes, draws), for features about the
    overall means.

    `totals` (fits, m, draws) and `squares` (fits, draws) are of the training families; `penalties` (fits, outcomes,
    draws) are places among the penalties.
    """
    n_baseline = fits.n_baseline
    mean, about, variance = _spread_of(fits, totals[:, 0], squares)
    with_eigen, with_outcomes = (fits.to_with_eigen @ totals)[:, :, None], fits.with_outcomes[:, :, :, None]
    places = penalties + len(ALPHAS) * np.arange(len(penalties))[:, None, None]
    inverse = np.stack(
        [np.take(fits.inverse[:, one].ravel(), places, mode="clip") for one in range(n_baseline)], axis=1
    )
    left = about[:, None] + np.take(ALPHAS, penalties, mode="clip") * variance[:, None]
    left -= np.einsum("kqod,kqod->kod", with_eigen * with_eigen, inverse)
    numerator = fits.to_with_outcomes @ totals - np.einsum("kqod,kqod->kod", with_eigen * with_outcomes, inverse)
    of_x = numerator / left
    turned = (with_outcomes - with_eigen * of_x[:, None]) * inverse
    of_baseline = (fits.from_eigen @ turned.reshape(len(mean), n_baseline, -1)).reshape(turned.shape)
    intercept = fits.mean[:, n_baseline + 1 :, None]
    intercept = intercept - np.einsum("kq,kqod->kod", fits.mean[:, 1 : n_baseline + 1], of_baseline)
    intercept -= of_x * mean[:, None]
    return np.concatenate([intercept[:, None], of_baseline], axis=1), of_x
