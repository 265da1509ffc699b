"""The terminal's table of `evidence`: who answered, in rows; complete pairs by kind, in columns."""

from __future__ import annotations

import re
from io import StringIO

import polars as pl
from rich.console import Console

from veridical.judge import baseline_frame, judge
from veridical.report.results import Results
from veridical.report.terminal import render
from veridical.suites.evidence.recovered import recovered_by_heading

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
    assert header.split()[2:] == [
        "balanced",
        "pairs",
        "Favors",
        "Challenges",
        "address",
        "polarity",
        "not",
        "ok",
    ]
    text = "\n".join(line.strip() for line in lines)
    # By hand in test_evidence_measures: .58 balanced, 1 of 4 pairs, 1 of 2 Favors, 0 of 2 Challenges, 6 of 8, 2 of 3.
    for name in ("answers", "readout"):
        row = rf"^{name} +\.58 +1 of 4 \[.*\] +1 of 2 +0 of 2 +\.75 +\.67 +0$"
        assert re.search(row, text, re.MULTILINE), name
    assert re.search(r"^always Favors +\.33 .*0 of 2 +0 of 2 +\.50 +\.50$", text, re.MULTILINE)
    # Of the four pairs the one that is recovered is a Favors pair of category a.
    for name, count in (("all pairs", "1 of 4"), ("Favors pairs", "1 of 2"), ("a", "1 of 2"), ("b", "0 of 2")):
        assert re.search(rf"^{name} +{count} +{count}$", text, re.MULTILINE), name


def test_the_page_has_the_counts_by_kind_and_category() -> None:
    results = Results.of(judge(SUITE, frame(SUITE, ANSWERS)), SUITE.name)
    (table,) = recovered_by_heading(results)
    assert table.columns == ("answers",)
    assert [(line.name, *line.cells) for line in table.lines] == [
        ("all pairs", "1 of 4"), ("Favors pairs", "1 of 2"), ("Challenges pairs", "0 of 2"), ("a", "1 of 2"),
        ("b", "0 of 2"),
    ]  # fmt: skip
