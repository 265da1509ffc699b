"""`veridical validity`: what the scores of benchmarks predict, over a table of models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veridical.cli.options import DrawSeed, Json


def command(
    scores: Annotated[
        Path,
        typer.Argument(
            metavar="SCORES", help="A table (.csv, .tsv, .parquet, .json; wide or long), or a study folder."
        ),
    ],
    roles: Annotated[
        Path | None, typer.Option("--roles", metavar="FILE", help="YAML: which column is what; flags go over it.")
    ] = None,
    model: Annotated[str, typer.Option("--model", metavar="COL", help="The column that names models.")] = "",
    family: Annotated[str, typer.Option("--family", metavar="COL", help="The column of model families.")] = "",
    size: Annotated[str, typer.Option("--size", metavar="COL", help="The column of model sizes, in one unit.")] = "",
    benchmark: Annotated[
        list[str] | None,
        typer.Option(
            "--benchmark", metavar="COL[:AXIS]", help="A benchmark; repeatable. Default: numeric columns left over."
        ),
    ] = None,
    control: Annotated[
        list[str] | None,
        typer.Option("--control", metavar="COL", help="A score to control for; repeatable."),
    ] = None,
    outcome: Annotated[
        list[str] | None,
        typer.Option("--outcome", metavar="COL[:AXIS]", help="What is to be predicted, and its axis; repeatable."),
    ] = None,
    variant: Annotated[
        list[str] | None,
        typer.Option(
            "--variant", metavar="REWORKED=ORIGINAL", help="A reworked benchmark and its original; repeatable."
        ),
    ] = None,
    jointly: Annotated[
        list[str] | None,
        typer.Option(
            "--jointly", metavar="[NAME=]A,B", help="Benchmarks to look at as one set of predictors; repeatable."
        ),
    ] = None,
    benchmark_column: Annotated[
        str, typer.Option("--benchmark-column", metavar="COL", help="Long tables: the column that names benchmarks.")
    ] = "",
    score_column: Annotated[
        str, typer.Option("--score-column", metavar="COL", help="Long tables: the column of scores.")
    ] = "",
    split_column: Annotated[
        list[str] | None,
        typer.Option(
            "--split-column",
            metavar="COL",
            help="Long tables: a column that divides benchmarks (metric, tag); repeatable.",
        ),
    ] = None,
    duplicates: Annotated[
        str,
        typer.Option("--duplicates", metavar="RULE", help="Several scores of a model: refuse (default), first, mean."),
    ] = "",
    missing: Annotated[
        list[str] | None,
        typer.Option(
            "--missing", metavar="TEXT", help="A cell that stands for no score, such as --missing=-1; repeatable."
        ),
    ] = None,
    models: Annotated[
        Path | None,
        typer.Option(
            "--models",
            metavar="FILE",
            help="A table of model, family, size; written with suggestions where it is not there.",
        ),
    ] = None,
    draws: Annotated[
        int,
        typer.Option("--draws", metavar="N", min=99, max=1_000_000, help="Permutations, and resamples of families."),
    ] = 10_000,
    seed: DrawSeed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="Where page, JSON and predictions go. Default: studies/NAME-validity."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Test what benchmarks predict beyond model size, family and controls, in families not seen."""
    from veridical.cli.console import print_json, results
    from veridical.studies.validity import default_out, validity, write

    analysis = validity(
        scores,
        roles=roles,
        model=model,
        family=family,
        size=size,
        benchmarks=benchmark or (),
        controls=control or (),
        outcomes=outcome or (),
        variants=variant or (),
        jointly=jointly or (),
        benchmark_column=benchmark_column,
        score_column=score_column,
        split=split_column or (),
        duplicates=duplicates,
        missing=missing or (),
        models=models,
        draws=draws,
        seed=seed,
    )
    page = write(analysis, out or default_out(scores))
    if json:
        print_json(analysis.record.model_dump(mode="json"))
        return
    from veridical.report.validity_tables import render

    results().print(render(analysis.record))
    typer.echo(f"\nreport: {page}")
