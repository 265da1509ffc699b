"""`veridical lm-eval`: the harness's own tasks on our engine."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from veridical.cli.loading_options import OF_CLUSTERS, OF_SERVERS, with_load_settings
from veridical.cli.options import Json, Models
from veridical.models import LoadSettings


@with_load_settings("generation_header", *OF_SERVERS, *OF_CLUSTERS)
def command(
    model: Models,
    tasks: Annotated[
        list[str],
        typer.Option("--tasks", metavar="T", help="Tasks, groups, tags, patterns or YAML files; repeatable, or T,T."),
    ],
    include_path: Annotated[
        list[Path] | None,
        typer.Option("--include-path", metavar="DIR", help="A folder of tasks of your own; repeatable."),
    ] = None,
    num_fewshot: Annotated[
        int | None, typer.Option("--num-fewshot", metavar="K", min=0, help="Examples. Default: each task's own.")
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option("--limit", metavar="N", help="Documents a task; below 1 a share of them. For trials."),
    ] = None,
    apply_chat_template: Annotated[
        bool, typer.Option("--apply-chat-template", help="Put the tasks as a chat, with the model's own template.")
    ] = False,
    system_instruction: Annotated[
        str | None, typer.Option("--system-instruction", metavar="TEXT", help="Goes before each task's description.")
    ] = None,
    fewshot_as_multiturn: Annotated[
        bool | None,
        typer.Option(
            "--fewshot-as-multiturn/--no-fewshot-as-multiturn", help="Examples as turns. Default: with a template."
        ),
    ] = None,
    gen_kwargs: Annotated[
        list[str] | None,
        typer.Option("--gen-kwargs", metavar="K=V", help="Over the tasks' settings of generation; repeatable."),
    ] = None,
    *,
    loading: LoadSettings,
    max_length: Annotated[
        int | None,
        typer.Option("--max-length", metavar="N", min=1, help="Where contexts are cut. Default: as the harness says."),
    ] = None,
    think_end_token: Annotated[
        str | None, typer.Option("--think-end-token", metavar="TEXT", help="What ends a block of thinking.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", metavar="N", min=0, help="All seeds of the harness. Default: its own.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where the harness's files go. Default: studies/lm-eval-TASKS-TIME."),
    ] = None,
    log_samples: Annotated[
        bool, typer.Option("--log-samples", help="Save every document's answers, which judging sets needs.")
    ] = False,
    predict_only: Annotated[bool, typer.Option("--predict-only", help="Save answers; compute no metric.")] = False,
    confirm_run_unsafe_code: Annotated[
        bool, typer.Option("--confirm-run-unsafe-code", help="Let tasks run code that the model writes.")
    ] = False,
    json: Json = False,
) -> None:
    """Run tasks of lm-evaluation-harness on Veridical's engine: its numbers and its files."""
    from veridical.cli.console import print_json
    from veridical.errors import UserError
    from veridical.interop.harness.run import ModelSettings, Settings, as_json, find_tasks, run_tasks
    from veridical.studies.loading import Loading
    from veridical.studies.study import default_out

    if limit is not None and not 0 < limit < math.inf:
        raise UserError(f"--limit {limit:g}: give a number of documents, or a share of them between 0 and 1")
    generation = _generation(gen_kwargs or [])
    Loading(loading).check(model, ("loglikelihood",), local=True)
    found = find_tasks(tasks, include_path or [])
    folder = out or default_out(["lm-eval", *found.names])
    evaluated = []
    for one in model:
        evaluated.append(
            run_tasks(
                found,
                one,
                settings=Settings(
                    num_fewshot=num_fewshot,
                    limit=limit,
                    apply_chat_template=apply_chat_template,
                    system_instruction=system_instruction,
                    fewshot_as_multiturn=fewshot_as_multiturn,
                    gen_kwargs=generation,
                    seed=seed,
                    predict_only=predict_only,
                    confirm_run_unsafe_code=confirm_run_unsafe_code,
                ),
                model_settings=ModelSettings(loading, max_length, think_end_token),
                out=folder,
                log_samples=log_samples,
            )
        )
        if not json:
            _print(evaluated[-1].model, evaluated[-1].results)
    if json:
        print_json({"schema": "veridical.lm-eval/1", "results": {e.model: as_json(e.results) for e in evaluated}})
        return
    for path in (path for e in evaluated for path in e.files):
        typer.echo(f"saved: {path}")


def _print(model: str, results: dict[str, object]) -> None:
    """The harness's own tables."""
    from lm_eval.utils import make_table

    from veridical.errors import printable

    typer.echo(f"{printable(model)}\n\n{make_table(results)}")
    if results.get("groups"):
        typer.echo(make_table(results, "groups"))


def _generation(pairs: list[str]) -> dict[str, object]:
    import json

    from veridical.errors import UserError

    settings: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise UserError(f"--gen-kwargs {pair!r}: give NAME=VALUE, as in max_gen_toks=64")
        try:
            settings[name.strip()] = json.loads(value)
        except ValueError:
            settings[name.strip()] = {"True": True, "False": False, "None": None}.get(value, value)
    return settings
