"""What the numbers of the imperfective suites mean, in one sentence: rules over TBR, gap and accuracy by group."""

from __future__ import annotations

from veridical.judge.verdict import (
    MOST,
    MeasureIndex,
    Rule,
    constant_sentence,
    difference,
    listed,
    no_answers,
    overall_accuracy,
    rate,
    unanswered_sentence,
)

GROUPS_OF = {"True": ("B", "D", "completed"), "False": ("A",), "Unknown": ("C",)}
"""The groups by gold label."""


def _constant(index: MeasureIndex) -> str | None:
    """One label is given to nearly everything: right in some groups and wrong in the others, whatever is understood."""

    def consequence(label: str) -> str:
        groups = [group for group in GROUPS_OF.get(label, ()) if index.get("accuracy", group=group)]
        if index.get("tbr") is None or not groups:
            return "its accuracy says nothing"
        return f"neither its accuracy in {listed(groups)} nor its TBR says anything about aspect"

    return constant_sentence(index, consequence)


def _unanswered(index: MeasureIndex) -> str | None:
    """Many items have no usable answer, which leaves TBR open."""
    tbr = index.get("tbr")
    return unanswered_sentence(index, "TBR" if tbr else "accuracy", tbr or index.named("accuracy"))


def _biased(index: MeasureIndex) -> str | None:
    """Most ambiguous accomplishments are answered True."""
    tbr, gap = index.get("tbr"), index.get("aspectual_awareness_gap")
    if tbr is None or not index.above("tbr", MOST):
        return None
    says = f"takes the goal as reached in most ambiguous accomplishments (TBR {rate(tbr)})"
    if gap is None:
        return f"strong teleological bias: {says}"
    if index.above("aspectual_awareness_gap", 0):
        return f"teleological bias: {says}, though less often than it accepts activities (gap {difference(gap)})"
    if index.below("aspectual_awareness_gap", 0):
        return f"strong teleological bias: {says}, more often than it accepts activities (gap {difference(gap)})"
    return f"strong teleological bias: {says}, not clearly distinguished from activities (gap {difference(gap)})"


def _denies_activities(index: MeasureIndex) -> str | None:
    """Few ambiguous activities are right, so that a low TBR is not a sign of awareness."""
    accuracy, cautious = index.get("accuracy", group="D"), index.get("overcaution")
    if accuracy is None or not index.below("accuracy", MOST, group="D"):
        return None
    if cautious is not None and index.above("overcaution", MOST):
        return (
            f"overcautious: answers Unknown to most activities too ({rate(cautious)} of D), "
            "so a low TBR is not a sign of awareness"
        )
    return (
        f"rejects what does follow: right on few ambiguous activities (D {rate(accuracy)}), "
        "so a low TBR is not a sign of awareness"
    )


def _reversed(index: MeasureIndex) -> str | None:
    """The gap is below 0."""
    gap = index.get("aspectual_awareness_gap")
    if gap is None or not index.below("aspectual_awareness_gap", 0):
        return None
    return f"accepts accomplishments more often than activities, the reverse of the truth (gap {difference(gap)})"


def _aware(index: MeasureIndex) -> str | None:
    """The gap is above 0."""
    tbr, gap = index.get("tbr"), index.get("aspectual_awareness_gap")
    if tbr is None or gap is None or not index.above("aspectual_awareness_gap", 0):
        return None
    if index.below("tbr", MOST) and index.above("accuracy", MOST, group="D"):
        says = (
            f"aware of aspect: accepts most activities and not most accomplishments (gap {difference(gap)}; "
            f"TBR {rate(tbr)})"
        )
        cancelled = index.get("cancelled_true_rate")
        if cancelled is not None and index.above("cancelled_true_rate", MOST):
            says += f", yet affirms most cancelled ones (A {rate(cancelled)})"
        return says
    return (
        f"accepts activities more often than accomplishments (gap {difference(gap)}), but how far is not settled "
        f"(TBR {rate(tbr)})"
    )


def _inconclusive(index: MeasureIndex) -> str | None:
    """TBR and gap as they are, where nothing above is settled."""
    tbr, gap = index.get("tbr"), index.get("aspectual_awareness_gap")
    if tbr is None:
        return None
    figures = f"TBR {rate(tbr)}" + (f"; gap {difference(gap)}" if gap else "")
    return f"inconclusive on {tbr.n_sets} {'set' if tbr.n_sets == 1 else 'sets'}: {figures}"


RULES: tuple[Rule, ...] = (
    no_answers,
    _constant,
    _unanswered,
    _biased,
    _denies_activities,
    _reversed,
    _aware,
    _inconclusive,
    overall_accuracy,
)
