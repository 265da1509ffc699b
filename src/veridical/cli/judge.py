"""`veridical judge`: measures from stored responses."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from veridical.cli.options import Json, Runs


def command(
    run: Runs,
    sets: Annotated[
        str | None,
        typer.Option(
            "--sets",
            metavar="FIELD",
            help="Make the item sets of this field, factor or grouping, and print only.",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Recompute measures from stored responses; no model is needed."""
    from veridical.cli.console import measures_document, print_json, print_tables, tell_missing
    from veridical.files.writing import ReadOnlyError
    from veridical.runs.load import open_runs
    from veridical.runs.manifest import is_run
    from veridical.studies.judged import Judgement
    from veridical.studies.records import write_measures

    judgement = Judgement(tuple(open_runs(run)), sets=sets)
    tell_missing(judgement)
    if sets is None:
        try:
            for path, measures in judgement.by_run.items():
                write_measures(path, measures)
            if len(run) == 1 and not is_run(run[0]):
                write_measures(run[0], judgement.records)
        except ReadOnlyError as error:
            print(f"measures.json is left as it is: {error.problem}", file=sys.stderr)
    if json:
        print_json(measures_document(str(run[0]), judgement))
    else:
        print_tables(judgement)
    if not judgement.records:
        print("nothing is measured: no item here has a right answer that is known", file=sys.stderr)
