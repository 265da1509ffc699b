"""Answers that were given elsewhere, as `Response` records: judged, and written as the files of a study."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import polars as pl

from veridical.errors import UserError
from veridical.files.writing import make_folder
from veridical.items import Response, Suite
from veridical.judge import contrasts, judge, judge_baselines
from veridical.judge.chance import chance_levels
from veridical.judge.frame import frame_of
from veridical.judge.measure import Measure
from veridical.judge.registry import measure_set
from veridical.judge.verdict import verdicts
from veridical.report.html import page, write_report
from veridical.report.terminal import Tables, render
from veridical.studies.judged import DRAWS, LEVEL
from veridical.studies.records import measures_frame, write_measures


@dataclass(frozen=True)
class JudgedResponses:
    """What `judge_responses` measured, as records and frame, as tables to print and as a page to write."""

    suite: Suite
    responses: pl.DataFrame
    records: tuple[Measure, ...]
    verdicts: tuple[str, ...]

    @cached_property
    def measures(self) -> pl.DataFrame:
        """The measures as a frame, one row a record (`veridical.studies.records.measures_frame`)."""
        return measures_frame(self.records)

    @property
    def tables(self) -> Tables:
        """The tables that a run prints, for `rich.print`."""
        return render([self.suite], self.records, self.verdicts)

    def write(self, out: str | Path, parameters: Mapping[str, int] | None = None) -> Path:
        """Write `measures.json` and `report.html` into the folder `out`, and return the path of the page.

        `parameters` is the number of parameters by model, where known. Raises UserError where they cannot be written.
        """
        folder = Path(out)
        make_folder(folder)
        write_measures(folder, self.records)
        text = page([self.suite], self.records, self.responses, {}, dict(parameters or {}), self.verdicts)
        return write_report(folder / "report.html", text)


def judge_responses(
    suite: Suite, responses: Iterable[Response], *, level: float = LEVEL, draws: int = DRAWS, seed: int = 0
) -> JudgedResponses:
    """Answers to `suite` from anywhere, judged as a run's are: measures, baselines, chance, contrasts and verdicts.

    The suite's items are the denominators: one without a response counts as not answered (status `missing`). `level`
    is that of the intervals, `draws` and `seed` are of what is resampled. Raises UserError where no response is to
    this suite, or one is to an item that it does not have.
    """
    frame = frame_of(one for one in responses if one.suite == suite.name)
    if frame.is_empty():
        raise UserError(f"no response is to suite {suite.name!r}: set the field `suite` of each Response to its name")
    records = [
        *judge(suite, frame, level=level, draws=draws, seed=seed),
        *([] if measure_set(suite.measures).graded else judge_baselines(suite, level=level, draws=draws, seed=seed)),
        *chance_levels(suite),
        *contrasts(suite, frame, level=level, draws=draws, seed=seed),
    ]
    rules = {suite.name: measure_set(suite.measures).rules}
    return JudgedResponses(suite, frame, tuple(records), tuple(verdicts(records, rules)))
