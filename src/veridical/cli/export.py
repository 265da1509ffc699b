"""`veridical export`: suites for other tools."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True, rich_markup_mode=None, help="Suites as tasks of lm-eval or Inspect, or as plain JSONL."
)

SuiteName = Annotated[str, typer.Argument(metavar="SUITE", help="A built-in name or a suite file.")]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="A folder that is not there yet.")]
DataOption = Annotated[
    Path | None, typer.Option("--data", metavar="FILE", help="Your copy of the suite's published data.")
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", metavar="DIR", help="A folder of published files; each benchmark finds its own."),
]


@app.command("lm-eval")
def lm_eval(
    suite: SuiteName,
    out: Out,
    prompt: Annotated[
        list[str] | None,
        typer.Option("--prompt", metavar="NAME", help="Repeatable. Default: all that are scored by log-likelihood."),
    ] = None,
    orders: Annotated[
        int, typer.Option("--orders", metavar="N", min=0, help="Label orders, each a task of its own; 0: all.")
    ] = 1,
    data: DataOption = None,
    data_dir: DataDir = None,
) -> None:
    """Write a task folder that lm-evaluation-harness runs unchanged."""
    from veridical.cli.console import errors
    from veridical.errors import printable
    from veridical.interop.exports.lm_eval import export_lm_eval
    from veridical.suites import registry

    read, notes = registry.read(suite, registry.Data(file=data, folder=data_dir))
    exported = export_lm_eval(read, out, prompts=prompt or None, orders=orders)
    for note in (*notes, *exported.notes):
        errors().print(printable(note), markup=False, highlight=False, soft_wrap=True)
    typer.echo(f"{exported.n_items:,} items as {len(exported.tasks)} tasks: {', '.join(exported.tasks)}")
    typer.echo(f"written: {printable(str(out))}")


@app.command("inspect")
def inspect(
    suite: SuiteName,
    out: Out,
    prompt: Annotated[
        list[str] | None,
        typer.Option("--prompt", metavar="NAME", help="Repeatable. Default: all that are answered in writing."),
    ] = None,
    orders: Annotated[
        int | None,
        typer.Option("--orders", metavar="N", min=0, help="Label orders; 0: all. Default: the prompt's own."),
    ] = None,
    max_new_tokens: Annotated[
        int, typer.Option("--max-new-tokens", metavar="N", min=1, help="Where an answer stops.")
    ] = 512,
    data: DataOption = None,
    data_dir: DataDir = None,
) -> None:
    """Write a task that 'inspect eval' runs unchanged; its log is judged as a run of ours."""
    from veridical.cli.console import errors
    from veridical.errors import printable
    from veridical.interop.exports.inspect import SUITE, export_inspect
    from veridical.suites import registry

    read, notes = registry.read(suite, registry.Data(file=data, folder=data_dir))
    exported = export_inspect(read, out, prompts=prompt or None, orders=orders, max_new_tokens=max_new_tokens)
    for note in notes:
        errors().print(printable(note), markup=False, highlight=False, soft_wrap=True)
    folder, suite_file = shlex.quote(printable(str(out))), shlex.quote(printable(str(out / SUITE)))
    typer.echo(
        f"{exported.n_items:,} items as {exported.n_samples:,} samples\nwritten: {printable(str(out))}\n"
        f"to ask them: cd {folder} && inspect eval {exported.file.name} --model PROVIDER/NAME\n"
        f"to judge the log: veridical import inspect LOG --suite {suite_file} --out RUN"
    )


@app.command("jsonl")
def jsonl(suite: SuiteName, out: Out, data: DataOption = None, data_dir: DataDir = None) -> None:
    """Write one row an item, and the suite file that 'veridical run' reads."""
    from veridical.cli.console import errors
    from veridical.errors import printable
    from veridical.interop.exports.jsonl import SUITE, export_jsonl
    from veridical.suites import registry

    read, notes = registry.read(suite, registry.Data(file=data, folder=data_dir))
    exported = export_jsonl(read, out)
    for note in notes:
        errors().print(printable(note), markup=False, highlight=False, soft_wrap=True)
    command = f"veridical run {shlex.quote(printable(str(out / SUITE)))} --model MODEL"
    typer.echo(f"{exported.n_items:,} items\nwritten: {printable(str(out))} (to ask them: {command})")
