"""Where the commands write: results on standard output, everything else on standard error."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

    from veridical.studies.judged import Judgement
    from veridical.studies.study import Study

WIDTH = 100
NARROWEST, WIDEST = 10, 10_000
"""Other widths that `COLUMNS` may say are taken for `WIDTH`."""


def open_streams() -> bool:
    """Make printing safe: a closed stream takes what is printed to nowhere, and an encoding lacks no character.

    Gives whether there is a standard output.
    """
    readable = sys.stdout is not None
    for descriptor in range(3):
        # A file opened later would get the number of a closed stream, and be taken for that stream.
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115  # as long as the process
        elif isinstance(stream, io.TextIOWrapper) and stream.errors in ("strict", "surrogateescape"):
            stream.reconfigure(errors="replace")
    return readable


def errors() -> Console:
    """The console for messages, on standard error."""
    from rich.console import Console

    return Console(stderr=True, emoji=False, width=None if _columns() else WIDTH)


def results() -> Console:
    """The console for tables: as wide as the terminal, and `WIDTH` columns in a file or a pipe."""
    from rich.console import Console

    given = os.environ.get("COLUMNS")
    fixed = not sys.stdout.isatty() and given is None
    return Console(highlight=False, emoji=False, width=WIDTH if fixed or not _columns() else None)


def _columns() -> bool:
    """Whether `COLUMNS`, where it is set, is a width that something can be printed in."""
    given = os.environ.get("COLUMNS")
    return given is None or (given.isascii() and given.isdigit() and NARROWEST <= int(given[:6]) <= WIDEST)


def print_json(document: dict[str, Any]) -> None:
    """Print one document in strict JSON, escaped where the encoding of the output has not every character."""
    escaped = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(document, ensure_ascii=escaped, allow_nan=False, indent=1), file=sys.stdout)


def measures_document(study: str, judgement: Judgement) -> dict[str, Any]:
    """What `--json` prints: where the runs are, and the measures as in `measures.json`."""
    from veridical.studies.records import records_json

    notices = {"notices": list(judgement.notices)} if judgement.notices else {}
    return {
        "schema": "veridical.measures/1",
        **notices,
        "study": study,
        "runs": [str(run.path) for run in judgement.runs],
        "measures": records_json(judgement.records),
    }


def tell_missing(judgement: Judgement) -> None:
    """Say on standard error which runs lack answers, since their measures are bounds at best."""
    for run in judgement.runs:
        missing = run.notes()["unanswered"]
        if missing and run.manifest.imported is not None:
            print(f"{run.path}: {missing:,} of {run.frame.height:,} answers failed in the log", file=sys.stderr)
        elif missing:
            print(
                f"{run.path}: {missing:,} of {run.frame.height:,} questions have no stored answer and count as "
                "errors; the same 'veridical run' with its --out asks them",
                file=sys.stderr,
            )


def print_tables(judgement: Judgement) -> None:
    """Print the tables of measures and a sentence on each model."""
    from veridical.report.terminal import render

    results().print(render(judgement.suites, judgement.records, judgement.verdicts, judgement.notices))


def show_study(study: Study, *, json: bool) -> None:
    """Print the measures of a study: as one document, or as tables and where the report is."""
    if json:
        print_json(measures_document(str(study.path), study.judgement))
    else:
        print_tables(study.judgement)
        print(f"\nreport: {study.report}", file=sys.stdout)
