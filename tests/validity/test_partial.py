"""Partial correlations against pingouin; the size and power of the permutation test."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pingouin
import pytest

from tests.validity.making import made, planted, without
from veridical.stats.partial_correlation import column_space, correlations, freedman_lane, residuals, student_p
from veridical.stats.permutation import permutation_p
from veridical.validity.partial import partial_of_products, partial_rho, partials
from veridical.validity.quality import quality
from veridical.validity.roles import Roles
from veridical.validity.table import ScoreTable

CONTROLLED = {"controls": ("check",)}


def by_pingouin(table: ScoreTable, benchmark: str, outcome: str) -> tuple[float, float, int]:
    """r, p and n of pingouin's partial Spearman with family indicators as covariates."""
    frame = pd.DataFrame({name: table.column(name) for name in table.names}).assign(size=table.log_size)
    families = table.family_names[1:]
    for family in families:
        frame[family] = [float(one == family) for one in table.families]
    frame["control"] = table.controls.mean(axis=1)
    frame = frame.dropna()
    found = pingouin.partial_corr(
        frame, x=benchmark, y=outcome, covar=["size", "control", *families], method="spearman"
    )
    p = next(name for name in found.columns if name.lower().startswith("p"))
    return float(found["r"].iloc[0]), float(found[p].iloc[0]), int(found["n"].iloc[0])


def test_partial_spearman_and_its_p_are_pingouins() -> None:
    table = without(planted(5, 6, **CONTROLLED), 3, "skill")
    for one in partials(table, 199, 0):
        if one.benchmark == "skill":
            r, p, n = by_pingouin(table, one.benchmark, one.outcome)
            assert one.n == n == 29
            assert one.rho == pytest.approx(r)
            # 1 size, 1 control, 4 family indicators: 29 - 2 - 6.
            assert (one.controls, one.df) == (6, 21)
            assert one.p_student == pytest.approx(p)


def test_controls_cost_degrees_of_freedom() -> None:
    # r .5: with n 20 and no control t = .5 * sqrt(18 / .75) = 2.449; with 6 controls t = .5 * sqrt(12 / .75) = 2.
    assert student_p(0.5, 18) == pytest.approx(0.024769, abs=1e-5)
    assert student_p(0.5, 12) == pytest.approx(0.068656, abs=1e-5)
    one = partials(planted(4, 5), 99, 0)[0]
    assert one.df == one.n - 2 - one.controls == 20 - 2 - 4


def test_a_family_of_one_changes_neither_rho_nor_the_freedom_of_the_rest() -> None:
    table = planted(5, 6, **CONTROLLED)
    codes = table.family_codes.copy()
    codes[0] = 99
    alone = made({n: table.column(n) for n in table.names}, codes, table.size, table.roles)
    one = partials(alone, 99, 0)[0]
    r, p, _ = by_pingouin(alone, one.benchmark, one.outcome)
    assert one.singletons == 1
    assert (one.n, one.controls, one.df) == (30, 7, 21)
    assert one.rho == pytest.approx(r)
    assert one.p_student == pytest.approx(p)


def test_a_model_without_one_control_is_not_averaged_over_the_others() -> None:
    table = planted(5, 6, controls=("check", "poor"))
    lacking = without(table, 7, "poor")
    assert {one.n for one in partials(table, 99, 0)} == {30}
    assert {one.n for one in partials(lacking, 99, 0)} == {29}
    assert [note.message for note in quality(lacking) if note.kind == "missing"] == [
        "poor: 1 of 30 models have no score, and are left out of partial correlations and of every gain, over size "
        "alone too"
    ]


def test_nothing_is_claimed_where_no_freedom_is_left() -> None:
    rng = np.random.default_rng(0)
    columns = {name: rng.normal(size=9) for name in ("a", "b")}
    roles = Roles(model="m", family="f", size="s", benchmarks=("a",), outcomes={"b": ""})
    one = partials(made(columns, np.array([0, 0, 1, 2, 3, 4, 5, 6, 7]), np.arange(1.0, 10), roles), 99, 0)[0]
    assert (one.rho, one.test, one.interval.low) == (None, None, None)


def test_freedman_lane_rejects_a_true_null_as_often_as_it_says_and_finds_a_strong_effect() -> None:
    rng = np.random.default_rng(1)
    rejected = {0.0: 0, 1.0: 0}
    runs, draws, n = 300, 99, 30
    for effect in rejected:
        for _ in range(runs):
            z = rng.normal(size=(n, 2))
            x = z[:, 0] + rng.exponential(size=n)
            y = 2 * z.sum(axis=1) + effect * (x - z[:, 0]) + rng.exponential(size=n)
            basis = column_space(z)
            left = residuals(np.column_stack([x, y]), basis)
            null = freedman_lane(left[:, :1], left[:, 1:], basis, rng, draws)[:, 0, 0]
            observed = abs(float(correlations(left[:, :1], left[:, 1])[0]))
            rejected[effect] += permutation_p(observed, np.abs(null)) <= 0.05
    # Binomial(300, .05): 99.9 % lie between 4 and 28.
    assert 4 <= rejected[0.0] <= 28
    assert rejected[1.0] >= 0.9 * runs


def test_a_null_draw_is_the_partial_correlation_of_the_permuted_outcome() -> None:
    rng = np.random.default_rng(2)
    z, x, y = rng.normal(size=(15, 2)), rng.normal(size=15), rng.normal(size=15)
    basis = column_space(z)
    left = residuals(np.column_stack([x, y]), basis)
    null = freedman_lane(left[:, :1], left[:, 1:], basis, np.random.default_rng(5), 20)[:, 0, 0]
    orders = np.random.default_rng(5).permuted(np.broadcast_to(np.arange(15), (20, 15)), axis=1)
    for draw, order in enumerate(orders):
        frame = pd.DataFrame({"x": x, "y": y - left[:, 1] + left[order, 1], "a": z[:, 0], "b": z[:, 1]})
        assert null[draw] == pytest.approx(pingouin.partial_corr(frame, x="x", y="y", covar=["a", "b"])["r"].iloc[0])


def test_products_within_families_give_the_partial_correlation() -> None:
    table = planted(5, 6)
    from veridical.stats.rank_correlation import average_ranks
    from veridical.validity.partial import Ranked

    x, y = table.column("skill"), table.column("needed")
    ranked = Ranked.of(table.log_size[:, None], np.column_stack([x, y]), table.family_codes)
    direct = partial_rho(x, y, table.log_size[:, None], table.family_codes)
    assert float(partial_of_products(ranked.family_products().sum(axis=0)[None], 1)[0]) == pytest.approx(direct)
    assert np.array_equal(ranked.columns[:, 0], average_ranks(x))


def test_few_families_give_a_range_over_leaving_each_out_and_many_an_interval() -> None:
    few = partials(planted(5, 6), 99, 0)[0]
    table = planted(5, 6)
    x, y, size = table.column("skill"), table.column("needed"), table.log_size[:, None]
    left_out = [
        partial_rho(x[rows], y[rows], size[rows], table.family_codes[rows])
        for family in range(5)
        if (rows := table.family_codes != family).any()
    ]
    assert (few.interval.low, few.interval.high) == (pytest.approx(min(left_out)), pytest.approx(max(left_out)))
    assert few.interval.level is None
    many = partials(planted(12, 6), 999, 0)[0]
    assert many.interval.level == 0.95
    assert many.interval.low < many.rho < many.interval.high
