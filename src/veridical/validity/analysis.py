"""The whole analysis of a table of scores, and the files that tell of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from veridical.errors import UserError
from veridical.runs.files import json_bytes, make_folder, parquet_bytes, replace, slug
from veridical.stats.units import Floats
from veridical.validity.attainable import attainable
from veridical.validity.axes import axis_answers
from veridical.validity.canonical import in_canonical_order
from veridical.validity.comparison import comparisons
from veridical.validity.intervals import FEW_FAMILIES
from veridical.validity.joint_gain import joint_gains
from veridical.validity.leave_family_out import gains
from veridical.validity.long_table import long_names
from veridical.validity.metrics import metric_agreements
from veridical.validity.models_file import with_models
from veridical.validity.partial import partials
from veridical.validity.predicted import Predicted
from veridical.validity.quality import quality
from veridical.validity.ranks import agreements, correlations, rankings
from veridical.validity.reading import read_raw
from veridical.validity.reliability import disattenuated, reliabilities
from veridical.validity.results import Note, Validity
from veridical.validity.roles import Roles, read_roles, with_flags
from veridical.validity.specificity import specificity
from veridical.validity.table import ScoreTable, table_of
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
    beside = agreements(table)
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
                beside,
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
        correlations=tuple(pairs),
        rankings=tuple(ranked),
        agreements=tuple(beside),
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


def validity(
    scores: str | Path,
    *,
    roles: str | Path | Roles | None = None,
    model: str = "",
    family: str = "",
    size: str = "",
    benchmarks: Sequence[str] = (),
    controls: Sequence[str] = (),
    outcomes: Sequence[str] = (),
    variants: Sequence[str] = (),
    jointly: Sequence[str] = (),
    benchmark_column: str = "",
    score_column: str = "",
    split: Sequence[str] = (),
    duplicates: str = "",
    missing: Sequence[str] = (),
    models: str | Path | None = None,
    draws: int = DRAWS,
    seed: int = 0,
) -> Analysis:
    """Criterion validity of the benchmarks in `scores`: a table's file, or a folder of runs.

    `roles` is a YAML file or `Roles`; the other arguments go over it, as on the command line. `models` is a file of
    models with families and sizes, written with suggestions where it is not there. Raises UserError where the table,
    the roles or that file are at fault.
    """
    from veridical.validity.studies import MODELS, read_study

    given = roles if isinstance(roles, Roles) else Roles() if roles is None else read_roles(Path(roles))
    path = Path(scores)
    study = read_study(path) if path.is_dir() else None
    raw = study.raw if study else read_raw(path)
    if models is not None:
        if study:
            raise UserError(f"--models: a study has its own, {path / MODELS}; put families and sizes right there")
        raw = with_models(raw, model or given.model, Path(models))
    shaped = with_flags(
        given,
        raw.frame.columns,
        model=model,
        benchmark_column=benchmark_column,
        score_column=score_column,
        split=split,
        duplicates=duplicates,
        missing=missing,
    )
    known = [*raw.frame.columns, *long_names(raw, shaped)]
    chosen = with_flags(
        shaped,
        known,
        model=model,
        family=family,
        size=size,
        benchmarks=benchmarks,
        controls=controls,
        outcomes=outcomes,
        variants=variants,
        jointly=jointly,
    )
    if study is None:
        return analyse(table_of(raw, chosen), draws=draws, seed=seed)
    table = table_of(raw, study.roles(chosen))
    notes = [note for note in study.notes if not set(note.where).isdisjoint(table.names)]
    return analyse(table, answers=study.answers, notes=notes, draws=draws, seed=seed)


def default_out(scores: str | Path) -> Path:
    """`STUDY/validity` for a folder of runs, `studies/<name>-validity` in the working folder for a file."""
    path = Path(scores)
    return path / "validity" if path.is_dir() else Path("studies") / f"{slug(path.stem)}-validity"


def write(analysis: Analysis, folder: Path) -> Path:
    """Write `validity.json`, `predictions.parquet` and the page `validity.html`; gives the page's path."""
    from veridical.report.validity import write_page

    make_folder(folder)
    replace(folder / "validity.json", json_bytes(analysis.record.model_dump(mode="json")))
    if analysis.predicted:
        replace(folder / "predictions.parquet", parquet_bytes(analysis.predictions()))
    return write_page(folder / "validity.html", analysis)
