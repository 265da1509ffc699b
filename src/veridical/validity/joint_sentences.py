"""What sets of benchmarks add, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veridical.validity.summaries import Contribution, JointGain
from veridical.validity.wording import OVER, SIGNED, amount, p_phrase, passes, possible


def joint_sentences(found: Sequence[JointGain]) -> Iterator[str]:
    """One sentence a set and outcome, over the fullest baseline."""
    last = found[-1].baseline if found else ""
    for one in found:
        if one.baseline == last:
            yield _sentence(one)


def _sentence(one: JointGain) -> str:
    members = ", ".join(one.benchmarks)
    who = f"{members} together" if one.name == " + ".join(one.benchmarks) else f"{one.name} ({members}) together"
    what = f"to {OVER[one.baseline]} for predicting {one.outcome}"
    share = f" ({amount(one.mae_gain / one.mae_without, percent=True)} of the error)" if one.mae_without > 0 else ""
    p = "" if one.test is None else f", {p_phrase(one.test)}"
    facts = f"gain {amount(one.mae_gain)} MAE{share}{p}, n {one.n:,} in {one.families} families"
    own = "; ".join(_own(part) for part in one.contributions)
    if not possible(one.test):
        does = "cannot be tested for what they add"
    elif one.mae_gain > 0 and passes(one.test):
        does = "add"
    else:
        does = "are not shown to add" if one.mae_gain > 0 else "add nothing"
    return f"{who} {does} {what}: {facts}. Given the others, of its own: {own}."


def _own(part: Contribution) -> str:
    p = "" if part.test is None else f", {p_phrase(part.test)}"
    sign = SIGNED[part.relation] if part.mae_gain > 0 else ""
    return f"{part.benchmark}{sign} {amount(part.mae_gain)}{p}"
