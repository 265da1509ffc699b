"""`veridical readout`: what a linear readout of hidden states recovers, and what the model itself answers."""

from __future__ import annotations

from typing import Annotated

import typer

from veridical.cli.loading_options import OF_SERVERS, with_load_settings
from veridical.cli.options import DataFile, DrawSeed, Json, Models, OutStudy
from veridical.models import LoadSettings


@with_load_settings(*OF_SERVERS)
def command(
    context: typer.Context,
    suite: Annotated[str, typer.Argument(metavar="SUITE", help="A built-in name or a suite file.")],
    model: Models,
    prompt: Annotated[
        str | None, typer.Option("--prompt", metavar="NAME", help="Default: the suite's first without reasoning.")
    ] = None,
    layer: Annotated[
        int, typer.Option("--layer", metavar="N", help="0: the embedding; -2: the penultimate block's output.")
    ] = -2,
    draws: Annotated[
        int | None,
        typer.Option("--draws", metavar="N", min=1, help="Permutations for its null. Default: 1000; cross-fitted 200."),
    ] = None,
    category_draws: Annotated[
        int | None,
        typer.Option("--category-draws", metavar="N", min=1, help="For each other null. Default: 200, or 100."),
    ] = None,
    control_draws: Annotated[
        int, typer.Option("--control-draws", metavar="N", min=1, help="Labellings of the control task.")
    ] = 100,
    data: DataFile = None,
    fit_on: Annotated[
        str | None,
        typer.Option("--fit-on", metavar="SUITE", help="A suite file or name to fit on: a development set."),
    ] = None,
    against: Annotated[
        str, typer.Option("--against", metavar="MODE", help="Answers to compare with: loglikelihood or generate.")
    ] = "loglikelihood",
    max_new_tokens: Annotated[
        int, typer.Option("--max-new-tokens", metavar="N", min=1, help="Where generation stops (--against generate).")
    ] = 512,
    twin: Annotated[
        bool, typer.Option("--twin", help="Also read out the model with random weights, from --seed, as a control.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N_SETS", min=1, help="Read this many item sets only.")
    ] = None,
    seed: DrawSeed = 0,
    *,
    loading: LoadSettings,
    out: OutStudy = None,
    json: Json = False,
) -> None:
    """Fit linear readouts to hidden states, with nulls, baselines and controls, and judge them together with the
    answers."""
    from veridical.cli.console import errors, show_study
    from veridical.cli.resuming import resumable
    from veridical.progress import Terminal
    from veridical.studies.readout import readout
    from veridical.studies.study import default_out

    study_folder = out or default_out([suite])
    with resumable(context.obj, study_folder, named=out is not None):
        study = readout(
            suite,
            model=model,
            prompt=prompt,
            layer=layer,
            draws=draws,
            category_draws=category_draws,
            control_draws=control_draws,
            data=data,
            fit_on=fit_on,
            against=against,  # type: ignore[arg-type]  # checked there, with the nearest name
            max_new_tokens=max_new_tokens,
            twin=twin,
            limit=limit,
            seed=seed,
            out=study_folder,
            progress=Terminal(errors()),
            **loading.options(),
        )
    show_study(study, json=json)
    if study.failed:
        raise typer.Exit(1)
