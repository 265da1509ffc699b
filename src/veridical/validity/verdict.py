"""What the numbers mean, in sentences that a person can act on.

A benchmark is said to *add* something where its MAE gain is above 0 and p, after Holm over all benchmarks and outcomes,
is at most .05. It *may* add where only p itself is, or where only the interval over families lies above 0. Otherwise it
adds nothing. The thresholds are ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from veridical.report.texts import MINUS, number, p_value
from veridical.stats.sign_flip import least_sign_flip_p
from veridical.validity.intervals import FEW_FAMILIES
from veridical.validity.results import Agreement, Comparison, Gain, Partial, Ranking, Specificity, Tested

ALPHA = 0.05
OVER = {"size": "model size", "size + controls": "model size and controls"}


def verdicts(
    families: int,
    partials: Sequence[Partial],
    agreements: Sequence[Agreement],
    rankings: Sequence[Ranking],
    gains: Sequence[Gain],
    comparisons: Sequence[Comparison],
    specificity: Sequence[Specificity],
) -> list[str]:
    """Sentences in the order in which one reads them: what limits everything, then what was found."""
    return [
        *_limits(families, partials, gains),
        *(_gain(gain) for gain in sorted(_fullest(gains), key=lambda gain: gain.test.p if gain.test else 1)),
        *(_agreement(one, [c for c in comparisons if c.reworked == one.reworked]) for one in agreements),
        *(_beyond(one) for one in comparisons),
        *(_ranking(one) for one in rankings if one.inseparable),
        *(_specificity(one) for one in specificity),
    ]


def _limits(families: int, partials: Sequence[Partial], gains: Sequence[Gain]) -> Iterator[str]:
    if gains and families < FEW_FAMILIES:
        yield (
            f"With {families} families, lead with leaving each out and with its influence: flipping their signs cannot "
            f"give a p below {p_value(least_sign_flip_p(families))}, and ranges stand in place of intervals."
        )
    predicted = {(gain.benchmark, gain.outcome) for gain in gains}
    for one in partials:
        if (one.benchmark, one.outcome) not in predicted:
            yield (
                f"{one.benchmark} cannot be tested for {one.outcome}: only {one.n} models have both, with size and "
                "controls, or they are of fewer than 3 families."
            )


def _fullest(gains: Sequence[Gain]) -> list[Gain]:
    """The gains over the fullest baseline."""
    last = gains[-1].baseline if gains else ""
    return [gain for gain in gains if gain.baseline == last]


def passes(test: Tested | None) -> bool:
    """Whether p after Holm is at most the threshold."""
    return test is not None and (test.p if test.holm is None else test.holm) <= ALPHA


def _gain(gain: Gain) -> str:
    over = OVER[gain.baseline]
    told = f"gain {amount(gain.mae_gain)} MAE"
    if gain.without.mae > 0:
        told += f" ({amount(gain.mae_gain / gain.without.mae, percent=True)} of the error)"
    p = "" if gain.test is None else f", {told_p(gain.test)}"
    facts = f"{told}{p}, n {gain.n} in {gain.families} families"
    if gain.mae_gain > 0 and passes(gain.test):
        worst = min(gain.influence, key=lambda name: gain.influence[name])
        rests = f"; without {worst} nothing is left of it" if gain.influence[worst] <= 0 else ""
        return f"{gain.benchmark} adds to {over} for predicting {gain.outcome}: {facts}{rests}."
    if gain.mae_gain > 0 and gain.test is not None and gain.test.p <= ALPHA:
        return (
            f"{gain.benchmark} may add to {over} for predicting {gain.outcome}, but not after correction for "
            f"{gain.test.tests} tests: {facts}."
        )
    if gain.interval.level is not None and gain.interval.low is not None and gain.interval.low > 0:
        return (
            f"{gain.benchmark} may add to {over} for predicting {gain.outcome}, but only through how families differ, "
            f"which permuting within families does not test: {facts}."
        )
    return f"{gain.benchmark} adds nothing to {over} for predicting {gain.outcome}: {facts}."


def _agreement(one: Agreement, compared: Sequence[Comparison]) -> str:
    if one.rho is None:
        return f"{one.reworked} and {one.original} cannot be compared as rankings (n {one.n})."
    low = "" if one.interval.low is None else f" [{plain(one.interval.low)}, {plain(one.interval.high)}]"
    told = f"{one.reworked} ranks models beside {one.original} with ρ {plain(one.rho)}{low}, n {one.n}"
    if one.moves:
        move = one.moves[0]
        told += f" (largest move: {move.model}, from {move.original:g} to {move.reworked:g})"
    if not compared:
        return f"{told}."
    better = [c.outcome for c in compared if c.gain_difference > 0 and passes(c.gain_test)]
    worse = [c.outcome for c in compared if c.gain_difference < 0 and passes(c.gain_test)]
    if not better and not worse:
        return f"{told}; it predicts none of {len(compared)} outcomes better or worse, after correction."
    parts = [f"better {', '.join(better)}"] if better else []
    parts += [f"worse {', '.join(worse)}"] if worse else []
    return f"{told}; it predicts {' and '.join(parts)}."


def _beyond(one: Comparison) -> str:
    does = one.beyond > 0 and passes(one.beyond_test)
    p = "" if one.beyond_test is None else f", {told_p(one.beyond_test)}"
    what = "still adds" if does else "adds nothing"
    return (
        f"{one.reworked} {what} for predicting {one.outcome} once {one.original} is known: {amount(one.beyond)} MAE{p}."
    )


def _ranking(one: Ranking) -> str:
    share = f"{one.inseparable:,} of {one.pairs:,} pairs of models"
    follow = f", {one.neighbours:,} of them neighbours in the ranking" if one.neighbours else ""
    return f"{one.column} cannot tell {share} apart{follow} ({one.method})."


def _specificity(one: Specificity) -> str:
    found = "better" if one.difference > 0 and one.test.p <= ALPHA else "no better"
    return (
        f"Benchmarks predict outcomes of their own axis {found} than others ({one.statistic}: {amount(one.within)} "
        f"within, {amount(one.across)} across, p {p_value(one.test.p)}, attainable {p_value(one.test.least)})."
    )


def told_p(test: Tested) -> str:
    """`p .003, Holm .012`."""
    holm = "" if test.holm is None or test.tests < 2 else f", Holm {p_value(test.holm)}"
    return f"p {p_value(test.p)}{holm}"


def plain(value: float | None) -> str:
    """`.97`, `−.40`, `1.00`."""
    return number(value)


def amount(value: float, *, percent: bool = False) -> str:
    """A signed amount in two significant digits: `+.021`, `−1.3`, `+12 %`."""
    if percent:
        rounded = f"{abs(100 * value):.0f} %"
        return rounded if rounded == "0 %" else f"{MINUS if value < 0 else '+'}{rounded}"
    if value == 0:
        return "0"
    digits = f"{abs(value):.2g}" if abs(value) >= 1e-4 else f"{abs(value):.0e}"
    return f"{MINUS if value < 0 else '+'}{digits.replace('0.', '.', 1) if digits.startswith('0.') else digits}"
