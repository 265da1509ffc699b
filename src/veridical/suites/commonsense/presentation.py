"""How the results of benchmarks are shown."""

from __future__ import annotations

from collections.abc import Mapping

from veridical.report.presentation import Presentation
from veridical.report.texts import MeasureText
from veridical.suites.commonsense.terminal import benchmark_table

TEXTS: Mapping[str, MeasureText] = {
    "two_best_accuracy": MeasureText(
        "Two best", "Share of items with two right answers whose two best choices are these two. 1 is best."
    ),
    "forced_choice": MeasureText(
        "Forced choice",
        "Share of pairs of opposite items that the model distinguishes: each one's right answer is likelier in it than "
        "in the other, whatever answer it likes. Guessing gets 1/2; 1 is best.",
    ),
}

PRESENTATION = Presentation(terminal=benchmark_table, texts=TEXTS)
