"""Seed-variant accuracy, matching correctness and what stands beside them, worked out by hand."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import polars as pl
import pytest
from scipy import stats

from veridical.items import Member
from veridical.judge import baseline_frame, contrasts, judge
from veridical.judge.verdict import verdict as verdict_by
from veridical.stats.proportions import wilson
from veridical.suites.merge.home import own_proposer
from veridical.suites.merge.matching import match, reachable
from veridical.suites.merge.measures import greatest_share
from veridical.suites.merge.reference import needed, reference_line
from veridical.suites.merge.verdict import RULES

from .judging import LABELS, frame, get, item
from .variants import TABLE, Planted, make, suite_of

verdict = partial(verdict_by, rules=RULES)

SUITE, ANSWERS = make(TABLE)


def curve(measures, name="seed_variant_accuracy", **where):
    return [get(measures, name, **where, ct=k / 20).value for k in range(1, 21)]


@pytest.mark.parametrize("mode", ["loglikelihood", "generate", "classify"])
def test_by_hand(mode: str) -> None:
    found = judge(SUITE, frame(SUITE, ANSWERS, mode=mode))
    assert get(found, "seed_accuracy").value == pytest.approx(3 / 5)
    assert get(found, "variant_accuracy").value == pytest.approx(12 / 20)
    assert curve(found) == pytest.approx([4 / 5] * 10 + [3 / 5] * 5 + [1 / 5] * 5)
    # Three seeds pass at .55 to .75, and three are right.
    assert get(found, "matching_correctness").value == 0.75
    assert get(found, "matching_correctness", tied="lowest").value == 0.55
    assert "tied from 0.55 to 0.75" in get(found, "matching_correctness").interval
    assert (get(found, "matching_correctness").n_sets, get(found, "matching_correctness").n_items) == (5, 25)


def test_one_value_a_seed_has_wilsons_interval_and_several_a_bootstrap() -> None:
    found = judge(SUITE, frame(SUITE, ANSWERS))
    expected = wilson(3, 5)
    for record in (get(found, "seed_accuracy"), get(found, "seed_variant_accuracy", ct=0.75)):
        assert (record.low, record.high, record.interval) == (expected.low, expected.high, "Wilson")
    assert get(found, "variant_accuracy").interval.startswith("too few sets for an interval")
    asked, answers = make({f"s{r}": Planted(r > 10, r % 5, 4) for r in range(20)})
    assert get(judge(asked, frame(asked, answers)), "variant_accuracy").interval == "bootstrap over sets"


def test_three_of_twenty_reach_the_threshold_of_three_twentieths() -> None:
    """As floats 3 * 0.05 > 0.15, so a share would fail at its own threshold."""
    asked, answers = make({f"s{r}": Planted(True, r, 20) for r in range(1, 21)})
    found = judge(asked, frame(asked, answers), draws=100)
    # The seed with r of 20 right passes every threshold up to r / 20.
    assert curve(found) == pytest.approx([(21 - k) / 20 for k in range(1, 21)])


def test_what_is_needed_is_the_least_whole_number() -> None:
    sizes = np.arange(1, 41)
    table = needed(sizes)
    for k in range(1, 21):
        for n in sizes:
            assert table[k - 1, n - 1] == math.ceil(Fraction(k, 20) * int(n))


def test_ties_on_both_sides_of_seed_accuracy_span_the_whole_range() -> None:
    # Three seeds pass up to .5, one beyond; two are right: one away everywhere.
    asked, answers = make(
        {"a": Planted(True, 2, 2), "b": Planted(True, 1, 2), "c": Planted(False, 1, 2), "d": Planted(False, 0, 2)}
    )
    found = judge(asked, frame(asked, answers), draws=200)
    assert get(found, "matching_correctness").value == 1
    assert get(found, "matching_correctness", tied="lowest").value == 0.05
    assert "; matching correctness anywhere from 5 % to 100 % (a tie)" in verdict(found)


def test_no_tie_says_nothing_of_one() -> None:
    asked, answers = make({f"s{r}": Planted(r > 10, r, 20) for r in range(1, 21)})
    record = get(judge(asked, frame(asked, answers)), "matching_correctness")
    # Ten seeds are right; ten (r from 11) pass at 11 / 20.
    assert record.value == 0.55
    assert record.interval == "bootstrap over sets"
    assert record.low <= record.value < record.high


def test_seeds_without_variants_are_counted_and_kept_out_of_the_match() -> None:
    asked, answers = make({**TABLE, "alone": Planted(True, 0, 0), "too": Planted(True, 0, 0)})
    found = judge(asked, frame(asked, answers), draws=200)
    whole, some, none = (get(found, "seed_accuracy", **w) for w in ({}, {"variants": "some"}, {"variants": "none"}))
    assert (whole.value, whole.n_sets) == (pytest.approx(5 / 7), 7)
    assert (some.value, some.n_sets) == (pytest.approx(3 / 5), 5)
    assert (none.value, none.n_sets) == (1, 2)
    assert get(found, "seed_variant_accuracy", ct=1.0).n_sets == 5
    # 5 of 7 would come closest to the .8 at .5; 3 of 5 is met at .75.
    assert get(found, "matching_correctness").value == 0.75
    assert "2 more seeds have no variants" in verdict(found)


def test_without_lone_seeds_there_is_no_slice_for_them() -> None:
    assert not [m for m in judge(SUITE, frame(SUITE, ANSWERS), draws=50) if "variants" in m.slice]


def test_seeds_alone_have_an_accuracy_and_no_curve() -> None:
    asked, answers = make({"a": Planted(True, 0, 0), "b": Planted(False, 0, 0)})
    found = judge(asked, frame(asked, answers))
    assert get(found, "seed_accuracy").value == 0.5
    assert {m.measure for m in found} == {"seed_accuracy", "accuracy", "constant_share"}


def test_constant_responder_has_a_flat_curve_and_no_match() -> None:
    found = judge(SUITE, baseline_frame(SUITE), draws=50)
    answerers = {m.answerer for m in found}
    assert answerers == {"always:True", "always:False", "always:Unknown", "majority"}
    for answerer in answerers:
        own = [m for m in found if m.answerer == answerer]
        seeds = get(own, "seed_accuracy").value
        assert curve(own) == [seeds] * 20
        record = get(own, "matching_correctness")
        assert (record.value, record.low, record.high, record.bound_low) == (None, None, None, None)
        assert "withheld: a constant answer" in record.interval


def test_a_model_that_says_one_thing_is_a_constant_responder_too() -> None:
    answers = dict.fromkeys(ANSWERS, "True") | {"s4.3": "False"}  # 24 of 25: .96
    found = judge(SUITE, frame(SUITE, answers), draws=50)
    record = get(found, "matching_correctness")
    assert record.value is None
    assert "(True)" in record.interval
    answers |= {"s3.3": "False"}  # 23 of 25: .92
    assert get(judge(SUITE, frame(SUITE, answers), draws=50), "matching_correctness").value is not None


def test_a_match_is_withheld_where_nothing_is_answered() -> None:
    record = get(judge(SUITE, frame(SUITE, dict.fromkeys(ANSWERS))), "matching_correctness")
    assert (record.value, record.interval) == (None, "withheld: nothing was answered")


def test_hypothesis_only_has_a_row_of_its_own() -> None:
    both = pl.concat([frame(SUITE, ANSWERS), frame(SUITE, ANSWERS | {"s0": None}, input="hypothesis_only")])
    found = [m for m in judge(SUITE, both, draws=50) if m.measure == "matching_correctness" and not m.slice]
    assert [m.input for m in found] == ["full", "hypothesis_only"]


# The reference line


def test_reference_line_by_hand() -> None:
    found = judge(SUITE, frame(SUITE, ANSWERS), draws=50)
    line = curve(found, "seed_variant_reference")
    p = 0.6
    assert line[0] == pytest.approx(1 - (1 - p) ** 4)
    assert line[19] == pytest.approx(p**4)
    assert line[14] == pytest.approx(p**4 + 4 * p**3 * (1 - p))  # three of four


def test_reference_line_is_the_binomial_tail_averaged_over_seeds() -> None:
    n = np.array([1, 3, 20, 7, 3])
    line = reference_line(n, 0.37)
    for k in range(1, 21):
        least = [math.ceil(Fraction(k, 20) * int(m)) for m in n]
        tails = [sum(stats.binom.pmf(r, m, 0.37) for r in range(c, m + 1)) for c, m in zip(least, n, strict=True)]
        assert line[k - 1] == pytest.approx(np.mean(tails))


def test_one_variant_a_seed_has_a_flat_reference_line() -> None:
    assert reference_line(np.ones(9, dtype=np.int64), 0.3) == pytest.approx([0.3] * 20)


def test_reference_line_has_a_match_of_its_own() -> None:
    found = judge(SUITE, frame(SUITE, ANSWERS), draws=50)
    # .6 lies between .4752 (three of four, up to .75) and .8208 (two of four, up to .5), closer to the first.
    assert get(found, "matching_correctness", line="reference").value == 0.75


# Slices


def test_slices_hold_the_seeds_that_have_variants_in_them() -> None:
    nouns = ("s0.0", "s0.1", "s3.0", "s3.3")  # right, right; right, wrong
    verbs = tuple(name for name in ANSWERS if "." in name and name not in nouns)
    classes = dict.fromkeys(nouns, "noun") | dict.fromkeys(verbs, "verb")
    asked, answers = make(TABLE, word_class=classes)
    found = judge(asked, frame(asked, answers), draws=200)
    assert get(found, "variant_accuracy", word_class="noun").value == pytest.approx(3 / 4)
    assert get(found, "seed_accuracy", word_class="noun").value == pytest.approx(1 / 2)
    # s0 has 2 of 2, s3 1 of 2: both pass up to .5, one beyond; one seed is right.
    assert curve(found, word_class="noun") == pytest.approx([1.0] * 10 + [0.5] * 10)
    assert get(found, "matching_correctness", word_class="noun").value == 1
    assert get(found, "matching_correctness", word_class="noun", tied="lowest").value == 0.55
    assert get(found, "variant_accuracy", word_class="verb").value == pytest.approx(9 / 16)
    assert not [m for m in found if "proposer" in m.slice]


@pytest.mark.parametrize("factor", ["proposer", "label", "source", "agreement"])
def test_other_factors_are_sliced_alike(factor: str) -> None:
    values = {name: "x" if name.startswith(("s0", "s4")) else "y" for name in ANSWERS}
    asked, answers = make(TABLE, **{factor: values})
    found = judge(asked, frame(asked, answers), draws=50)
    assert get(found, "variant_accuracy", **{factor: "x"}).value == pytest.approx(4 / 8)
    assert get(found, "seed_accuracy", **{factor: "y"}).value == pytest.approx(2 / 3)


def test_by_whether_the_seed_was_right() -> None:
    found = judge(SUITE, frame(SUITE, ANSWERS), draws=50)
    assert get(found, "variant_accuracy", seed="right").value == pytest.approx(9 / 12)
    assert get(found, "variant_accuracy", seed="wrong").value == pytest.approx(3 / 8)
    assert get(found, "seed_variant_accuracy", seed="right", ct=0.75).value == pytest.approx(2 / 3)
    assert get(found, "seed_variant_accuracy", seed="wrong", ct=0.75).value == pytest.approx(1 / 2)
    assert get(found, "seed_variant_accuracy", seed="wrong", ct=0.75).n_sets == 2


def test_an_item_that_is_a_variant_here_and_a_seed_there_counts_in_both_places() -> None:
    names = {"a": "True", "b": "False", "b.0": "False", "shared": "Unknown"}
    items = {name: item(name, (gold,)) for name, gold in names.items()}
    members = [
        Member(set="a", item=items["a"].id, role="seed"),
        Member(set="a", item=items["shared"].id, role="variant"),
        Member(set="shared", item=items["shared"].id, role="seed"),
        Member(set="shared", item=items["b"].id, role="variant"),
        Member(set="b", item=items["b"].id, role="seed"),
        Member(set="b", item=items["b.0"].id, role="variant"),
    ]
    asked = suite_of(list(items.values()), members)
    found = judge(asked, frame(asked, {"a": "True", "shared": "False", "b": "False", "b.0": "True"}), draws=50)
    assert get(found, "seed_accuracy").value == pytest.approx(2 / 3)  # a, b
    assert get(found, "variant_accuracy").value == pytest.approx(1 / 3)  # b under shared
    assert get(found, "seed_accuracy").n_sets == 3


def test_a_variant_of_two_seeds_counts_under_each() -> None:
    items = {name: item(name) for name in ("a", "b", "both", "alone")}
    members = [
        Member(set="a", item=items["a"].id, role="seed"),
        Member(set="a", item=items["both"].id, role="variant"),
        Member(set="a", item=items["alone"].id, role="variant"),
        Member(set="b", item=items["b"].id, role="seed"),
        Member(set="b", item=items["both"].id, role="variant"),
    ]
    asked = suite_of(list(items.values()), members)
    found = judge(asked, frame(asked, {"a": "True", "b": "False", "both": "True", "alone": "False"}), draws=50)
    record = get(found, "variant_accuracy")
    assert (record.value, record.n_sets, record.n_items) == (pytest.approx(2 / 3), 2, 2)
    assert get(found, "seed_variant_accuracy", ct=1.0).value == 0.5  # b


# Home advantage


def home(model: str, *, seeds: int = 2):
    """Of each seed the model's own variants are right twice of 2, the other's once of 2; one more seed has only own
    variants, all wrong, and one only the other's, all right."""
    table = {f"s{i}": Planted(True, 3, 4) for i in range(seeds)} | {
        "own": Planted(True, 0, 20),
        "other": Planted(True, 20, 20),
    }
    proposers = {f"s{i}.{j}": "mine" if j in (0, 1) else "theirs" for i in range(seeds) for j in range(4)}
    proposers |= {f"own.{j}": "mine" for j in range(20)} | {f"other.{j}": "theirs" for j in range(20)}
    asked, answers = make(table, proposer=proposers)
    return judge(asked, frame(asked, answers, model=model), draws=2000)


def test_home_advantage_is_paired_by_seed() -> None:
    record = get(home("mine", seeds=8), "home_advantage", proposer="mine")
    # 1 less .5 in each of the eight; over all variants the other proposer would come out ahead.
    assert record.value == pytest.approx(0.5)
    assert (record.against, record.paired, record.n_sets) == ({"proposer": "theirs"}, True, 8)
    assert record.p == pytest.approx(2 / 2**8, abs=0.006)


def test_home_disadvantage_is_negative() -> None:
    assert get(home("theirs"), "home_advantage", proposer="theirs").value == pytest.approx(-0.5)


def test_strangers_have_no_home() -> None:
    assert not [m for m in home("someone") if m.measure == "home_advantage"]


@pytest.mark.parametrize(
    ("model", "own"),
    [
        ("hf/a/roberta-base", "hf/a/roberta-base"),
        ("hf/b/roberta-base-mnli", "hf/a/roberta-base"),
        ("hf/b/roberta-large-mnli", None),
        ("hf/b/xlm-roberta-base-snli", None),
        ("hf/openai/gpt2-medium", None),
        ("hf/openai/gpt2-snli", "hf/openai/gpt2"),
        ("smollm2", None),
    ],
)
def test_own_proposer_goes_by_the_name(model: str, own: str | None) -> None:
    assert own_proposer(model, ["hf/a/roberta-base", "hf/openai/gpt2"]) == own


# Bounds


def test_bounds_are_those_of_every_label_that_is_missing() -> None:
    """Against all 27 ways to answer s1, s2.0 and s3.3."""
    missing = ("s1", "s2.0", "s3.3")
    given = {name: label for name, label in ANSWERS.items() if name not in missing}
    records = {(m.measure, *sorted(m.slice.items())): m for m in judge(SUITE, frame(SUITE, given), draws=20)}
    reached: dict[tuple, set[float]] = {}
    for labels in itertools.product(LABELS, repeat=len(missing)):
        filled = given | dict(zip(missing, labels, strict=True))
        for m in judge(SUITE, frame(SUITE, filled), draws=20):
            reached.setdefault((m.measure, *sorted(m.slice.items())), set()).add(m.value)
    exact = ("seed_accuracy", "variant_accuracy", "seed_variant_accuracy", "seed_variant_reference")
    checked = 0
    for key, record in records.items():
        if key[0] in exact or key == ("matching_correctness",):
            assert record.bound_low == pytest.approx(min(reached[key])), key
            assert record.bound_high == pytest.approx(max(reached[key])), key
            checked += record.bound_low < record.bound_high
    assert checked > 40


def test_reachable_matches_are_those_of_every_way_to_turn_out() -> None:
    """Open seeds and variants of random small suites, each against all their outcomes."""
    rng = np.random.default_rng(0)
    wide = 0
    for _ in range(300):
        n = rng.choice([1, 2, 3, 4, 5, 20], size=4)
        low = np.array([rng.integers(0, m + 1) for m in n])
        high = np.array([min(m, b + rng.integers(0, 3)) for m, b in zip(n, low, strict=True)])
        least, most = sorted(rng.integers(0, 5, size=2).tolist())
        ways = list(itertools.product(*(range(a, b + 1) for a, b in zip(low, high, strict=True))))
        curves = [(np.array(way) >= needed(n)).sum(axis=1) for way in ways]
        found = {match(curve, right).highest for curve in curves for right in range(least, most + 1)}
        assert reachable(needed(n), low, high, (least, most)) == sorted(found)
        wide += len(found) > 1
    assert wide > 100


def test_greatest_share_is_that_of_the_best_choice() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        sizes = rng.integers(1, 6, size=6)
        amounts = np.array([rng.integers(0, s + 1) for s in sizes], dtype=float)
        fixed = rng.random(6) < 0.3
        chosen = [fixed | np.array(bits, dtype=bool) for bits in itertools.product((0, 1), repeat=6)]
        best = max(amounts[c].sum() / sizes[c].sum() for c in chosen if c.any())
        assert greatest_share(amounts, sizes, fixed) == pytest.approx(best)


# Intervals, comparisons, the sentence


def test_the_interval_of_the_match_resamples_seeds_with_their_variants() -> None:
    outcomes = [(r > 8, r) for r in range(1, 21)]
    asked, answers = make({f"s{r}": Planted(right, r, 20) for right, r in outcomes})
    record = get(judge(asked, frame(asked, answers)), "matching_correctness")
    rng = np.random.default_rng(3)
    right, counts = np.array([s for s, _ in outcomes]), np.array([r for _, r in outcomes])
    draws = []
    for _ in range(4000):
        picked = rng.integers(0, 20, size=20)
        distance = [abs((counts[picked] >= k).sum() - right[picked].sum()) for k in range(1, 21)]
        draws.append(max(k for k in range(1, 21) if distance[k - 1] == min(distance)) / 20)
    low, high = np.quantile(draws, [0.025, 0.975])
    assert (record.low, record.high) == (pytest.approx(low, abs=0.051), pytest.approx(high, abs=0.051))
    assert record.low < record.high


def test_prompts_are_compared_on_seeds_variants_and_the_curve() -> None:
    worse = ANSWERS | {"s0.3": "Unknown"}
    both = pl.concat([frame(SUITE, ANSWERS), frame(SUITE, worse, prompt="cot")])
    found = [m for m in contrasts(SUITE, both, draws=100) if m.against == {"prompt": "zero-shot"}]
    every = get([m for m in found if "Holm" not in m.null], "seed_variant_accuracy", ct=1.0)
    assert every.value == pytest.approx(-1 / 5)
    assert {m.measure for m in found} == {"seed_accuracy", "variant_accuracy", "seed_variant_accuracy"}


def test_word_classes_are_compared() -> None:
    classes = {name: "noun" if name.endswith((".0", ".1")) else "verb" for name in ANSWERS if "." in name}
    asked, answers = make(TABLE, word_class=classes)
    (record,) = [m for m in contrasts(asked, frame(asked, answers), draws=100) if m.against == {"word_class": "verb"}]
    # Of the first two variants 8 of 10 are right, of the last two 4 of 10.
    assert record.value == pytest.approx(8 / 10 - 4 / 10)
    assert record.slice == {"word_class": "noun"}


def test_sentence_tells_a_brittle_model() -> None:
    table = {f"s{i}": Planted(i % 10 > 0, 4 + i % 5, 20) for i in range(60)}
    asked, answers = make(table)
    sentence = verdict(judge(asked, frame(asked, answers), draws=500))
    assert "m, zero-shot, loglikelihood: inconsistent over small changes: right on 90 %" in sentence
    assert "as many errors at random" in sentence


def test_sentence_tells_a_consistent_model() -> None:
    """54 of 60 seeds are right; 60 pass up to .85, 48 at .90."""
    table = {f"s{i}": Planted(i % 10 > 0, 17 + i % 4 if i % 10 > 0 else 20, 20) for i in range(60)}
    asked, answers = make(table)
    sentence = verdict(judge(asked, frame(asked, answers), draws=500))
    assert "accurate, and consistent over small changes: right on 90 %" in sentence
    assert "matching correctness anywhere from 5 % to 90 % (a tie," in sentence  # 60 and 48 are as far from 54


def test_sentence_calls_no_one_consistent_who_is_mostly_wrong() -> None:
    """20 of 60 seeds are right; 25 pass up to .85, 20 at .90."""
    table = {f"s{i}": Planted(i % 3 == 0, 17 + i % 4 if i % 3 == 0 else 20 if i % 8 == 1 else 0, 20) for i in range(60)}
    asked, answers = make(table)
    found = judge(asked, frame(asked, answers), draws=500)
    assert get(found, "matching_correctness").low > 0.8
    assert "consistent" not in verdict(found)


def test_sentence_tells_a_constant_responder() -> None:
    asked, answers = make({f"s{i}": Planted(True, 2, 2) for i in range(12)})
    assert "whatever it is asked" in verdict(judge(asked, frame(asked, dict.fromkeys(answers, "True")), draws=50))
