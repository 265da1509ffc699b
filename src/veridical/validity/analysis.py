"""The whole analysis of a table of scores, and the files that report it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from veridical.stats.units import Floats
from veridical.validity.attainable import attainable
from veridical.validity.axes import axis_answers
from veridical.validity.canonical import in_canonical_order
from veridical.validity.comparison import comparisons
from veridical.validity.intervals import FEW_FAMILIES
from veridical.validity.joint_gain import joint_gains
from veridical.validity.leave_family_out import gains
from veridical.validity.metrics import metric_agreements
from veridical.validity.partial import partials
from veridical.validity.predicted import Predicted
from veridical.validity.quality import quality
from veridical.validity.ranks import agreements, correlations, rankings
from veridical.validity.reliability import disattenuated, reliabilities
from veridical.validity.results import Note, Validity
from veridical.validity.specificity import specificity
from veridical.validity.table import ScoreTable
from veridical.validity.verdict import verdicts

DRAWS = 10_000


@dataclass(frozen=True)
class Analysis:
    """What was found, and the held-out predictions behind it."""

    table: ScoreTable
    record: Validity
    predicted: tuple[Predicted, ...] = field(repr=False)

    def predictions(self) -> pl.DataFrame:
        """One row a held-out prediction."""
        frames = [
            pl.DataFrame(
                {
                    "benchmark": one.benchmark,
                    "outcome": one.outcome,
                    "baseline": one.baseline,
                    "model": [m for m, there in zip(self.table.models, one.rows, strict=True) if there],
                    "family": [f for f, there in zip(self.table.families, one.rows, strict=True) if there],
                    "observed": one.observed,
                    "mean": one.mean,
                    "without": one.without,
                    "with_benchmark": one.with_benchmark,
                }
            )
            for one in self.predicted
        ]
        return pl.concat(frames) if frames else pl.DataFrame()


def analyse(
    table: ScoreTable,
    *,
    answers: Mapping[str, Floats] | None = None,
    notes: Sequence[Note] = (),
    draws: int = DRAWS,
    seed: int = 0,
) -> Analysis:
    """Everything that the table's roles ask for.

    `answers` are scores of sets by column, (models, sets); `notes` are faults of the data that the table does not show.
    The order of rows and columns changes nothing: models are taken by family and name (`in_canonical_order`).
    """
    table, answers = in_canonical_order(table, answers)
    pairs = correlations(table)
    ranked = rankings(table, answers, seed)
    ranks_agree = agreements(table)
    partial = partials(table, draws, seed) if table.roles.outcomes else []
    gained, predicted = gains(table, draws, seed) if table.roles.outcomes else ([], [])
    compared, together = comparisons(table, draws, seed) if table.roles.outcomes else ([], [])
    joint = joint_gains(table, draws, seed) if table.roles.outcomes else []
    specific = specificity(table.roles, partial, gained, draws, seed)
    reliable = reliabilities(table, answers, seed)
    families = len(table.family_names)
    reach = attainable(gained, partial, compared, together, specific, joint)
    metrics = metric_agreements(gained)
    axes = axis_answers(table.roles, partial, gained, draws, seed)
    # Outcomes that few families have leave few to resample.
    widest = max((gain.families for gain in gained), default=families)
    record = Validity(
        source=table.source,
        models=len(table.models),
        families=families,
        columns=table.names,
        benchmarks=table.roles.predictors,
        controls=table.roles.controls,
        outcomes=dict(table.roles.outcomes),
        lead="leave one family out" if widest < FEW_FAMILIES else "family bootstrap",
        draws=draws,
        seed=seed,
        verdicts=tuple(
            verdicts(
                tuple(table.roles.outcomes),
                draws,
                partial,
                ranks_agree,
                ranked,
                gained,
                compared,
                together,
                specific,
                axes,
                metrics,
                reach,
                joint,
            )
        ),
        quality=(*notes, *quality(table)),
        account=table.account,
        correlations=tuple(pairs),
        rankings=tuple(ranked),
        agreements=tuple(ranks_agree),
        partials=tuple(partial),
        gains=tuple(gained),
        comparisons=tuple(compared),
        joint_gains=tuple(joint),
        pooled_comparisons=tuple(together),
        specificity=tuple(specific),
        axes=tuple(axes),
        metrics=tuple(metrics),
        attainable=tuple(reach),
        reliabilities=tuple(reliable),
        disattenuated=tuple(disattenuated(pairs, reliable)),
    )
    return Analysis(table, record, tuple(predicted))
