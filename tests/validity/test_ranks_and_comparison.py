"""Rankings, reworked versions beside originals, axes and reliability."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import stats
from statsmodels.formula.api import ols

from tests.validity.making import made, planted
from veridical.stats.proportions import newcombe, wilson
from veridical.validity.comparison import comparisons
from veridical.validity.inference import Span
from veridical.validity.partial import Ranked, partials
from veridical.validity.ranks import _wilson, agreements, count_ranks, rankings
from veridical.validity.reliability import binomial_reliability, disattenuated, reliabilities, split_half
from veridical.validity.results import Correlation, Reliability
from veridical.validity.rho_exchange import swapped
from veridical.validity.roles import Roles
from veridical.validity.specificity import differences, double_centred, specificity
from veridical.validity.table import ScoreTable

REWORKED = {"variants": {"copy": "skill", "poor": "skill"}}


def shares(values: list[float], items: int | None) -> ScoreTable:
    n = len(values)
    roles = Roles(model="m", benchmarks=("b",), items={} if items is None else {"b": items})
    return made({"b": np.array(values)}, np.arange(n), np.full(n, np.nan), roles)


class TestRankings:
    def test_neighbours_within_the_noise_of_items_are_not_distinguished(self) -> None:
        values = [0.9, 0.70, 0.69, 0.68, 0.3, 0.2, 0.1, 0.05]
        (one,) = rankings(shares(values, 200), {}, 0)
        by_model = {model.model: model for model in one.models}
        assert [model.rank for model in one.models] == [1, 2, 3, 4, 5, 6, 7, 8]
        assert by_model["m0"].low == by_model["m0"].high == 1
        for name in ("m1", "m2", "m3"):
            assert by_model[name].low < 3 < by_model[name].high + 1
            assert by_model[name].low < by_model[name].high
        apart = [
            [
                not (limit := newcombe((round(a * 200), round(b * 200)), (200, 200))).low <= 0 <= limit.high
                for b in values
            ]
            for a in values
        ]
        assert one.inseparable == int((~np.array(apart))[np.triu_indices(8, 1)].sum())
        assert one.neighbours == sum(not apart[i][i + 1] for i in range(7))
        assert one.pairs == 28
        assert {frozenset(pair) for pair in one.alike} == {
            frozenset((f"m{a}", f"m{b}")) for a in range(8) for b in range(a) if not apart[a][b]
        }

    def test_more_items_tell_more_apart(self) -> None:
        values = [0.70, 0.68, 0.66, 0.64, 0.62, 0.60, 0.58, 0.56]
        few, many = (rankings(shares(values, items), {}, 0)[0].inseparable for items in (100, 100_000))
        assert many == 0 < few

    def test_without_a_number_of_items_no_rank_has_an_interval(self) -> None:
        (one,) = rankings(shares([0.1 * i for i in range(8)], None), {}, 0)
        assert one.inseparable is None
        assert {model.low for model in one.models} == {None}

    def test_models_that_answer_alike_but_for_a_set_are_distinguished_by_sets(self) -> None:
        rng = np.random.default_rng(0)
        base = (rng.random(400) < 0.5).astype(float)
        sets = np.repeat(base[None], 8, axis=0)
        for model in range(8):
            sets[model, np.flatnonzero(base)[: 12 * model]] = 0
        table = shares([float(row.mean()) for row in sets], 400)
        by_sets = rankings(table, {"b": sets}, 0)[0]
        assert by_sets.inseparable == 0
        assert "sets" in by_sets.method
        # The same shares without the answers: differences drown in the noise of items that are in truth shared.
        assert rankings(table, {}, 0)[0].inseparable > 0

    def test_count_ranks_are_scipys(self) -> None:
        counts = np.random.default_rng(0).integers(0, 6, (5, 9))
        expected = np.stack([stats.rankdata(-row) for row in counts])
        np.testing.assert_array_equal(count_ranks(counts, 6), expected)
        np.testing.assert_array_equal(count_ranks(counts, 6_000), expected)

    def test_wilson_limits_at_once_are_those_one_by_one(self) -> None:
        low, high = _wilson(np.array([0.0, 0.3, 1.0]), 40)
        for place, k in enumerate((0, 12, 40)):
            one = wilson(k, 40)
            assert (low[place], high[place]) == (pytest.approx(one.low, abs=1e-12), pytest.approx(one.high))


class TestReworked:
    def test_agreement_lists_the_largest_moves(self) -> None:
        table = planted(**REWORKED)
        copy, poor = agreements(table)
        assert copy.rho == pytest.approx(stats.spearmanr(table.column("copy"), table.column("skill")).statistic)
        assert copy.tau == pytest.approx(stats.kendalltau(table.column("copy"), table.column("skill")).statistic)
        assert copy.rho > 0.98 > poor.rho
        old, new = stats.rankdata(-table.column("skill")), stats.rankdata(-table.column("poor"))
        largest = int(np.argmax(np.abs(new - old)))
        assert poor.moves[0].model == f"m{largest}"
        assert (poor.moves[0].original, poor.moves[0].reworked) == (old[largest], new[largest])

    def test_a_noisier_version_predicts_worse_and_a_copy_neither_better_nor_worse(self) -> None:
        found = {(one.reworked, one.outcome): one for one in comparisons(planted(**REWORKED), 499, 0)[0]}
        poor, copy = found["poor", "needed"], found["copy", "needed"]
        assert poor.gain_difference < 0
        assert poor.gain_test.holm < 0.05
        assert poor.rho_difference < 0
        assert poor.rho_test.holm < 0.05
        assert poor.rho_interval.high < 0
        assert poor.gain_interval.high < 0
        assert copy.gain_test.holm > 0.05
        assert poor.beyond_test.holm > 0.05

    def test_the_difference_is_of_the_two_partial_correlations(self) -> None:
        table = planted(5, 6, benchmarks=("skill", "poor"), variants={"poor": "skill"})
        rho = {(one.benchmark, one.outcome): one.rho for one in partials(table, 99, 0)}
        for one in comparisons(table, 99, 0)[0]:
            expected = rho["poor", one.outcome] - rho["skill", one.outcome]
            assert one.rho_difference == pytest.approx(expected)

    def test_what_a_measure_of_sets_adds_beyond_accuracy(self) -> None:
        # The outcome needs `idle`; `skill` is accuracy and `idle` the measure of sets beside it.
        table = planted()
        columns = {"skill": table.column("skill"), "idle": table.column("idle")}
        rng = np.random.default_rng(1)
        columns["goal"] = columns["idle"] + 0.3 * rng.normal(size=72)
        roles = Roles("m", "f", "s", benchmarks=("skill",), outcomes={"goal": ""}, variants={"idle": "skill"})
        ((one,), _) = comparisons(made(columns, table.family_codes, table.size, roles), 499, 0)
        assert one.beyond > 0.2
        assert one.beyond_test.p == pytest.approx(1 / 500)
        assert one.gain_test.p < 0.05

    def test_an_exchange_is_the_difference_of_two_partial_correlations(self) -> None:
        table = planted(4, 5, benchmarks=("skill", "poor"))
        columns = np.column_stack([table.column("skill"), table.column("poor"), table.column("needed")])
        ranked = Ranked.of(table.log_size[:, None], columns, table.family_codes)
        left = ranked.left()
        swaps = np.random.default_rng(3).integers(0, 2, size=(12, 20)) > 0
        null = swapped(ranked.columns[:, :2], left[:, 2:], ranked.basis, swaps)[:, 0]
        frame = pd.DataFrame({"y": ranked.columns[:, 2], "size": ranked.covariates[:, 0]})
        for family in range(1, 4):
            frame[f"f{family}"] = (table.family_codes == family).astype(float)
        for draw, keep in enumerate(~swaps):
            frame["a"] = np.where(keep, ranked.columns[:, 0], ranked.columns[:, 1])
            frame["b"] = np.where(keep, ranked.columns[:, 1], ranked.columns[:, 0])
            covariates = ["size", "f1", "f2", "f3"]
            r = [pingouin.partial_corr(frame, x=x, y="y", covar=covariates)["r"].iloc[0] for x in ("a", "b")]
            assert null[draw] == pytest.approx(r[0] - r[1], abs=1e-9)


class TestAxes:
    TABLE = np.array([[0.8, 0.7, 0.1, np.nan], [0.2, 0.1, 0.6, 0.9]])

    def test_within_less_across_by_hand(self) -> None:
        found = differences(self.TABLE, np.array([0, 1]), np.array([[0, 0, 1, 1], [1, 1, 0, 0]]))
        # Within: .8 .7 .6 .9, across: .1 .2 .1; and the other way about.
        assert found == pytest.approx([0.75 - 0.4 / 3, 0.4 / 3 - 0.75])

    def test_p_is_the_share_of_arrangements_of_the_centred_table(self) -> None:
        table = np.array([[0.8, 0.7, 0.1, 0.3], [0.2, 0.1, 0.6, 0.9]])
        (one,) = axes_of(table, "ab", "aabb", draws=99)
        # Centred by hand: half the difference of the rows, less its mean.
        half = (table[0] - table[1]) / 2
        centred = np.stack([half - half.mean(), half.mean() - half])
        own = np.array([0, 1])
        every = sorted(set(permutations([0, 0, 1, 1])))
        values = differences(centred, own, np.array(every))
        assert one.difference == pytest.approx(differences(centred, own, np.array([[0, 0, 1, 1]]))[0])
        assert one.within - one.across == pytest.approx(one.difference)
        assert one.test.p == pytest.approx(np.mean(values >= one.difference - 1e-12)) == 1 / 6
        assert one.test.least == 1 / 6
        assert (one.raw_within, one.raw_across) == (pytest.approx(0.75), pytest.approx(0.175))

    def test_a_missing_pair_leaves_the_centred_rest_as_a_two_way_fit_has_it(self) -> None:
        frame = pd.DataFrame([(b, o, self.TABLE[b, o]) for b in range(2) for o in range(4)], columns=["b", "o", "y"])
        fitted = ols("y ~ C(b) + C(o)", frame.dropna()).fit()
        centred = double_centred(self.TABLE)
        np.testing.assert_allclose(centred[np.isfinite(self.TABLE)], fitted.resid, atol=1e-12)
        assert np.isnan(centred[0, 3])

    def test_an_axis_whose_outcomes_everything_predicts_is_not_an_effect_of_axes(self) -> None:
        additive = np.add.outer([0.1, 0.2, 0.0, 0.05, 0.1, 0.3], [0.1, 0.15, 0.1, 0.6, 0.65, 0.7, 0.6])
        found = axes_of(additive, "aabbbb", "aaabbbb")
        assert found == [] or found[0].test.p > 0.5

    @pytest.mark.parametrize("planted_as", ["outcome", "both"])
    def test_one_factor_behind_all_columns_is_called_an_axis_as_rarely_as_p_says(self, planted_as) -> None:
        called = sum(calls(planted_as, seed) for seed in range(200))
        # Binomial(200, .05): 99.9 % are at most 21.
        assert called <= 21

    def test_a_part_that_axes_share_is_found(self) -> None:
        assert sum(calls("interaction", seed) for seed in range(40)) >= 24

    def test_benchmarks_of_one_axis_cannot_tell_their_axis_from_easy_outcomes(self) -> None:
        assert axes_of(np.array([[0.8, 0.7, 0.1, 0.3], [0.7, 0.1, 0.6, 0.9]]), "aa", "aabb") == []

    def test_one_axis_alone_says_nothing(self) -> None:
        roles = Roles(benchmarks=("a",), axes={"a": "social"}, outcomes={"w": "social", "x": "social"})
        assert specificity(roles, [partial_with("a", "w", 0.5), partial_with("a", "x", 0.4)], [], 99, 0) == []


def axes_of(table: np.ndarray, own: str, outcomes: str, draws: int = 999):
    """Specificity of partial correlations (benchmarks, outcomes) by their axes, a letter each."""
    names = [f"b{place}" for place in range(len(own))], [f"o{place}" for place in range(len(outcomes))]
    roles = Roles(
        benchmarks=tuple(names[0]),
        axes=dict(zip(names[0], own, strict=True)),
        outcomes=dict(zip(names[1], outcomes, strict=True)),
    )
    partial = [partial_with(b, o, float(table[i, j])) for i, b in enumerate(names[0]) for j, o in enumerate(names[1])]
    return specificity(roles, partial, [], draws, 0)


def calls(planted_as: str, seed: int) -> bool:
    """Whether 23 models with one common factor make an axis effect: its loadings are higher for the outcomes of one
    axis, or for its benchmarks too; or (interaction) each axis has a factor of its own beside it."""
    rng = np.random.default_rng([seed, 11])
    own, axes = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1, 1])
    ability, parts = rng.normal(size=(23, 1)), rng.normal(size=(23, 2))
    of_benchmarks = np.where(own == 1, 0.9, 0.5) if planted_as == "both" else np.full(6, 0.7)
    of_outcomes = np.full(7, 0.6) if planted_as == "interaction" else np.where(axes == 1, 0.9, 0.3)
    x = ability * of_benchmarks + 0.5 * rng.normal(size=(23, 6))
    y = ability * of_outcomes + 0.5 * rng.normal(size=(23, 7))
    if planted_as == "interaction":
        x, y = x + 0.7 * parts[:, own], y + 0.7 * parts[:, axes]
    (one,) = axes_of(np.corrcoef(x.T, y.T)[:6, 6:], "aabbbb", "aaabbbb")
    return one.difference > 0 and max(one.test.p, one.common_factor_test.p) <= 0.05


def partial_with(benchmark: str, outcome: str, rho: float):
    from veridical.validity.results import Partial

    return Partial(
        benchmark=benchmark,
        outcome=outcome,
        n=20,
        controls=1,
        df=17,
        rho=rho,
        plain=rho,
        p_student=0.5,
        interval=Span(method=""),
        test=None,
        singletons=0,
    )


class TestReliability:
    def test_split_half_meets_the_planted_reliability(self) -> None:
        # Scores are ability + noise of sets: with 40 sets, var 1 over models and 4 within, it is 1 / (1 + 4 / 40).
        rng = np.random.default_rng(0)
        sets = rng.normal(size=(2_000, 1)) + 2 * rng.normal(size=(2_000, 40))
        assert split_half(sets, np.random.default_rng(1)) == pytest.approx(1 / 1.1, abs=0.01)
        assert split_half(sets[:, :1], rng) is None
        assert split_half(np.ones((9, 10)), rng) is None

    def test_binomial_reliability_is_kuder_and_richardsons(self) -> None:
        # Shares .2 .5 .8: mean p(1 - p) = .19, variance .09; with 11 items 1 - .019 / .09.
        assert binomial_reliability(np.array([0.2, 0.5, 0.8]), 11) == pytest.approx(1 - 0.019 / 0.09)
        assert binomial_reliability(np.full(5, 0.5), 11) is None

    def test_percentages_and_fractions_have_one_reliability(self) -> None:
        values = [0.1 * i for i in range(1, 9)]
        fractions, percent = shares(values, 50), shares([100 * value for value in values], 50)
        assert reliabilities(fractions, {}, 0)[0].value == pytest.approx(reliabilities(percent, {}, 0)[0].value)

    def test_disattenuated_is_observed_over_the_root_of_both(self) -> None:
        pair = Correlation(first="a", second="b", n=9, rho=0.6, tau=0.5, interval=Span(method=""), test=None)
        reliable = [Reliability(column=name, value=value, method="", n=9) for name, value in (("a", 0.8), ("b", 0.45))]
        (one,) = disattenuated([pair], reliable)
        assert one.value == pytest.approx(0.6 / 0.6)
        assert disattenuated([pair], reliable[:1]) == []
