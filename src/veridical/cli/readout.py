"""`veridical readout`: what a linear readout of hidden states recovers, beside what the model answers."""

from __future__ import annotations

from typing import Annotated

import typer

from veridical.cli.options import (
    BatchTokens,
    Device,
    DrawSeed,
    Dtype,
    GenerationHeader,
    Json,
    Models,
    OutStudy,
    TemplateArguments,
)


def command(
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A built-in name or a suite file.")],
    model: Models,
    prompt: Annotated[
        str | None, typer.Option("--prompt", metavar="NAME", help="Default: the suite's first without reasoning.")
    ] = None,
    layer: Annotated[
        int, typer.Option("--layer", metavar="N", help="0: the embedding; -2: the penultimate block's output.")
    ] = -2,
    draws: Annotated[
        int, typer.Option("--draws", metavar="N", min=1, help="Permutations for the readout's null.")
    ] = 1_000,
    category_draws: Annotated[
        int, typer.Option("--category-draws", metavar="N", min=1, help="Permutations for each null beside it.")
    ] = 200,
    control_draws: Annotated[
        int, typer.Option("--control-draws", metavar="N", min=1, help="Labellings of the control task.")
    ] = 100,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N_SETS", min=1, help="Read this many item sets only.")
    ] = None,
    seed: DrawSeed = 0,
    dtype: Dtype = "float32",
    device: Device = "auto",
    out: OutStudy = None,
    json: Json = False,
    batch_tokens: BatchTokens = None,
    template_arg: TemplateArguments = None,
    generation_header: GenerationHeader = None,
) -> None:
    """Fit linear readouts to hidden states, with nulls, baselines and controls, and judge them beside the answers."""
    from veridical.cli.console import errors, measures_document, print_json, print_tables
    from veridical.prompts.chat import parse_template_arguments
    from veridical.readouts.readout import readout
    from veridical.runs.progress import Terminal

    study = readout(
        suite,
        model=model,
        prompt=prompt,
        layer=layer,
        draws=draws,
        category_draws=category_draws,
        control_draws=control_draws,
        limit=limit,
        seed=seed,
        dtype=dtype,
        device=device,
        out=out,
        batch_tokens=batch_tokens,
        template_args=parse_template_arguments(template_arg or [], generation_header),
        progress=Terminal(errors()),
    )
    if json:
        print_json(measures_document(str(study.path), study.judgement))
    else:
        print_tables(study.judgement)
        typer.echo(f"\nreport: {study.report}")
    if study.failed:
        raise typer.Exit(1)
