"""`veridical report`: one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veridical.cli.options import Runs


def command(
    run: Runs,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="FILE.html",
            help="Default: report.html in the first folder; with --sets, report-sets-FIELD.html.",
        ),
    ] = None,
    sets: Annotated[
        str | None,
        typer.Option("--sets", metavar="FIELD", help="Make the item sets of this field, factor or grouping."),
    ] = None,
) -> None:
    """Write what is measured of runs as one self-contained page."""
    from veridical.cli.console import tell_missing
    from veridical.errors import UserError
    from veridical.files.writing import ReadOnlyError, slug, without_link
    from veridical.runs.load import open_runs
    from veridical.studies.judged import Judgement
    from veridical.studies.study import write_page

    judgement = Judgement(tuple(open_runs(run)), sets=sets)
    tell_missing(judgement)
    try:
        # A link at the name that we give is replaced; one that the user names is followed.
        own = run[0] / (f"report-sets-{slug(sets)}.html" if sets else "report.html")
        path = write_page(out or without_link(own), judgement)
    except ReadOnlyError as error:
        raise UserError(f"{error.problem}; name another place with --out FILE.html") from error
    typer.echo(f"report: {path}")
