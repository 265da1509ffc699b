"""`veridical import`: logs of other harnesses, judged as runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from veridical.cli.options import DrawSeed, Json
from veridical.errors import UserError


def command(
    harness: Annotated[
        str,
        typer.Argument(
            metavar="FORMAT", help="lm-eval, inspect, helm, lighteval, every-eval-ever, predictions or scores."
        ),
    ],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A log file, or a folder of logs.")],
    out: Annotated[
        Path,
        typer.Option("--out", metavar="RUN", help="A new folder; with logs of several models, a study of runs."),
    ],
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="What to call the model. Default: as in the log.")
    ] = None,
    id_column: Annotated[str, typer.Option("--id-column", metavar="COL", help="Predictions: the item's id.")] = "",
    gold_column: Annotated[
        str, typer.Option("--gold-column", metavar="COL", help="Predictions: the right answer, or a JSON list.")
    ] = "",
    prediction_column: Annotated[
        str, typer.Option("--prediction-column", metavar="COL", help="Predictions: the model's answer.")
    ] = "",
    score_columns: Annotated[
        list[str] | None,
        typer.Option(
            "--score-columns", metavar="A,B,…", help="Predictions: a column of scores an option, or one of lists."
        ),
    ] = None,
    correct_column: Annotated[
        str, typer.Option("--correct-column", metavar="COL", help="Predictions: whether the answer is right (0, 1).")
    ] = "",
    model_column: Annotated[str, typer.Option("--model-column", metavar="COL", help="Predictions: the model.")] = "",
    task_column: Annotated[str, typer.Option("--task-column", metavar="COL", help="Predictions: the task.")] = "",
    choices_column: Annotated[
        str, typer.Option("--choices-column", metavar="COL", help="Predictions: the options, a list in each row.")
    ] = "",
    labels: Annotated[
        list[str] | None, typer.Option("--labels", metavar="A,B,…", help="Predictions: the options of all rows.")
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option("--metric", metavar="NAME", help="The harness's score, 0 or 1, that says what is right."),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option("--missing", metavar="NUMBER", help="A number that stands for a missing score, such as -999."),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option("--suite", metavar="SUITE", help="inspect: the suite of a task that 'export inspect' wrote."),
    ] = None,
    seed: DrawSeed = 0,
    json: Json = False,
) -> None:
    """Read logs and tables of predictions as runs, with no model; 'veridical judge RUN --sets FIELD' goes on.

    'scores' writes the numbers of results without samples to a .csv, for 'veridical validity'.
    """
    named = {
        "--id-column": id_column,
        "--gold-column": gold_column,
        "--prediction-column": prediction_column,
        "--score-columns": score_columns,
        "--correct-column": correct_column,
        "--model-column": model_column,
        "--task-column": task_column,
        "--choices-column": choices_column,
        "--labels": labels,
    }
    if harness != "predictions" and (flag := next((flag for flag, value in named.items() if value), None)):
        raise UserError(f"{flag} is for predictions, and {harness} is another format: leave it out")
    if suite is not None:
        if harness != "inspect":
            raise UserError(f"--suite is for logs of Inspect, and {harness} is another format: leave it out")
        _suite_log(path, suite, out, model, json=json)
        return
    if harness == "scores":
        _scores(path, out, model, missing or (), json=json)
        return
    from veridical.interop.imports.prediction_columns import PredictionColumns

    columns = PredictionColumns(
        id=id_column,
        gold=gold_column,
        prediction=prediction_column,
        scores=tuple(score_columns or ()),
        correct=correct_column,
        model=model_column,
        task=task_column,
        choices=choices_column,
        labels=tuple(labels or ()),
    )
    from veridical.cli.console import errors, measures_document, print_json, results
    from veridical.interop.imports.importing import import_logs
    from veridical.interop.imports.sentinels import sentinel_values
    from veridical.progress import Terminal
    from veridical.report.imported import remarks, render

    console = errors()
    done = import_logs(
        harness,
        path,
        out,
        model=model,
        columns=columns if harness == "predictions" else None,
        metric=metric,
        missing=sentinel_values(missing or ()),
        seed=seed,
        progress=Terminal(console),
    )
    for line in remarks(done.imported):
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


def _suite_log(path: Path, suite: str, out: Path, model: str | None, *, json: bool) -> None:
    from veridical.cli.console import show_study
    from veridical.interop.imports.inspect_suite import import_suite_log
    from veridical.suites import registry

    show_study(import_suite_log(path, registry.read(suite, registry.Data())[0], out, model=model), json=json)


def _scores(path: Path, out: Path, model: str | None, missing: Sequence[str], *, json: bool) -> None:
    from veridical.cli.console import print_json
    from veridical.interop.imports.score_table import import_scores
    from veridical.interop.imports.sentinels import sentinel_values

    if model is not None:
        raise UserError("--model names the model of a log; a table of scores names each of its own: leave it out")
    table = import_scores(path, out, sentinel_values(missing))
    for reason, count in table.skipped.items():
        typer.echo(f"left out {count:,}: {reason}", err=True)
    for notice in table.notices:
        typer.echo(notice, err=True)
    if json:
        read = {"files": table.files, "numbers": table.numbers, "notices": list(table.notices)}
        counts = {"scores": len(table.scores), "models": list(table.models), "benchmarks": list(table.benchmarks)}
        print_json({"schema": "veridical.scores/1", "table": str(out), **counts, "skipped": dict(table.skipped)} | read)
        return
    models, benchmarks = len(table.models), len(table.benchmarks)
    typer.echo(
        f"{out}: {len(table.scores):,} scores of {models:,} model{'' if models == 1 else 's'} on {benchmarks:,} "
        f"benchmark{'' if benchmarks == 1 else 's'}; veridical validity {out} goes on"
    )
