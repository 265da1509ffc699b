"""How the results of the imperfective suites are shown: their measures in words, their groups, tables and figures."""

from __future__ import annotations

from collections.abc import Mapping

from veridical.report.presentation import Presentation
from veridical.report.texts import MeasureText
from veridical.suites.imperfective.class_table import class_tables
from veridical.suites.imperfective.terminal import tables

TEXTS: Mapping[str, MeasureText] = {
    "tbr": MeasureText(
        "TBR",
        "Teleological bias rate: share of ambiguous accomplishments (group C: “was building a gazebo”) answered "
        "True, as if the goal had been reached. 0 is best.",
    ),
    "aspectual_awareness_gap": MeasureText(
        "Gap ΔAA",
        "Aspectual awareness gap: accuracy on ambiguous activities (D) less TBR. 1 distinguishes the two kinds of "
        "event; 0 treats them alike, as every constant answer does.",
    ),
    "cancelled_true_rate": MeasureText(
        "Cancelled yet True",
        "Share of interrupted accomplishments (A) answered True although the premise rules completion out. 0 is best.",
    ),
    "overcaution": MeasureText(
        "Overcaution", "Share of ambiguous activities (D) answered Unknown although they hold. 0 is best."
    ),
    "mean_p_unknown": MeasureText("P(Unknown)", "Mean probability of Unknown among the labels; in group C, 1 is best."),
}

GROUPS: Mapping[str, str] = {
    "A": "interrupted accomplishment",
    "B": "interrupted activity",
    "C": "ambiguous accomplishment",
    "D": "ambiguous activity",
    "completed": "completed accomplishment",
}

PRESENTATION = Presentation(
    terminal=tables,
    texts=TEXTS,
    groups=GROUPS,
    leading=("tbr", "aspectual_awareness_gap"),
    # The gain in C, the cost in D, and what becomes of the two summaries.
    compared=(("accuracy", "group C"), ("accuracy", "group D"), ("tbr", ""), ("aspectual_awareness_gap", "")),
    figures="veridical.suites.imperfective.figures:FIGURES",
    text_tables=class_tables,
)
