"""The records of a validity analysis: what `validity.json` and `--json` hold, in strict JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from veridical.items import Frozen
from veridical.judge.measure import Finite
from veridical.validity.inference import Span, Tested
from veridical.validity.summaries import (
    Attainable,
    AxisAnswer,
    Baseline,
    JointGain,
    MetricAgreement,
    PooledComparison,
    Relation,
    Specificity,
)

NoteKind = Literal[
    "benchmarks",
    "duplicate",
    "same model",
    "same family",
    "same column",
    "items",
    "missing",
    "constant",
    "ceiling",
    "floor",
    "singleton family",
    "column",
    "composite",
    "notation",
    "sentinel",
    "scale",
]


class Note(Frozen):
    """Something about the data that a conclusion depends on; `where` names columns, models or families."""

    kind: NoteKind
    where: tuple[str, ...]
    message: str


class Correlation(Frozen):
    """Spearman's rho and Kendall's tau-b of two columns over the `n` models that have both."""

    first: str
    second: str
    n: int
    rho: Finite | None
    tau: Finite | None
    interval: Span
    test: Tested | None


class RankMove(Frozen):
    """A model's rank on the original and on the reworked version, 1 the best."""

    model: str
    original: Finite
    reworked: Finite


class RankedModel(Frozen):
    """A model's rank in a column (1 the best; ties share), with its interval where items are known."""

    model: str
    score: Finite
    rank: Finite
    low: Finite | None = None
    high: Finite | None = None


class Ranking(Frozen):
    """One column as a ranking. `pairs` counts pairs of models, `inseparable` those whose scores do not differ clearly,
    `neighbours` those of them that follow each other in the ranking; null where the number of items is not known.
    `alike` names the inseparable pairs, where there are at most 60 models (for more, the neighbours among them)."""

    column: str
    method: str
    models: tuple[RankedModel, ...]
    pairs: int
    inseparable: int | None = None
    neighbours: int | None = None
    alike: tuple[tuple[str, str], ...] = ()


class RankAgreement(Frozen):
    """How a reworked version ranks models compared with the original, over the models that have both."""

    reworked: str
    original: str
    n: int
    rho: Finite | None
    tau: Finite | None
    interval: Span
    moves: tuple[RankMove, ...]


class Partial(Frozen):
    """Partial Spearman correlation of a benchmark and an outcome given size, family and the mean control.

    `df` is n − 2 − `controls`; `p_student` is by Student's t on it. `test` is by permutation (Freedman–Lane). `plain`
    is rho without any controls, over the same models. `singletons` counts models that are alone in their family.
    """

    benchmark: str
    outcome: str
    n: int
    controls: int
    df: int
    rho: Finite | None
    plain: Finite | None
    p_student: Finite | None
    interval: Span
    test: Tested | None
    singletons: int


class Accuracy(Frozen):
    """How well pooled held-out predictions meet an outcome. `mae` and `rmse` are in the outcome's unit; `r2` is
    1 − SSE / Σ(y − mean of the training families)²; `rho` is Spearman's, null where predictions are constant."""

    mae: Finite
    rmse: Finite
    r2: Finite | None
    rho: Finite | None


class Gain(Frozen):
    """What a benchmark adds to a baseline for predicting an outcome, with each family left out in turn.

    Gains are positive where the benchmark helps. `test` (one-sided) and `interval` are of the MAE gain, `r2_test`,
    `r2_interval`, `rho_test` and `rho_interval` likewise of those in R² and Spearman's rho, by the same permutations;
    `p_squared` is the p of the RMSE gain too, since RMSE and R² order alike. `flip` is the exact two-sided sign flip of
    the families' gains. `influence` is the MAE gain over the other families' predictions, by the family left out.
    `fixed` counts models alone in their family, which no permutation moves. `relation` is the sign of the benchmark's
    slope, given the baseline, in the fits without each family ("mixed" where they differ), and `slope` their mean in
    standard deviations: a gain through a negative relation says that models that score higher score lower on the
    outcome.
    """

    benchmark: str
    outcome: str
    baseline: Baseline
    n: int
    families: int
    fixed: int
    mean: Accuracy
    without: Accuracy
    with_benchmark: Accuracy
    relation: Relation = "none"
    slope: Finite = 0.0
    mae_gain: Finite
    rmse_gain: Finite
    r2_gain: Finite | None
    rho_gain: Finite | None
    interval: Span
    test: Tested | None
    p_squared: Finite | None
    r2_test: Tested | None = None
    r2_interval: Span = Span(method="not estimable")
    rho_test: Tested | None = None
    rho_interval: Span = Span(method="not estimable")
    flip: Tested
    influence: Mapping[str, Finite]


class VersionComparison(Frozen):
    """Does the reworked version predict better than the original? Differences are reworked less original, on the same
    models; positive where the reworked version is better. `gain_test` and `rho_test` exchange the two columns within
    models; `gain_flip` flips the signs of the families' differences. `rho_reworked` and `rho_original` are the partial
    correlations themselves: where they are negative, the greater difference is the weaker relation.

    `beyond` is the MAE gain of the reworked version over the baseline with the original in it.
    """

    reworked: str
    original: str
    outcome: str
    n: int
    rho_difference: Finite | None
    rho_interval: Span
    rho_test: Tested | None
    gain_difference: Finite
    gain_interval: Span
    gain_test: Tested | None
    gain_flip: Tested | None = None
    rho_reworked: Finite | None = None
    rho_original: Finite | None = None
    beyond_relation: Relation = "none"
    beyond: Finite
    beyond_test: Tested | None


class Reliability(Frozen):
    """How far a column would rank models alike if its items were drawn again."""

    column: str
    value: Finite
    method: str
    n: int


class Disattenuated(Frozen):
    """A correlation as it would be without noise of the items: the observed one over the root of both reliabilities."""

    first: str
    second: str
    observed: Finite
    value: Finite


class Validity(Frozen):
    """Everything. `lead` says what stands in front: with fewer than 8 families, leaving each out in turn.

    `account` says what became of the rows that were read: `12 rows read = 10 models + 2 left out (…)`.
    """

    model_config = ConfigDict(**Frozen.model_config, populate_by_name=True, serialize_by_alias=True)

    schema_version: Annotated[Literal["veridical.validity/1"], Field(alias="schema")] = "veridical.validity/1"
    source: str
    models: int
    families: int
    columns: tuple[str, ...]
    benchmarks: tuple[str, ...]
    controls: tuple[str, ...]
    outcomes: Mapping[str, str]
    lead: Literal["family bootstrap", "leave one family out"]
    draws: int
    seed: int
    verdicts: tuple[str, ...]
    quality: tuple[Note, ...]
    account: str = ""
    correlations: tuple[Correlation, ...]
    rankings: tuple[Ranking, ...]
    agreements: tuple[RankAgreement, ...]
    partials: tuple[Partial, ...]
    gains: tuple[Gain, ...]
    comparisons: tuple[VersionComparison, ...]
    joint_gains: tuple[JointGain, ...] = ()
    pooled_comparisons: tuple[PooledComparison, ...] = ()
    specificity: tuple[Specificity, ...]
    axes: tuple[AxisAnswer, ...] = ()
    metrics: tuple[MetricAgreement, ...] = ()
    attainable: tuple[Attainable, ...] = ()
    reliabilities: tuple[Reliability, ...]
    disattenuated: tuple[Disattenuated, ...]
