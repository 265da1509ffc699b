"""A study: runs judged together, and the files that report it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path

import polars as pl

from veridical.files.writing import slug, without_link
from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.models.protocol import LanguageModel
from veridical.runs.load import Run, open_runs
from veridical.studies.judged import Judgement
from veridical.studies.records import measures_frame, write_measures


@dataclass(frozen=True)
class Study:
    """A folder of runs and what is measured across them.

    `failed` counts the requests of the last call that the model could not answer; they are asked again by the
    same call.
    """

    path: Path
    judgement: Judgement
    failed: int = 0

    @property
    def runs(self) -> tuple[Run, ...]:
        """The runs in the folder."""
        return self.judgement.runs

    @property
    def records(self) -> tuple[Measure, ...]:
        """The measures, one record each."""
        return self.judgement.records

    @cached_property
    def measures(self) -> pl.DataFrame:
        """The measures as a frame, one row a record (`veridical.studies.records.measures_frame`)."""
        return measures_frame(self.records)

    @property
    def responses(self) -> pl.DataFrame:
        """The responses of all runs (`veridical.judge.frame.SCHEMA`)."""
        return self.judgement.responses

    @property
    def report(self) -> Path:
        """Where the page is."""
        return self.path / "report.html"

    def write(self) -> None:
        """Write measures and a page, of every run and of the study."""
        for run in self.runs:
            write_measures(run.path, self.judgement.by_run[run.path])
            write_page(
                without_link(run.path / self.report.name), Judgement((run,)) if len(self.runs) > 1 else self.judgement
            )
        if self.path not in [run.path for run in self.runs]:
            write_measures(self.path, self.records)
            write_page(without_link(self.report), self.judgement)


def write_page(path: Path, judgement: Judgement) -> Path:
    """Write runs and what is measured of them as one self-contained page."""
    from veridical.report import page, write_report
    from veridical.report.shown_readout import ShownReadout
    from veridical.runs.readouts import read_draws

    readouts = [
        ShownReadout(run.name, stored.record, read_draws(run.path, stored.record), stored.answers)
        for run in judgement.runs
        for stored in run.readouts
    ]
    text = page(
        judgement.suites,
        judgement.records,
        judgement.responses,
        {run.name: run.manifest.model_dump(mode="json", by_alias=True, exclude={"parts"}) for run in judgement.runs},
        {run.name: count for run in judgement.runs if (count := run.manifest.model.n_parameters)},
        judgement.verdicts,
        readouts,
        judgement.notices,
    )
    return write_report(path, text)


def open_study(path: str | Path) -> Study:
    """The study (or the one run) in a folder; judged when its measures are asked for, with no model.

    Raises UserError where the folder holds no run.
    """
    return Study(Path(path), Judgement(tuple(open_runs([Path(path)]))))


def default_out(suites: Sequence[str | Suite]) -> Path:
    """`studies/<suites>-<YYYYmmdd-HHMMSS>` in the working folder."""
    names = "-".join(suite.name if isinstance(suite, Suite) else Path(suite).stem for suite in suites)
    return Path("studies") / f"{slug(names)}-{datetime.now():%Y%m%d-%H%M%S}"


def run_folder(study: Path, model: LanguageModel) -> Path:
    """Where a model's run is: models whose names end alike are distinguished by their fingerprint."""
    return study / f"{slug(model.name)}-{model.fingerprint.digest[:8]}"
