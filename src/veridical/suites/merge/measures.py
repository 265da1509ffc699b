"""The measures of MERGE (arXiv 2510.24295), over sets of a seed and its variants (roles `seed` and `variant`).

Seed accuracy, variant accuracy, seed-variant accuracy SV(CT) and matching correctness are the paper's. Added are the
grid of thresholds (k / 20), SV less seed accuracy, the reference line, home advantage by name, and the rule that a
constant responder has no matching correctness. A slice holds the seeds that have variants in it, and its seed accuracy
is theirs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from veridical.judge.answering import Answering
from veridical.judge.baselines import is_baseline
from veridical.judge.estimate import JudgeSettings
from veridical.judge.generic import accuracy, how_it_answers
from veridical.judge.measure import Measure
from veridical.judge.policies import least, over_sets
from veridical.judge.quantity import Quantity
from veridical.judge.registry import MeasureSet, SliceContrast
from veridical.stats.units import Bools, Floats, Ints
from veridical.suites.merge.home import home_advantage
from veridical.suites.merge.records import matching_correctness, reference
from veridical.suites.merge.reference import STEPS, THRESHOLDS
from veridical.suites.merge.seeds import SeedAnswers, all_seeds, all_variants, crossed_slices, every_slice, seeds_with
from veridical.suites.merge.verdict import RULES

COMPARED = (STEPS // 2, STEPS)
"""Thresholds (k of k / 20) at which prompts and models are compared: half of the variants, and all."""


def seed_accuracy(answering: Answering) -> Iterator[Quantity]:
    """Share of seeds that are right: over all, then over those that have variants and those that have none.

    Slices `{"variants": "some"}` and `{"variants": "none"}`, where some seeds have none.
    """
    members, right = all_seeds(answering), answering.right()
    whole = over_sets(answering, right, least, members)
    if whole is None:
        return
    yield Quantity(answering, "seed_accuracy", whole)
    table = answering.table
    with_variants = np.isin(table.member_set, table.member_set[all_variants(answering)])
    for value, where in (("some", members & with_variants), ("none", members & ~with_variants)):
        part = over_sets(answering, right, least, where)
        if part is not None and len(part) < len(whole):
            yield Quantity(answering, "seed_accuracy", part, slice={"variants": value})


def variant_accuracy(seeds: SeedAnswers) -> Quantity:
    """Share of variants that are right."""
    return Quantity(seeds.answering, "variant_accuracy", seeds.variants(), slice=seeds.slice)


def seed_variant_accuracy(seeds: SeedAnswers, ks: Sequence[int] = THRESHOLDS) -> Iterator[Quantity]:
    """SV(CT): share of seeds with at least the share CT of their variants right, slice `{"ct": 0.15}`."""
    for k in ks:
        where = {**seeds.slice, "ct": k / STEPS}
        yield Quantity(seeds.answering, "seed_variant_accuracy", seeds.passing(k), slice=where)


def seed_variant_gap(seeds: SeedAnswers) -> Iterator[Quantity]:
    """SV(CT) less seed accuracy at every threshold, paired by seed: below 0 where right answers do not survive."""
    for k in THRESHOLDS:
        where = {**seeds.slice, "ct": k / STEPS}
        yield Quantity(seeds.answering, "seed_variant_gap", seeds.passing(k), seeds.seeds(), slice=where)


def by_seed(answering: Answering) -> Iterator[Quantity]:
    """Variant accuracy and SV over the seeds that are right, and over the others: slice `{"seed": "right"}`.

    A seed without an answer counts as wrong. The bounds let it be either, and go with its variants to that side.
    """
    whole = seeds_with(answering, all_variants(answering))
    if whole is None:
        return
    seed = whole.seed_right
    sides = {
        "right": (seed.value == 1, seed.low == 1, seed.high == 1),
        "wrong": (seed.value == 0, seed.high == 0, seed.low == 0),
    }
    for side, (here, surely, perhaps) in sides.items():
        if not here.any():
            continue
        part, reach = _restricted(whole, here), _restricted(whole, perhaps | here)
        fixed, one_each = surely[perhaps | here], np.ones_like(reach.n)
        rows = [(variant_accuracy(part), reach.right, reach.n)]
        for k, quantity in zip(THRESHOLDS, seed_variant_accuracy(part), strict=True):
            rows.append((quantity, reach.passing(k).values, one_each))
        for quantity, widest, sizes in rows:
            bounds = 0.0 - greatest_share(-widest.low, sizes, fixed), greatest_share(widest.high, sizes, fixed)
            yield replace(quantity, slice={"seed": side, **quantity.slice}, bounds=bounds)


def greatest_share(amounts: Floats, sizes: Ints, fixed: Bools) -> float:
    """Greatest sum(amounts) / sum(sizes) over the `fixed` rows with any of the others, at least one row in all.

    The best choice takes the others with the greatest ratios, down to some ratio.
    """
    others = np.flatnonzero(~fixed)
    order = others[np.argsort(-amounts[others] / sizes[others], kind="stable")]
    sums = np.concatenate([[amounts[fixed].sum()], amounts[fixed].sum() + np.cumsum(amounts[order])])
    totals = np.concatenate([[sizes[fixed].sum()], sizes[fixed].sum() + np.cumsum(sizes[order])])
    some = totals > 0
    return float((sums[some] / totals[some]).max())


def _restricted(seeds: SeedAnswers, where: Bools) -> SeedAnswers:
    table = seeds.answering.table
    variants = all_variants(seeds.answering) & np.isin(table.member_set, seeds.sets[where])
    found = seeds_with(seeds.answering, variants, right=seeds.item_right)
    assert found is not None
    return found


def quantities(answering: Answering, by: Sequence[str] = ()) -> Iterator[Quantity]:
    """Every mean of one answering; accuracy also by the factors `by`. Baselines have SV over everything alone."""
    yield from seed_accuracy(answering)
    for seeds in every_slice(answering):
        if seeds.slice:
            yield Quantity(answering, "seed_accuracy", seeds.seeds(), slice=seeds.slice)
        yield variant_accuracy(seeds)
        if not seeds.slice or not is_baseline(answering.key["answerer"]):
            yield from seed_variant_accuracy(seeds)
    if not is_baseline(answering.key["answerer"]):
        for seeds in every_slice(answering):
            yield from seed_variant_gap(seeds)
        for seeds in crossed_slices(answering):
            yield Quantity(answering, "seed_accuracy", seeds.seeds(), slice=seeds.slice)
            yield variant_accuracy(seeds)
            yield from seed_variant_accuracy(seeds)
        yield from by_seed(answering)
    yield from accuracy(answering, by)
    yield from how_it_answers(answering)


def records(answering: Answering, settings: JudgeSettings) -> Iterator[Measure]:
    """Quantities that are not a mean over answers: matching correctness, the reference line, home advantage."""
    for seeds in every_slice(answering):
        yield from matching_correctness(seeds, settings)
        if not seeds.slice:
            yield from reference(seeds)
    yield from home_advantage(answering, settings)


def guessed(answering: Answering) -> Iterator[Quantity]:
    """What has the level of chance of a uniform guess; SV of guesses is in no mean of chances."""
    yield from seed_accuracy(answering)
    whole = seeds_with(answering, all_variants(answering))
    if whole is not None:
        yield variant_accuracy(whole)
    yield from accuracy(answering)


def compared(answering: Answering) -> Iterator[Quantity]:
    """What is compared across prompts and models."""
    whole = seeds_with(answering, all_variants(answering))
    if whole is not None:
        yield Quantity(answering, "seed_accuracy", whole.seeds())
        yield variant_accuracy(whole)
        yield from seed_variant_accuracy(whole, COMPARED)


def slice_contrasts(answering: Answering) -> Iterator[SliceContrast]:
    """Variant accuracy of every two word classes, proposers and sources; of sources also seed accuracy and SV."""
    parts = list(every_slice(answering))
    for factor in ("word_class", "proposer", "source"):
        for one, other in combinations([seeds for seeds in parts if factor in seeds.slice], 2):
            yield SliceContrast(variant_accuracy(one), variant_accuracy(other), dict(other.slice))
            if factor == "source":
                for mine, theirs in zip(_of_source(one), _of_source(other), strict=True):
                    yield SliceContrast(mine, theirs, dict(other.slice))


def _of_source(seeds: SeedAnswers) -> list[Quantity]:
    own = Quantity(seeds.answering, "seed_accuracy", seeds.seeds(), slice=seeds.slice)
    return [own, *seed_variant_accuracy(seeds, COMPARED)]


MEASURE_SET = MeasureSet(
    quantities,
    compared,
    slice_contrasts,
    records,
    guessed,
    rules=RULES,
    presentation="veridical.suites.merge.presentation:PRESENTATION",
)
