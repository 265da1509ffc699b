"""From quantities to records: the interval, the test and the bounds of each.

One 0/1 a set: Wilson. Difference of two independent samples of these: Newcombe; of two over the same sets:
Newcombe paired, with McNemar's exact test. Everything else: bootstrap over sets (or over the clusters above
them). Two paired sides are then tested by flipping signs, where each is one mean; where each is a sum of means over
different rows (a gap, a balanced accuracy), by inverting the bootstrap interval, so that test and interval agree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from veridical.digests import digest
from veridical.items import Factor
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity, Sample
from veridical.stats.bootstrap import Term, bootstrap_interval, bootstrap_test
from veridical.stats.interval import Interval
from veridical.stats.permutation import cluster_contributions, sign_flip_p
from veridical.stats.proportions import fisher_exact, mcnemar_exact, newcombe, newcombe_paired, wilson
from veridical.stats.sign_flip import least_sign_flip_p
from veridical.stats.units import Floats, Ints

MCNEMAR = "both sides are right on equally many sets (McNemar exact)"
SIGN_FLIP = "the two sides are exchangeable within a set (sign flip)"
INVERTED = "the difference is 0 (bootstrap interval inverted)"
FISHER = "the two slices have one rate (Fisher exact)"


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """Confidence level, number of draws of every resampling, and the seed that all of them start from.

    `bases` has, by a model's name, the name of the model that it was fine-tuned from, where that is known.
    """

    level: float = 0.95
    draws: int = 10_000
    seed: int = 0
    bases: Mapping[str, str] = field(default_factory=dict)

    def generator(self, *names: object) -> np.random.Generator:
        """A generator for one record, so that its draws do not depend on what else is judged."""
        return np.random.default_rng([self.seed, int(digest([str(name) for name in names]), 16)])


def estimate(quantity: Quantity, settings: JudgeSettings) -> Measure:
    """The record of a quantity."""
    name = (sorted(quantity.answering.key.items()), quantity.measure, sorted(quantity.slice.items()))
    interval = _interval(quantity, settings, settings.generator(*name))
    return _record(quantity, quantity.value, interval, quantity.range())


def contrast(one: Quantity, other: Quantity, against: Mapping[str, Factor], settings: JudgeSettings) -> Measure:
    """The record of `one` less `other`, where both are the same quantity of two answerings of one suite.

    The two saw the same items, so everything is paired by set.
    """
    if not _same_rows(one, other):
        raise ValueError(f"the two sides of a contrast of {one.measure} are about different items")
    names = (
        sorted(one.answering.key.items()),
        one.measure,
        sorted(one.slice.items()),
        sorted(against.items()),
    )
    rng = settings.generator("contrast", *names)
    if one.proportion:
        table = _paired_counts(one.plus, other.plus)
        interval = newcombe_paired(*table, settings.level)
        p, null, test = mcnemar_exact(table[1], table[2]), MCNEMAR, "mcnemar_exact"
    else:
        terms = (*one.terms, *(Term(t.values, t.units, -t.weight) for t in other.terms))
        interval, inverted = bootstrap_test(terms, rng, settings.draws, settings.level)
        flips = cluster_contributions(terms)
        if len(one.terms) > 1 and inverted is not None:
            p, null, test = max(inverted, _least_p(flips, settings.draws)), INVERTED, "bootstrap_inverted"
        else:
            p = max(sign_flip_p(flips, rng, settings.draws), _least_p(flips, settings.draws))
            null, test = SIGN_FLIP, "sign_flip"
    (low, high), (other_low, other_high) = one.range(), other.range()
    record = _record(one, one.value - other.value, interval, (low - other_high, high - other_low))
    statuses = both_statuses(record.statuses, other.statuses())
    update = {"against": dict(against), "paired": True, "p": p, "null": null, "test": test, "statuses": statuses}
    return record.model_copy(update=update)


def _least_p(contributions: Floats, draws: int) -> float:
    """The smallest p that signs of so many clusters can give: a bootstrap of a handful is surer than they are."""
    return min(1.0, least_sign_flip_p(int((np.abs(contributions) > 1e-12).sum()), draws))


def both_statuses(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """The responses of both sides by status."""
    return {status: one.get(status, 0) + other.get(status, 0) for status in dict.fromkeys([*one, *other])}


def slice_contrast(one: Quantity, other: Quantity, against: Mapping[str, Factor], settings: JudgeSettings) -> Measure:
    """The record of one slice less another of the same measure and answering (no p-value where they share sets)."""
    difference = Quantity(one.answering, one.measure, one.plus, other.plus, slice=one.slice)
    name = (
        sorted(one.answering.key.items()),
        one.measure,
        sorted(one.slice.items()),
        sorted(against.items()),
    )
    interval = _interval(difference, settings, settings.generator("slices", *name))
    record = _record(difference, difference.value, interval, difference.range())
    shared = bool(len(np.intersect1d(one.plus.units.clusters, other.plus.units.clusters)))
    update: dict[str, object] = {"against": dict(against), "paired": shared}
    if one.plus.proportion and other.plus.proportion and not shared:
        update["p"] = fisher_exact((one.plus.successes, other.plus.successes), (len(one.plus), len(other.plus)))
        update["null"] = FISHER
        update["test"] = "fisher_exact"
    return record.model_copy(update=update)


def _interval(quantity: Quantity, settings: JudgeSettings, rng: np.random.Generator) -> Interval:
    plus, minus, level = quantity.plus, quantity.minus, settings.level
    if quantity.proportion:
        return wilson(plus.successes, len(plus), level)
    if minus is not None and plus.proportion and minus.proportion:
        if len(np.intersect1d(plus.units.clusters, minus.units.clusters)) == 0:
            return newcombe((plus.successes, minus.successes), (len(plus), len(minus)), level)
        if np.array_equal(np.sort(plus.units.sets), np.sort(minus.units.sets)):
            return newcombe_paired(*_paired_counts(plus, minus), level)
    interval = bootstrap_interval(quantity.terms, rng, settings.draws, level)
    if interval.estimable or minus is not None or quantity.averaged or not plus.binary:
        return interval
    return _all_alike(plus, interval)


def _all_alike(sample: Sample, interval: Interval) -> Interval:
    """Where all rows are 1 (or all 0), Wilson's interval with the clusters as the sample.

    The share of clusters that are 1 throughout is at most the share of rows that are, so its lower limit
    holds for the rows too: wider than need be, never narrower.
    """
    n = sample.units.n_clusters
    if n < 2 or sample.successes not in (0, len(sample)):
        return interval
    whole = wilson(n if sample.successes else 0, n, interval.level)
    what = "clusters" if sample.units.nested else "sets"
    return Interval(whole.low, whole.high, whole.level, f"Wilson over {what} (bootstrap degenerate)")


def _paired_counts(one: Sample, other: Sample) -> tuple[int, int, int, int]:
    """Sets where both are 1, the first alone, the second alone, neither."""
    a = one.values.value[np.argsort(one.units.sets)] > 0
    b = other.values.value[np.argsort(other.units.sets)] > 0
    return int((a & b).sum()), int((a & ~b).sum()), int((~a & b).sum()), int((~a & ~b).sum())


def _same_rows(one: Quantity, other: Quantity) -> bool:
    def sets(quantity: Quantity) -> list[Ints]:
        return [sample.units.sets for sample in quantity.samples]

    mine, theirs = sets(one), sets(other)
    return len(mine) == len(theirs) and all(map(np.array_equal, mine, theirs))


def _record(quantity: Quantity, value: float, interval: Interval, bounds: tuple[float, float]) -> Measure:
    return Measure(
        **quantity.answering.key,
        measure=quantity.measure,
        slice=dict(quantity.slice),
        value=value,
        low=interval.low,
        high=interval.high,
        level=interval.level,
        interval=interval.method,
        reason=interval.reason,
        bound_low=bounds[0],
        bound_high=bounds[1],
        n_sets=quantity.n_sets,
        n_items=len(quantity.items),
        statuses=quantity.statuses(),
    )
