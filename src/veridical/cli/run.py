"""`veridical run`: ask, store, judge, print, write the report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veridical.cli.loading_options import with_load_settings
from veridical.cli.options import MODEL, DataFile, Json, OutStudy
from veridical.models import LoadSettings


@with_load_settings()
def command(
    context: typer.Context,
    suite: Annotated[
        list[str], typer.Argument(metavar="SUITE", help="Built-in names, suite files or tables, or a recipe (*.yaml).")
    ],
    model: Annotated[list[str] | None, MODEL] = None,
    prompt: Annotated[
        list[str] | None,
        typer.Option("--prompt", metavar="NAME", help="A prompt to ask; repeatable. Default: all that fit."),
    ] = None,
    mode: Annotated[
        list[str] | None,
        typer.Option("--mode", metavar="MODE", help="loglikelihood (the default), generate or classify; repeatable."),
    ] = None,
    data: DataFile = None,
    data_dir: Annotated[
        Path | None,
        typer.Option("--data-dir", metavar="DIR", help="A folder of published files; each benchmark finds its own."),
    ] = None,
    shots: Annotated[
        int, typer.Option("--shots", metavar="K", min=0, help="Solved examples before each item of a benchmark.")
    ] = 0,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N_SETS", min=1, help="Ask this many item sets only.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Of the sets of --limit, --shots and resampling.")
    ] = 0,
    text_column: Annotated[
        list[str] | None,
        typer.Option("--text-column", metavar="NAME", help="Of a table: a column of text to show; repeatable."),
    ] = None,
    label_column: Annotated[
        str, typer.Option("--label-column", metavar="NAME", help="Of a table: the column of the right label.")
    ] = "",
    choices: Annotated[
        str | None,
        typer.Option("--choices", metavar="A,B,…", help="Of a table: all labels, or the columns of the options."),
    ] = None,
    set_column: Annotated[
        str, typer.Option("--set-column", metavar="NAME", help="Of a table: rows that share it are judged together.")
    ] = "",
    role_column: Annotated[
        str, typer.Option("--role-column", metavar="NAME", help="Of a table: what a row is within its set.")
    ] = "",
    *,
    loading: LoadSettings,
    out: OutStudy = None,
    json: Json = False,
    orders: Annotated[
        int | None,
        typer.Option("--orders", metavar="N", min=0, help="Label orders; 0: all. Default: the prompt's own."),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", min=1, help="Ask each question N times; what changes is measured.")
    ] = 1,
    max_new_tokens: Annotated[
        int, typer.Option("--max-new-tokens", metavar="N", min=1, help="Where generation stops.")
    ] = 512,
) -> None:
    """Ask models the questions of suites, judge the answers and write the report."""
    from veridical.cli.console import errors, show_study
    from veridical.cli.recipe import given_recipe, named
    from veridical.cli.resuming import resumable
    from veridical.errors import UserError
    from veridical.progress import Terminal
    from veridical.studies.follow import Given, follow
    from veridical.studies.run import run as run_study
    from veridical.studies.study import default_out
    from veridical.suites.tables.options import TableOptions, named_choices

    table = TableOptions(tuple(text_column or ()), label_column, named_choices(choices), set_column, role_column)
    recipe = given_recipe(context, suite)
    if recipe is None and not model:
        raise UserError("Missing option '--model' (see 'veridical run --help')")
    if recipe is not None and table.given:
        raise UserError("a recipe names its suites: options on a table's columns go with the table itself")
    study_folder = out or default_out(suite)
    progress = Terminal(errors())
    with resumable(context.obj, study_folder, named=out is not None):
        if recipe is not None:
            dtype = loading.dtype if named(context, "dtype") else None
            given = Given(model or (), data, data_dir, limit, seed, dtype, loading)
            study = follow(recipe, study_folder, given, progress)
        else:
            study = run_study(
                suite,
                model=model or (),
                prompts=prompt or None,
                mode=mode or ["loglikelihood"],  # type: ignore[arg-type]  # checked there, with the nearest name
                data=data,
                data_dir=data_dir,
                shots=shots,
                limit=limit,
                seed=seed,
                out=study_folder,
                orders=orders,
                repeats=repeats,
                max_new_tokens=max_new_tokens,
                table=table,
                progress=progress,
                **loading.options(),
            )
    show_study(study, json=json)
    if study.failed:
        raise typer.Exit(1)
