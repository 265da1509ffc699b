"""`veridical review`: sheets for human raters, and their agreement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veridical.cli.options import Json

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Blinded sheets for human raters, and agreement.")


@app.command("sheet")
def sheet(
    source: Annotated[
        str, typer.Argument(metavar="RUN_OR_FILE", help="A run or study folder, a suite file or a built-in suite.")
    ],
    raters: Annotated[int, typer.Option("--raters", metavar="N", min=1, help="A sheet for each of them.")] = 3,
    sample: Annotated[
        int | None,
        typer.Option(
            "--sample",
            metavar="N",
            min=1,
            help="Items to rate, or as many whole sets as fit where sets are judged. Default: all.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder. Default: review-SUITE.")
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, help="Chooses the sample, the orders and the ids.")
    ] = 0,
    suite: Annotated[
        str | None, typer.Option("--suite", metavar="NAME", help="Which suite, of a folder that holds several.")
    ] = None,
) -> None:
    """Write blinded sheets, as CSV and as forms that work offline."""
    from veridical.review.sheets import source_suite, write_sheets

    written = write_sheets(source_suite(source, suite), raters, sample, seed, out)
    typer.echo(
        f"sheets: {written.folder} ({len(written.key.items):,} items, {raters} raters): give these to the raters"
    )
    typer.echo(f"key:    {written.key_file}: keep this to yourself")


@app.command("agreement")
def agreement(
    sheets: Annotated[
        list[Path], typer.Argument(metavar="SHEETS", help="Filled-in CSV files, or folders that hold them.")
    ],
    key: Annotated[
        Path | None,
        typer.Option("--key", metavar="FILE", help="The key. Default: key.json in the sheets' folder or above."),
    ] = None,
    json: Json = False,
) -> None:
    """How far raters agree, with each other and with the suite."""
    from dataclasses import asdict

    from veridical.cli.console import print_json, results
    from veridical.review.agreement import agreement as measure
    from veridical.review.tables import render

    found = measure(sheets, key)
    if json:
        print_json({"schema": "veridical.agreement/1", **asdict(found)})
    else:
        results().print(render(found))
