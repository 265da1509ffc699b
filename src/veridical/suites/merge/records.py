"""Records that are not a mean over answers: matching correctness and the reference line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from veridical.items import Factor
from veridical.judge.answering import Answering
from veridical.judge.constant import constant_label, constant_share
from veridical.judge.estimate import JudgeSettings
from veridical.judge.measure import Measure
from veridical.stats.bootstrap import cluster_totals, percentile_interval, resampled
from veridical.stats.interval import FEWEST_CLUSTERS, Interval, not_estimable, too_few
from veridical.stats.units import Floats
from veridical.suites.merge.matching import Match, highest_matches, match, reachable
from veridical.suites.merge.reference import STEPS, THRESHOLDS, reference_line
from veridical.suites.merge.seeds import SeedAnswers

MATCHING = "matching_correctness"

NOTHING = "nothing was answered"

REFERENCE = "no interval: what variant accuracy would give if errors fell at random"


def matching_correctness(seeds: SeedAnswers, settings: JudgeSettings) -> Iterator[Measure]:
    """The threshold at which SV comes closest to seed accuracy, over the seeds of a slice that have variants.

    With ties, the value is the highest of them, `interval` gives the whole range, which comes first wherever it is
    shown, and slice `{"tied": "lowest"}` has its other end.
    Slice `{"line": "reference"}` is the same of the reference line: what errors at random would give.
    Withheld (null) for a constant responder, whose curve is flat at its seed accuracy whatever it understands.
    """
    answering = seeds.answering
    reason = withheld(answering)
    if reason is not None:
        why = "" if reason == NOTHING else " is right on all variants of a seed or on none"
        yield _record(seeds, settings, None, interval=f"withheld: {reason}{why}", withheld=reason)
        return
    right = int(seeds.seed_right.value.sum())
    found = match(seeds.curve(seeds.right.value), right)
    least, greatest = _reach(seeds, found)
    interval = _bootstrap(seeds, settings)
    tied = ""
    if found.lowest < found.highest:
        tied = f"; tied from {found.lowest / STEPS:.2f} to {found.highest / STEPS:.2f}"
    yield _record(
        seeds,
        settings,
        found.highest,
        low=interval.low,
        high=interval.high,
        level=interval.level,
        interval=interval.method + tied,
        reason=interval.reason,
        tied=(found.lowest / STEPS, found.highest / STEPS) if tied else None,
        bound_low=least / STEPS,
        bound_high=greatest / STEPS,
    )
    yield _record(seeds, settings, found.lowest, {"tied": "lowest"}, interval="the other end of the tie")
    if not seeds.slice:
        line = len(seeds) * reference_line(seeds.n, seeds.variants().values.value.mean())
        yield _record(seeds, settings, match(line, right).highest, {"line": "reference"}, interval=REFERENCE)


def _reach(seeds: SeedAnswers, found: Match) -> tuple[int, int]:
    """The least and the greatest threshold at which the match could be, whatever is missing."""
    low, high = (column.astype(np.int64) for column in (seeds.right.low, seeds.right.high))
    right = int(seeds.seed_right.low.sum()), int(seeds.seed_right.high.sum())
    if right[0] == right[1] and np.array_equal(low, high):
        return found.highest, found.highest
    steps = reachable(seeds.least, low, high, right)
    return steps[0], steps[-1]


def reference(seeds: SeedAnswers) -> Iterator[Measure]:
    """The reference line at every threshold; its bounds are those of variant accuracy put through it."""
    values = seeds.variants().values
    lines = [reference_line(seeds.n, float(column.mean())) for column in (values.value, values.low, values.high)]
    for k, value, low, high in zip(THRESHOLDS, *lines, strict=True):
        yield Measure(
            **seeds.answering.key,
            measure="seed_variant_reference",
            slice={**seeds.slice, "ct": k / STEPS},
            value=float(value),
            interval=REFERENCE,
            bound_low=float(low),
            bound_high=float(high),
            n_sets=len(seeds),
            n_items=len(seeds.variant_items),
            statuses=seeds.answering.statuses(seeds.variant_items),
        )


def withheld(answering: Answering) -> str | None:
    """Why an answering has no matching correctness, None where it has one."""
    share = constant_share(answering)
    if share is None:
        return NOTHING
    record = Measure(
        **answering.key,
        measure=share.measure,
        slice=dict(share.slice),
        value=share.value,
        n_items=len(share.items),
        statuses=share.statuses(),
    )
    label = constant_label(record)
    if label is None:
        return None
    return f"a constant answer ({label})"


def _bootstrap(seeds: SeedAnswers, settings: JudgeSettings) -> Interval:
    """Percentile interval, seeds (or the clusters above them) resampled with their variants."""
    sample = seeds.seeds()
    if sample.units.n_clusters < 2:
        return not_estimable(settings.level)
    if sample.units.n_clusters < FEWEST_CLUSTERS:
        return too_few(sample.units.n_clusters, settings.level)
    terms = [sample.term(), *(seeds.passing(k).term() for k in THRESHOLDS)]
    totals = cluster_totals(terms)[:, 0::2]

    def statistic(summed: Floats) -> Floats:
        return highest_matches(summed[:, 1:], summed[:, 0])

    rng = settings.generator(sorted(seeds.answering.key.items()), MATCHING, sorted(seeds.slice.items()))
    draws = resampled(np.ascontiguousarray(totals), statistic, rng, settings.draws)
    method = "bootstrap over clusters" if sample.units.nested else "bootstrap over sets"
    return percentile_interval(draws, settings.level, method)


def _record(
    seeds: SeedAnswers,
    settings: JudgeSettings,
    k: int | None,
    where: Mapping[str, Factor] | None = None,
    **more: object,
) -> Measure:
    fields: dict[str, object] = {
        **seeds.answering.key,
        "measure": MATCHING,
        "slice": {**seeds.slice, **(where or {})},
        "value": None if k is None else k / STEPS,
        "n_sets": len(seeds),
        "n_items": len(seeds.items),
        "statuses": seeds.answering.statuses(seeds.items),
    }
    return Measure.model_validate(fields | more)
