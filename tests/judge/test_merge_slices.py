"""Slices that cross, SV less seed accuracy, sources compared, and home by what a model was made from: by hand."""

from __future__ import annotations

import pytest

from veridical.judge import contrasts, judge
from veridical.stats.proportions import newcombe_paired
from veridical.suites.merge.home import own_proposer

from .judging import frame, get
from .variants import TABLE, Planted, make

SEEDS = {"s0": Planted(True, 4, 4), "s1": Planted(True, 2, 4), "m0": Planted(True, 1, 4), "m1": Planted(False, 3, 4)}
"""Two seeds of one source and two of another; right variants come first."""
VARIANTS = [f"{seed}.{i}" for seed in SEEDS for i in range(4)]
SOURCES = {name: "SNLI" if name[0] == "s" else "MNLI" for name in (*SEEDS, *VARIANTS)}
CLASSES = {name: "noun" if name[-1] in "03" else "verb" for name in VARIANTS}
SUITE, ANSWERS = make(SEEDS, source=SOURCES, word_class=CLASSES)


def test_source_and_word_class_cross_at_every_threshold() -> None:
    found = judge(SUITE, frame(SUITE, ANSWERS), draws=50)
    where = {"source": "SNLI", "word_class": "noun"}
    # Nouns are the first and the last of four: s0 has 2 of 2 right, s1 1 of 2.
    assert get(found, "variant_accuracy", **where).value == pytest.approx(3 / 4)
    assert get(found, "seed_accuracy", **where).value == 1
    curve = [get(found, "seed_variant_accuracy", **where, ct=k / 20).value for k in range(1, 21)]
    assert curve == pytest.approx([1.0] * 10 + [0.5] * 10)
    # m0 has 1 of 2 nouns right, m1 1 of 2; of the verbs 0 and 2.
    assert get(found, "variant_accuracy", source="MNLI", word_class="noun").value == pytest.approx(2 / 4)
    assert get(found, "seed_variant_accuracy", source="MNLI", word_class="verb", ct=0.05).value == pytest.approx(1 / 2)


def test_one_source_crosses_with_nothing() -> None:
    asked, answers = make(SEEDS, source=dict.fromkeys(SOURCES, "SNLI"), word_class=CLASSES)
    assert not [m for m in judge(asked, frame(asked, answers), draws=50) if {"source", "word_class"} <= set(m.slice)]


def test_the_gap_is_the_curve_less_seed_accuracy_paired_by_seed() -> None:
    suite, answers = make(TABLE)
    found = judge(suite, frame(suite, answers), draws=50)
    gaps = [get(found, "seed_variant_gap", ct=k / 20).value for k in range(1, 21)]
    # The curve is 4/5, 3/5, 1/5 and three of five seeds are right.
    assert gaps == pytest.approx([1 / 5] * 10 + [0.0] * 5 + [-2 / 5] * 5)
    # At CT 1 only s0 passes, which is right: both 1, passes alone 0, right alone 2, neither 2.
    expected = newcombe_paired(1, 0, 2, 2)
    record = get(found, "seed_variant_gap", ct=1.0)
    assert (record.low, record.high) == (expected.low, expected.high)


def test_sources_are_compared_on_seeds_variants_and_the_curve() -> None:
    records = [m for m in contrasts(SUITE, frame(SUITE, ANSWERS), draws=100) if m.against == {"source": "MNLI"}]
    by = {(m.measure, m.slice.get("ct")): m.value for m in records}
    assert by == {
        ("variant_accuracy", None): pytest.approx(6 / 8 - 4 / 8),
        ("seed_accuracy", None): pytest.approx(1 - 1 / 2),
        ("seed_variant_accuracy", 0.5): pytest.approx(1 - 1 / 2),
        ("seed_variant_accuracy", 1.0): pytest.approx(1 / 2),
    }
    assert all(m.slice["source"] == "SNLI" for m in records)


def test_a_models_base_makes_its_home() -> None:
    """`nli-judge` has nothing of its proposer's name."""
    proposers = {name: "hf/a/base" if name[-1] in "01" else "hf/b/other" for name in VARIANTS}
    suite, answers = make(SEEDS, proposer=proposers)
    answered = frame(suite, answers, model="hf/c/nli-judge")
    assert not [m for m in judge(suite, answered, draws=50) if m.measure == "home_advantage"]
    found = judge(suite, answered, draws=200, bases={"hf/c/nli-judge": "hf/a/base"})
    # The first two of four: 1, 1, .5, 1 right; the last two: 1, 0, 0, .5.
    assert get(found, "home_advantage", proposer="hf/a/base").value == pytest.approx((3.5 - 1.5) / 4)


@pytest.mark.parametrize(
    ("base", "own"),
    [
        ("hf/FacebookAI/roberta-large", "hf/FacebookAI/roberta-large"),
        ("FacebookAI/roberta-large", "hf/FacebookAI/roberta-large"),
        ("hf/google-bert/bert-base-cased", None),
        ("", None),
    ],
)
def test_a_base_is_known_by_its_name(base: str, own: str | None) -> None:
    assert own_proposer("hf/x/nli", ["hf/FacebookAI/roberta-large", "minilm-mlm"], base) == own
