"""The records that bring many pairs of benchmark and outcome together: by pair of versions, by axis, by metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from veridical.items import Frozen
from veridical.judge.measure import Finite
from veridical.validity.inference import Span, Tested

GainMetric = Literal["MAE", "R²", "ρ"]
Baseline = Literal["size", "size + controls"]
Relation = Literal["positive", "negative", "mixed", "none"]


class MetricFinding(Frozen):
    """What one metric of held-out predictions says for an outcome: which benchmarks add after Holm, and of all the one
    that gains most, with its gain and p. `best` is null where no gain is known."""

    metric: GainMetric
    adds: tuple[str, ...]
    best: str | None
    gain: Finite | None
    test: Tested | None


class MetricAgreement(Frozen):
    """MAE, R² and Spearman's rho for one outcome over one baseline. `agree`: the same benchmarks add by all."""

    outcome: str
    baseline: str
    findings: tuple[MetricFinding, ...]
    agree: bool


class Attainable(Frozen):
    """What a kind of test can reach at best with this design, whatever is true: its smallest p over its tests, alone
    and after Holm over all `tests`; `possible` is whether that can be .05 or less."""

    question: str
    null: str
    tests: int
    least: Finite
    least_holm: Finite
    possible: bool


class Contribution(Frozen):
    """What one benchmark of a set adds once the baseline and the others of the set are known; its sign, and its mean
    slope in standard deviations among them."""

    benchmark: str
    mae_gain: Finite
    relation: Relation
    slope: Finite
    test: Tested | None


class JointGain(Frozen):
    """What several benchmarks add together to a baseline. `test` permutes them together within families (one-sided, of
    the MAE gain); its p is adjusted over sets and outcomes, those of `contributions` over all of them."""

    name: str
    benchmarks: tuple[str, ...]
    outcome: str
    baseline: Baseline
    n: int
    families: int
    mae_without: Finite
    mae_gain: Finite
    r2_gain: Finite | None
    rho_gain: Finite | None
    interval: Span
    test: Tested | None
    flip: Tested | None
    contributions: tuple[Contribution, ...]


class AxisAnswer(Frozen):
    """One axis: its outcomes, the benchmarks meant for it, and which benchmarks add to its outcomes after Holm.

    `own` and `others` are mean partial rhos of the axis's benchmarks and of the rest with the axis's outcomes.
    `difference` is the mean over the axis's own pairs of what is left once the mean of each benchmark and each outcome
    is taken out, with its test, where there is one.
    """

    axis: str
    outcomes: tuple[str, ...]
    benchmarks: tuple[str, ...]
    adds: Mapping[str, tuple[str, ...]]
    own: Finite | None
    others: Finite | None
    difference: Finite | None
    test: Tested | None


class Specificity(Frozen):
    """Does a benchmark predict outcomes of its own axis better than others?

    `within`, `across` and their difference are means over pairs of what is left of the statistic once the mean of each
    benchmark and of each outcome is taken out; `raw_within` and `raw_across` are means of the statistic itself, which
    differ where an axis has outcomes that everything predicts well. `common_factor_test` takes out the product of those
    effects too, which is what one factor behind all columns makes.
    """

    statistic: Literal["partial rho", "relative MAE gain"]
    within: Finite
    across: Finite
    difference: Finite
    raw_within: Finite
    raw_across: Finite
    within_pairs: int
    across_pairs: int
    test: Tested
    common_factor_test: Tested


class PooledComparison(Frozen):
    """One test a pair of benchmarks, over all `outcomes`: does the reworked version predict better or worse?

    `gain_difference` is the mean over outcomes of the difference in MAE gain, as a share of the baseline's error;
    `rho_difference` that of the partial correlations. Scores of a model are exchanged for all outcomes alike.
    """

    reworked: str
    original: str
    outcomes: tuple[str, ...]
    models: int
    gain_difference: Finite | None
    gain_interval: Span
    gain_test: Tested | None
    rho_difference: Finite | None
    rho_test: Tested | None
