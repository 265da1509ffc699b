"""Readouts fitted on one set and judged on another: planted truths, nulls and controls."""

from __future__ import annotations

import numpy as np
import pytest

from veridical.errors import UserError
from veridical.items import Member
from veridical.readouts.nulls import pairs_recovered, permuted_within
from veridical.readouts.rows import Rows
from veridical.readouts.transfer import TransferTask, control_task, fit, leave_one_out, sweep
from veridical.stats.permutation import permutation_p

from .questions import LABELS, fitted, item, judged, planted, suite, task


def test_permutations_keep_each_groups_labels() -> None:
    labels, groups = np.array([0, 1, 2, 0, 0, 3]), np.array([7, 7, 7, 9, 9, 9])
    permuted = permuted_within(labels, groups, 200, np.random.default_rng(0))
    assert (np.sort(permuted[:, :3], axis=1) == [0, 1, 2]).all()
    assert (np.sort(permuted[:, 3:], axis=1) == [0, 0, 3]).all()
    # 3! orders of the first group, 3 of the second: all 18 are met in 200 draws but for a chance of 2e-4.
    assert len(np.unique(permuted, axis=0)) == 18


def test_labels_constant_within_groups_are_refused() -> None:
    """Every permutation would be the labels themselves (trap 45)."""
    with pytest.raises(UserError, match="labels are constant within every group"):
        permuted_within(np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), 10, np.random.default_rng(0))


def test_pairs_are_recovered_where_every_row_is_right() -> None:
    pairs = [np.array([0, 1]), np.array([2, 3])]
    gold = np.array([0, 3, 1, 3])
    answers = np.array([[0, 3, 1, 3], [0, 3, 1, 1], [3, 3, 3, 3], [0, 0, 1, 1]])
    np.testing.assert_array_equal(pairs_recovered(answers, gold, pairs), [2, 1, 0, 0])


@pytest.mark.parametrize("shape", [(4,), (3, 4), (2, 3, 4)])
def test_without_a_pair_none_is_recovered_of_each_vector(shape: tuple[int, ...]) -> None:
    # A sample of sets may leave each with one item: its nulls are of no pair, and have a value a vector all the same.
    recovered = pairs_recovered(np.zeros(shape, dtype=int), np.zeros(4, dtype=int), [])
    np.testing.assert_array_equal(recovered, np.zeros(shape[:-1]))


@pytest.mark.parametrize(
    ("label", "expected"), [("Favors", 1 / 3), ("Challenges", 1 / 3), ("Wrong Target", 1 / 3), ("Unresolved", 0)]
)
def test_constant_answers_score_a_third_or_nothing_and_no_pair(label: str, expected: float) -> None:
    scores = task().scores(np.full(40, LABELS.index(label)))
    assert scores.balanced_accuracy == pytest.approx(expected)
    assert scores.pairs == 0


def test_a_strong_signal_is_recovered_and_is_far_from_its_null() -> None:
    here = task()
    outcome = fit(here, here.prepared(*planted(here, 8.0)), 99, seed=1)
    assert outcome.observed.balanced_accuracy == 1.0
    assert outcome.observed.pairs == 20
    assert outcome.null is not None
    assert permutation_p(1.0, outcome.null.balanced_accuracy) == 0.01
    assert permutation_p(20.0, outcome.null.pairs.astype(float)) == 0.01


def test_the_null_has_the_chance_level_of_labels_that_mean_nothing() -> None:
    """Four labels answered at random: each of the three that occur is right a quarter of the time."""
    here = task()
    outcome = fit(here, here.prepared(*planted(here, 0.0, seed=5)), 400, seed=2)
    assert outcome.null is not None
    # Answers of one draw hang together (one model): the spread between draws is what the error is made of.
    draws = outcome.null.balanced_accuracy
    assert abs(draws.mean() - 0.25) < 5 * draws.std() / np.sqrt(len(draws)) + 0.02


@pytest.mark.slow
def test_p_is_uniform_where_features_know_nothing() -> None:
    here = task(n_scenarios=6, n_pairs=10)
    found = []
    for seed in range(60):
        outcome = fit(here, here.prepared(*planted(here, 0.0, width=3, seed=seed)), 19, seed=seed)
        assert outcome.null is not None
        # Ties are frequent in 20 answers; a random place among them makes p exactly uniform on 1/20 ... 1.
        rng = np.random.default_rng(seed)
        jitter = rng.uniform(0, 1e-6, 20)
        observed = float(outcome.observed.balanced_accuracy) + jitter[0]
        found.append((1 + (outcome.null.balanced_accuracy + jitter[1:] >= observed).sum()) / 20)
    p = np.array(found)
    # Mean .525 and standard deviation .288 of the uniform law; four standard errors either side.
    assert abs(p.mean() - 0.525) < 4 * 0.288 / np.sqrt(60)
    assert (p <= 0.05).sum() <= 9  # 60 at 1/20: above 9 with probability 1e-3


def test_evidence_alone_recovers_no_pair() -> None:
    """What is the same for both endpoints gets one answer, and their gold labels differ."""
    here = task()
    features, others = planted(here, 3.0)
    for rows in here.judged.sets:
        others[rows] = others[rows[0]]
    outcome = fit(here, here.prepared(features, others), 0, seed=0)
    assert outcome.observed.pairs == 0


def test_leaving_a_category_out_fits_without_it() -> None:
    """Category `a` has its labels swapped in the fitted set: fitted without it, its pairs are answered right."""
    here = task()
    features, others = planted(here, 8.0, seed=3)
    categories = here.fitted.factor("category"), here.judged.factor("category")
    spoilt = np.array([name == "a" for name in categories[0]])
    features[spoilt] = features[spoilt][::-1]
    out = leave_one_out(here, features, others, categories, 19, seed=4)
    asked = np.array([name == "a" for name in categories[1]])
    assert (out.answers[asked] == here.gold[asked]).all()
    assert out.null is not None
    assert len(out.null.pairs) == 19


def test_the_best_layer_is_chosen_on_the_fitted_set() -> None:
    """Layer 1 knows the fitted labels, layer 2 those of the judged set alone: the choice must fall on layer 1."""
    here = task()
    knows, blind = planted(here, 8.0, seed=6), planted(here, 0.0, seed=7)
    layers = {0: blind, 1: (knows[0], blind[1]), 2: (blind[0], knows[1])}
    swept = sweep(here, layers.__getitem__, (0, 1, 2), 9, 0, lambda _: None)
    assert swept.best_layer == 1
    assert swept.layers[1].validation == pytest.approx(1.0)
    assert swept.nested == pytest.approx(1.0)
    np.testing.assert_array_equal(swept.best.answers, swept.layers[1].answers)


def test_control_labels_are_memorised_only_where_features_tell_categories() -> None:
    here = task(n_scenarios=16)
    categories = here.fitted.factor("category"), here.judged.factor("category")
    codes = [np.unique(names, return_inverse=True)[1] for names in categories]
    telling = [np.eye(8)[code] * 9 for code in codes]
    assert control_task(here, here.prepared(*telling), categories, 20, 0).mean() == pytest.approx(1.0)
    silent = planted(here, 0.0, seed=8)
    assert control_task(here, here.prepared(*silent), categories, 20, 0).mean() < 0.5


def test_a_judged_label_that_is_never_fitted_is_refused() -> None:
    one = item("only", "Favors")
    other = item("too", "Challenges")
    narrow = suite("narrow", [(Member(set="s", item=one.id), one), (Member(set="s", item=other.id), other)])
    with pytest.raises(UserError, match="has the label 'Wrong Target', which 'narrow' lacks"):
        TransferTask(Rows.of(narrow), Rows.of(judged()))


def test_a_suite_of_one_label_cannot_be_read_out() -> None:
    found = [item(f"t{n}", "Favors") for n in range(3)]
    with pytest.raises(UserError, match="all are 'Favors'; a readout needs two labels"):
        Rows.of(suite("same", [(Member(set=f"s{n}", item=one.id), one) for n, one in enumerate(found)]))


def test_rows_know_their_scenario_and_their_pairs() -> None:
    rows = Rows.of(fitted(2))
    assert rows.groups == ("s0",) * 4 + ("s1",) * 4
    assert [names.tolist() for names in Rows.of(judged(2)).sets] == [[0, 1], [2, 3]]


def test_sets_that_share_an_item_are_one_group() -> None:
    found = [item(f"t{n}", LABELS[n % 2]) for n in range(4)]
    members = [(Member(set="a", item=found[0].id), found[0]), (Member(set="a", item=found[1].id), found[1])]
    members += [(Member(set="b", item=found[2].id), found[2]), (Member(set="c", item=found[3].id), found[3])]
    here = suite("shared", members)
    (grouping,) = here.groupings
    shared = grouping.model_copy(update={"members": (*grouping.members, Member(set="b", item=found[1].id))})
    assert Rows.of(here.model_copy(update={"groupings": (shared,)})).groups == ("a", "a", "a", "c")
