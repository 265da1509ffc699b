"""How the results of "same evidence, different targets" are shown."""

from __future__ import annotations

from collections.abc import Mapping

from veridical.report.presentation import Presentation
from veridical.report.texts import MeasureText
from veridical.suites.evidence.recovered import per_token, recovered_tables
from veridical.suites.evidence.terminal import evidence_table

TEXTS: Mapping[str, MeasureText] = {
    "pair_recovery": MeasureText("Pair recovery", "Share of pairs with both endpoints right."),
    "pair_recovery_reference": MeasureText(
        "Pair recovery, independent",
        "What pair recovery would be if each endpoint were right with the accuracy of its role, whatever the other is.",
    ),
    "address_accuracy": MeasureText("Address accuracy", "Accuracy on whether the evidence addresses the target."),
    "polarity_accuracy": MeasureText("Polarity accuracy", "Accuracy on the polarity where the target is addressed."),
}

PRESENTATION = Presentation(
    terminal=evidence_table,
    texts=TEXTS,
    text_tables=recovered_tables,
    remarks=per_token,
    remarks_lead="Labels differ in their number of tokens, and the answer is the label with the highest summed score. "
    "The same scores divided by the labels' tokens:",
)
