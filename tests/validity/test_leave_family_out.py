"""Held-out gains against scikit-learn, their permutations and their sign flips."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats
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
    found = permuted_errors(z, x, y, groups, np.random.default_rng(3), 25, 11)
    absolute, squared, rho = one_by_one(z, x, y, groups, 25, 3)
    np.testing.assert_allclose(found.absolute, absolute, rtol=1e-9)
    np.testing.assert_allclose(found.squared, squared, rtol=1e-9)
    np.testing.assert_allclose(found.rho, rho[:11], atol=1e-9)


def one_by_one(z, x, y, groups, draws: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The errors of the same permutations, each with the whole procedure done again by `leave_groups_out`."""
    design = np.column_stack([groups[:, None] == np.arange(int(groups.max()) + 1), z - z.mean(axis=0)]).astype(float)
    fitted = design @ np.linalg.lstsq(design, x, rcond=None)[0]
    tiled = np.repeat((x - fitted)[None], draws + 1, axis=0)
    generators = np.random.default_rng(seed).spawn(int(groups.max()) + 1)
    for family, own in enumerate(generators):
        if (groups == family).sum() > 1:
            tiled[1:, groups == family] = own.permuted(tiled[1:, groups == family], axis=1)
    predicted = np.stack([leave_groups_out(np.column_stack([z, fitted + one]), y, groups)[0] for one in tiled])
    wrong = y - predicted
    rho = [[stats.spearmanr(draw[:, o], y[:, o]).statistic for o in range(y.shape[1])] for draw in predicted]
    return np.abs(wrong).sum(axis=1), (wrong**2).sum(axis=1), np.array(rho)


def test_a_benchmark_that_one_model_alone_scores_on_is_constant_without_it(recwarn) -> None:
    groups, rng = np.repeat(np.arange(4), 3), np.random.default_rng(0)
    z, x = np.full((12, 1), 9.0), np.zeros(12)
    x[4] = 0.1
    y = rng.normal(size=(12, 2))
    found = permuted_errors(z, x, y, groups, np.random.default_rng(3), 40)
    absolute, squared, _ = one_by_one(z, x + np.zeros(12), y, groups, 40, 3)
    np.testing.assert_allclose(found.absolute, absolute, rtol=1e-9)
    np.testing.assert_allclose(found.squared, squared, rtol=1e-9)
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


def rejections(slope_between: float, effect: float, runs: int, seed: int) -> np.ndarray:
    """How often p of the gains in MAE, R² and rho are at most .05: 6 families of 4 models.

    Sizes differ between families and within them; benchmark and outcome go with size by 1 within families, by
    `slope_between` between their means. The outcome needs `effect` times what the benchmark has of its own.
    """
    rng = np.random.default_rng(seed)
    families, found = np.repeat(np.arange(6), 4), np.zeros(3)
    for _ in range(runs):
        typical = rng.uniform(0, 2, 6)
        size = typical[families] + 0.4 * rng.normal(size=24)
        of_family = 0.5 * rng.normal(size=(2, 6)) + (slope_between - 1) * typical
        own = 0.5 * rng.normal(size=24)
        x = size + of_family[0][families] + own
        y = size + of_family[1][families] + 0.5 * rng.normal(size=24) + effect * own
        drawn = permuted_errors(size[:, None], x, y[:, None], families, rng, 99, 100)
        found += [
            permutation_p(-drawn.absolute[0, 0], -drawn.absolute[1:, 0]) <= 0.05,
            permutation_p(-drawn.squared[0, 0], -drawn.squared[1:, 0]) <= 0.05,
            permutation_p(drawn.rho[0, 0], drawn.rho[1:, 0]) <= 0.05,
        ]
    return found


@pytest.mark.parametrize("slope_between", [1.0, -0.2])
def test_a_benchmark_that_adds_nothing_within_families_is_found_as_rarely_as_p_says(slope_between) -> None:
    # With a slope between families unlike the one within, a residual on size alone still goes with size in families.
    # Binomial(150, .05): 99.9 % are at most 17.
    assert (rejections(slope_between, 0.0, 150, 2) <= 17).all()


def test_a_benchmark_that_adds_within_families_is_found_by_all_three_metrics() -> None:
    # By chance 8 at most, in 99.9 % of such trials.
    assert (rejections(1.0, 2.0, 40, 3) >= 20).all()
