"""Held-out gains against scikit-learn, their permutations and their sign flips."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneGroupOut, PredefinedSplit, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.validity.making import made, planted
from veridical.stats.permutation import permutation_p
from veridical.stats.ridge import FOLDS, PENALTIES, folds_of_groups, leave_groups_out, mean_of_others
from veridical.stats.sign_flip import EXACT, exact_sign_flip_p, least_sign_flip_p
from veridical.validity.leave_family_out import gains, least_permutation_p
from veridical.validity.permuted_gain import permuted_errors


def by_sklearn(features: np.ndarray, y: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Held-out predictions, the penalty chosen by pooled error over inner folds of whole groups."""
    folds = folds_of_groups(groups)
    predicted = np.empty(len(y))
    for train, test in LeaveOneGroupOut().split(features, y, groups):
        split = PredefinedSplit(folds[groups[train]])
        errors = [
            ((cross_val_predict(model(penalty), features[train], y[train], cv=split) - y[train]) ** 2).sum()
            for penalty in PENALTIES
        ]
        best = PENALTIES[int(np.argmin(errors))]
        predicted[test] = model(best).fit(features[train], y[train]).predict(features[test])
    return predicted


def model(penalty: float):
    return make_pipeline(StandardScaler(), Ridge(alpha=penalty))


@pytest.mark.parametrize(("families", "n"), [(5, 25), (8, 30), (14, 60)])
def test_predictions_are_scikit_learns(families: int, n: int) -> None:
    rng = np.random.default_rng(families)
    groups = np.concatenate([np.arange(families), rng.integers(0, families, n - families)])
    features = rng.normal(size=(n, 3)) * [1, 10, 0.1] + [0, 50, 3]
    y = np.stack([features @ [0.5, 0.1, 3], rng.normal(size=n)], axis=1) + rng.normal(size=(n, 2)) + 70
    predicted, penalties = leave_groups_out(features, y, groups)
    for outcome in range(2):
        np.testing.assert_allclose(predicted[:, outcome], by_sklearn(features, y[:, outcome], groups), rtol=1e-8)
    assert set(penalties.ravel()) <= set(PENALTIES)
    assert len(set(folds_of_groups(groups))) == (families if families <= 8 else FOLDS)


@pytest.mark.parametrize(("families", "n", "q"), [(5, 25, 1), (12, 60, 3)])
def test_every_permutation_is_the_whole_procedure_done_again(families: int, n: int, q: int) -> None:
    rng = np.random.default_rng(families)
    groups = np.concatenate([np.arange(families), rng.integers(0, families - 1, n - families)])
    z = rng.normal(size=(n, q)) + 4
    x = z[:, 0] + rng.normal(size=n)
    y = np.stack([x + rng.normal(size=n), 60 + z[:, 0] + rng.normal(size=n)], axis=1)
    absolute, squared = permuted_errors(z, x, y, groups, np.random.default_rng(3), 25)
    for ours, theirs in zip((absolute, squared), one_by_one(z, x, y, groups, 25, 3), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def one_by_one(z, x, y, groups, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The errors of the same permutations, each with the whole procedure done again by `leave_groups_out`."""
    order = np.argsort(groups, kind="stable")
    z, x, y, groups = z[order], x[order], y[order], groups[order]
    design = np.column_stack([np.ones(len(x)), z - z.mean(axis=0)])
    fitted = x.mean() + design @ np.linalg.lstsq(design, x - x.mean(), rcond=None)[0]
    tiled, again = np.repeat((x - fitted)[None], draws + 1, axis=0), np.random.default_rng(seed)
    for family in range(int(groups.max()) + 1):
        if (groups == family).sum() > 1:
            tiled[:, groups == family] = again.permuted(tiled[:, groups == family], axis=1)
    tiled[0] = x - fitted
    wrong = np.stack([y - leave_groups_out(np.column_stack([z, fitted + one]), y, groups)[0] for one in tiled])
    return np.abs(wrong).sum(axis=1), (wrong**2).sum(axis=1)


def test_a_benchmark_that_one_model_alone_scores_on_is_constant_without_it(recwarn) -> None:
    groups, rng = np.repeat(np.arange(4), 3), np.random.default_rng(0)
    z, x = np.full((12, 1), 9.0), np.zeros(12)
    x[4] = 0.1
    y = rng.normal(size=(12, 2))
    found = permuted_errors(z, x, y, groups, np.random.default_rng(3), 40)
    for ours, theirs in zip(found, one_by_one(z, x, y, groups, 40, 3), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    # In the fits without that model's family nothing varies, so that each predicts the mean.
    predicted = leave_groups_out(np.column_stack([z, x]), y, groups)[0]
    np.testing.assert_allclose(predicted[3:6], np.tile(y[groups != 1].mean(axis=0), (3, 1)))
    assert not recwarn.list


def test_a_benchmark_adds_where_that_is_planted_and_nowhere_else() -> None:
    found, _ = gains(planted(), 499, 0)
    by_pair = {(one.benchmark, one.outcome): one for one in found}
    assert by_pair["skill", "needed"].test.holm < 0.05
    assert by_pair["skill", "needed"].mae_gain > 0.2
    assert by_pair["skill", "needed"].interval.low > 0
    for pair in (("skill", "sized"), ("idle", "needed"), ("idle", "sized")):
        assert by_pair[pair].test.holm > 0.05


def test_r_squared_is_of_all_held_out_predictions_about_the_mean_of_the_training_families() -> None:
    table = planted(6, 5)
    codes = table.family_codes.copy()
    # A family of one has no variance of its own: R² within it would be undefined.
    codes[0] = 7
    table = made({n: table.column(n) for n in table.names}, codes, table.size, table.roles)
    one = gains(table, 99, 0)[0][0]
    y, groups = table.column("needed"), table.family_codes
    features = np.column_stack([table.log_size, table.column("skill")])
    predicted = by_sklearn(features, y, groups)
    means = np.array([y[groups != family].mean() for family in groups])
    assert one.with_benchmark.r2 == pytest.approx(1 - ((y - predicted) ** 2).sum() / ((y - means) ** 2).sum())
    assert one.with_benchmark.mae == pytest.approx(np.abs(y - predicted).mean())
    assert one.with_benchmark.rmse == pytest.approx(np.sqrt(((y - predicted) ** 2).mean()))
    assert one.mean.r2 == pytest.approx(0)
    assert one.fixed == 1
    np.testing.assert_allclose(mean_of_others(y, groups), means)


def test_controls_make_a_second_baseline_with_its_own_family_of_tests() -> None:
    found, _ = gains(planted(5, 6, controls=("check",)), 99, 0)
    assert [one.baseline for one in found] == ["size"] * 4 + ["size + controls"] * 4
    assert {one.test.tests for one in found} == {4}


def test_the_influence_of_a_family_is_the_gain_over_the_others() -> None:
    found, predicted = gains(planted(5, 6), 99, 0)
    one, of = found[0], predicted[0]
    assert list(one.influence) == ["f0", "f1", "f2", "f3", "f4"]
    gained = np.abs(of.observed - of.without) - np.abs(of.observed - of.with_benchmark)
    for family, value in enumerate(one.influence.values()):
        assert value == pytest.approx(gained[of.families != family].mean())
    # Five families: the range of these stands in place of an interval.
    assert (one.interval.low, one.interval.high) == (min(one.influence.values()), max(one.influence.values()))
    assert one.interval.level is None
    assert one.flip.least == 2**-4
    assert one.flip.p >= one.flip.least


def test_sign_flips_are_exact() -> None:
    differences = np.array([3.0, 1.0, -2.0, 5.0, 0.5])
    sums = [abs(np.dot(signs, differences)) for signs in product((-1, 1), repeat=5)]
    expected = np.mean([value >= abs(differences.sum()) - 1e-12 for value in sums])
    assert exact_sign_flip_p(differences, np.random.default_rng(0)) == expected
    assert exact_sign_flip_p(np.ones(5), np.random.default_rng(0)) == least_sign_flip_p(5) == 2 / 32
    assert exact_sign_flip_p(np.zeros(5), np.random.default_rng(0)) == 1
    many = np.random.default_rng(1).normal(0.3, 1, EXACT + 1)
    drawn = exact_sign_flip_p(many, np.random.default_rng(0), 40_000)
    halves = np.arange(2 ** (EXACT))[:, None] >> np.arange(EXACT + 1) & 1
    exact = (np.abs((1 - 2 * halves) @ many) >= abs(many.sum()) - 1e-12).mean()
    assert drawn == pytest.approx(exact, abs=0.01)


def test_the_least_p_counts_the_orders_within_families() -> None:
    # Families of 2, 2 and 1: 2! * 2! = 4 orders.
    assert least_permutation_p(np.array([0, 0, 1, 1, 2]), 9_999) == 1 / 4
    assert least_permutation_p(np.repeat([0, 1], 30), 9_999) == 1 / 10_000


def test_the_same_seed_gives_the_same_p_on_any_number_of_cores(monkeypatch) -> None:
    table = planted(6, 5, controls=("check",))
    first = gains(table, 199, 4)[0]
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert gains(table, 199, 4)[0] == first


def test_a_benchmark_that_goes_with_families_alone_is_found_as_rarely_as_p_says() -> None:
    rng = np.random.default_rng(0)
    families, runs, n = np.repeat(np.arange(8), 5), 100, 40
    found = np.zeros(2)
    for _ in range(runs):
        z = rng.uniform(0, 2, (n, 1))
        x = z[:, 0] + rng.normal(size=8)[families] + rng.normal(size=n)
        idle = z[:, 0] + rng.normal(size=8)[families] + rng.normal(size=n)
        needing = z[:, 0] + 0.7 * (x - z[:, 0]) + rng.normal(size=n)
        errors = permuted_errors(z, x, np.stack([idle, needing], axis=1), families, rng, 99)[0]
        found += [permutation_p(-errors[0, outcome], -errors[1:, outcome]) <= 0.05 for outcome in range(2)]
    # Binomial(100, .05): 99.9 % are at most 13.
    assert found[0] <= 13
    assert found[1] >= 75
