"""`veridical import`: logs of other harnesses, judged as runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veridical.cli.options import DrawSeed, Json


def command(
    harness: Annotated[str, typer.Argument(metavar="HARNESS", help="lm-eval, inspect or helm.")],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A log file, or a folder of logs.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="RUN", help="A new folder; with logs of several models, a study of runs."),
    ],
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="What to call the model. Default: as in the log.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", metavar="NAME", help="The harness's score, 0 or 1, that says what is right."),
    ] = None,
    seed: DrawSeed = 0,
    json: Json = False,
) -> None:
    """Read lm-eval, Inspect or HELM logs as runs, with no model; 'veridical judge RUN --sets FIELD' goes on."""
    from veridical.cli.console import errors, measures_document, print_json, results
    from veridical.interop.imports.importing import import_logs
    from veridical.report.imported import render, told
    from veridical.runs.progress import Terminal

    console = errors()
    done = import_logs(harness, path, out, model=model, metric=metric, seed=seed, progress=Terminal(console))
    for line in told(done.imported):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if json:
        document = measures_document(str(done.study.path), done.study.judgement)
        imported = [
            {"run": str(folder), "model": name, **origin.model_dump(mode="json")}
            for folder, name, origin in done.imported
        ]
        print_json({**document, "schema": "veridical.import/1", "imported": imported})
        return
    results().print(render(done.imported))
    typer.echo(f"\nreport: {done.study.report}")
