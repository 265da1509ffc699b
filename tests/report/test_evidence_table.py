"""The terminal's table of `evidence`: who answered, in rows; complete pairs by kind, in columns."""

from __future__ import annotations

import re
from io import StringIO

import polars as pl
from rich.console import Console

from veridical.judge import baseline_frame, judge
from veridical.report.terminal import render

from ..judge.judging import frame
from ..judge.test_evidence_measures import ANSWERS, SUITE


def test_a_row_an_answerer_and_constant_answers_below() -> None:
    answers = frame(SUITE, ANSWERS)
    readout = answers.with_columns(answerer=pl.lit("readout"), mode=pl.lit("readout"))
    measures = [record for part in (answers, readout, baseline_frame(SUITE)) for record in judge(SUITE, part)]
    console = Console(width=100, record=True, file=StringIO())
    console.print(render([SUITE], measures))
    lines = console.export_text().splitlines()
    (header,) = [line for line in lines if line.startswith("answered by")]
    assert header.split()[2:] == ["balanced", "pairs", "Favors", "Challenges", "address", "polarity", "not", "ok"]
    cells = [re.split(r"\s{2,}", line.strip()) for line in lines]
    rows = {name: values for name, *values in cells}
    # By hand in test_evidence_measures: .58 balanced, 1 of 4 pairs, 1 of 2 Favors, 0 of 2 Challenges, 6 of 8, 2 of 3.
    assert rows["answers"][0].startswith(".58 [")
    assert rows["answers"][-5:] == [".50", ".00", ".75", ".67", "0"]
    assert rows["readout"] == rows["answers"]
    assert rows["always Favors"][0] == ".33"
    assert rows["always Favors"][-4:] == [".00", ".00", ".50", ".50"]
