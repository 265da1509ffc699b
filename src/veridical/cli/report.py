"""`veridical report`: one self-contained page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    run: Annotated[list[Path], typer.Argument(metavar="RUN", help="Run folders, or studies.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE.html", help="Default: report.html in the first folder."),
    ] = None,
) -> None:
    """Write what is measured of runs as one self-contained page."""
    from veridical.cli.console import tell_missing
    from veridical.errors import UserError
    from veridical.files.writing import ReadOnlyError
    from veridical.runs.load import open_runs
    from veridical.studies.judged import Judgement
    from veridical.studies.study import write_page

    judgement = Judgement(tuple(open_runs(run)))
    tell_missing(judgement)
    try:
        path = write_page(out or run[0] / "report.html", judgement)
    except ReadOnlyError as error:
        raise UserError(f"{error.problem}; name another place with --out FILE.html") from error
    typer.echo(f"report: {path}")
