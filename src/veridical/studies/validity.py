"""Criterion validity of the benchmarks in a table or a folder of runs, and the files that hold what was found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from veridical.errors import UserError
from veridical.files.parquet_parts import parquet_bytes
from veridical.files.writing import json_bytes, make_folder, replace, slug
from veridical.studies.scores import MODELS, read_study
from veridical.validity.analysis import DRAWS, Analysis, analyse
from veridical.validity.long_table import long_names
from veridical.validity.models_file import with_models
from veridical.validity.reading import read_raw
from veridical.validity.roles import RoleFlags, Roles, read_roles, with_flags
from veridical.validity.table_reading import table_of


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
    flags = RoleFlags(
        model=model,
        family=family,
        size=size,
        benchmarks=benchmarks,
        controls=controls,
        outcomes=outcomes,
        variants=variants,
        jointly=jointly,
        benchmark_column=benchmark_column,
        score_column=score_column,
        split=split,
        duplicates=duplicates,
        missing=missing,
    )
    given = roles if isinstance(roles, Roles) else Roles() if roles is None else read_roles(Path(roles))
    path = Path(scores)
    study = read_study(path) if path.is_dir() else None
    raw = study.raw if study else read_raw(path)
    if models is not None:
        if study:
            raise UserError(f"--models: a study has its own, {path / MODELS}; put families and sizes right there")
        raw = with_models(raw, model or given.model, Path(models))
    known = [*raw.frame.columns, *long_names(raw, with_flags(given, raw.frame.columns, flags.of_long_tables))]
    chosen = with_flags(given, known, flags)
    if study is None:
        return analyse(table_of(raw, chosen), draws=draws, seed=seed)
    filled = study.roles(chosen)
    table = table_of(raw, filled, set(filled.predictors).difference(chosen.predictors))
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
