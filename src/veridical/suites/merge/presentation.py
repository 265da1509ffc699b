"""How the results of seeds and their variants are shown."""

from __future__ import annotations

from collections.abc import Mapping

from veridical.report.presentation import Presentation
from veridical.report.texts import MeasureText
from veridical.suites.merge.terminal import merge_table

TEXTS: Mapping[str, MeasureText] = {
    "seed_accuracy": MeasureText("Seed accuracy", "Share of seed problems answered right; 1 is best."),
    "variant_accuracy": MeasureText("Variant accuracy", "Share of variants answered right; 1 is best."),
    "seed_variant_accuracy": MeasureText(
        "Seed-variant accuracy",
        "SV(CT): share of seeds with at least the share CT of their variants right. It falls as CT rises, and the less "
        "the better.",
    ),
    "seed_variant_gap": MeasureText(
        "SV less seed accuracy",
        "SV at the threshold CT less seed accuracy, paired by seed; 0 is best, below 0 right answers do not survive.",
    ),
    "seed_variant_reference": MeasureText(
        "Errors at random",
        "What seed-variant accuracy would be if each variant were right with the chance of variant accuracy, whatever "
        "its seed.",
    ),
    "matching_correctness": MeasureText(
        "Matching correctness",
        "MC: the threshold CT (from .05 to 1) at which seed-variant accuracy comes closest to seed accuracy, over "
        "seeds that have variants; lower is worse. With ties it is the whole range of them. "
        "Withheld for constant answers, which are right on all variants of a seed or on none.",
    ),
    "home_advantage": MeasureText(
        "Home advantage",
        "Share right of the variants that the model (or the one it was trained from) proposed, less that of another "
        "proposer's, over seeds that have both.",
    ),
}

PRESENTATION = Presentation(terminal=merge_table, texts=TEXTS, figures="veridical.suites.merge.figures:FIGURES")
