"""What the numbers mean, in sentences that a person can act on.

A benchmark is said to *add* something where its MAE gain is above 0 and p, after Holm over all benchmarks and outcomes,
is at most .05. It *may* add where only p itself is, or where only the interval over families lies above 0. With a gain
above 0 and neither, it is *not shown* to add; with none, it adds nothing. Where no permutation could have given so
small a p, it is said that nothing can be shown. The thresholds are Veridical's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil

from veridical.stats.sign_flip import least_sign_flip_p
from veridical.validity.attainable import attainable_sentences
from veridical.validity.axes import axis_sentences, specificity_sentence
from veridical.validity.inference import Tested
from veridical.validity.intervals import FEW_FAMILIES
from veridical.validity.joint_sentences import joint_sentences
from veridical.validity.metrics import agreement_sentences
from veridical.validity.results import Gain, Partial, RankAgreement, Ranking, VersionComparison
from veridical.validity.summaries import (
    Attainable,
    AxisAnswer,
    JointGain,
    MetricAgreement,
    PooledComparison,
    Specificity,
)
from veridical.validity.table import LEAST_FAMILIES, LEAST_MODELS
from veridical.validity.wording import ALPHA, NAMED, OVER, SIGNED, amount, count_of, listed, p_phrase, passes, possible
from veridical.wording import number, p_value


def verdicts(
    outcomes: Sequence[str],
    draws: int,
    partials: Sequence[Partial],
    agreements: Sequence[RankAgreement],
    rankings: Sequence[Ranking],
    gains: Sequence[Gain],
    comparisons: Sequence[VersionComparison],
    pooled: Sequence[PooledComparison],
    specificity: Sequence[Specificity],
    axes: Sequence[AxisAnswer] = (),
    metrics: Sequence[MetricAgreement] = (),
    reach: Sequence[Attainable] = (),
    joint: Sequence[JointGain] = (),
) -> list[str]:
    """Sentences in the order in which one reads them: the answer, what limits it, then each finding."""
    fullest = _fullest(gains)
    return [
        *_answer(outcomes, fullest, draws),
        *attainable_sentences(reach),
        *_limits(draws, partials, gains, comparisons),
        *agreement_sentences(metrics),
        *joint_sentences(joint),
        *axis_sentences(axes, len({gain.benchmark for gain in fullest})),
        *_untested(partials, gains),
        *(_gain(gain) for gain in sorted(fullest, key=_order)),
        *(
            _agreement(
                one,
                [c for c in comparisons if c.reworked == one.reworked],
                [p for p in pooled if p.reworked == one.reworked],
            )
            for one in agreements
        ),
        *(_beyond(one) for one in comparisons),
        *(_ranking(one) for one in rankings if one.inseparable),
        *(specificity_sentence(one) for one in specificity),
    ]


def _answer(outcomes: Sequence[str], fullest: Sequence[Gain], draws: int) -> Iterator[str]:
    """Which benchmarks add to the fullest baseline, for what."""
    if not outcomes:
        yield "No outcome is named, so nothing is predicted: name what the benchmarks should predict with --outcome."
    if not fullest:
        return
    over, benchmarks = OVER[fullest[0].baseline], list(dict.fromkeys(gain.benchmark for gain in fullest))
    adding: dict[str, list[str]] = {}
    for gain in fullest:
        if gain.mae_gain > 0 and passes(gain.test):
            adding.setdefault(gain.benchmark, []).append(f"{gain.outcome}{SIGNED[gain.relation]}")
    predicted = list(dict.fromkeys(gain.outcome for gain in fullest))
    outcome = predicted[0] if len(predicted) == 1 else f"any of {len(predicted)} outcomes"
    corrected = f", after correction for {len(fullest)} tests" if len(fullest) > 1 else ""
    one = benchmarks[0] if len(benchmarks) == 1 else ""
    if not any(possible(gain.test) for gain in fullest):
        who = one or f"any of {len(benchmarks)} benchmarks"
        few = any(gain.test is not None and gain.test.least <= 1 / (draws + 1) for gain in fullest)
        what = f"{draws:,} draws" if few else "these data"
        yield f"Whether {who} adds to {over} for predicting {outcome} cannot be shown with {what}{corrected}."
    elif not adding:
        who = f"{one} is not" if one else f"None of {len(benchmarks)} benchmarks is"
        yield f"{who} shown to add to {over} for predicting {outcome}{corrected}."
    else:
        names_shown = [f"{name} (for {listed(found)})" for name, found in list(adding.items())[:NAMED]]
        names_shown += [f"{len(adding) - NAMED} more"] if len(adding) > NAMED else []
        names = " and ".join([", ".join(names_shown[:-1]), names_shown[-1]] if len(names_shown) > 1 else names_shown)
        if one:
            yield f"{one} adds to {over} for predicting {listed(adding[one])}{corrected}."
        else:
            verb = "adds" if len(adding) == 1 else "add"
            yield f"{len(adding)} of {len(benchmarks)} benchmarks {verb} to {over}{corrected}: {names}."


def _limits(
    draws: int, partials: Sequence[Partial], gains: Sequence[Gain], comparisons: Sequence[VersionComparison]
) -> Iterator[str]:
    few = [gain.families for gain in gains if gain.families < FEW_FAMILIES]
    if few:
        span = f"{min(few)}" if min(few) == max(few) else f"{min(few)} to {max(few)}"
        where = "" if len(few) == len(gains) else f" for {listed(_outcomes_of_few(gains))}"
        yield (
            f"With {span} families{where}, judge by each gain's p within families: flipping the signs of families "
            f"cannot give a p below {p_value(least_sign_flip_p(max(few)))}, and no family is resampled. The range over "
            f"leaving each out shows what rests on one family; that it stays above 0 is not evidence of a gain."
        )
    tests = [
        *(gain.test for gain in gains),
        *(partial.test for partial in partials),
        *(one.rho_test for one in comparisons),
    ]
    most = max((test.tests for test in tests if test is not None), default=0)
    if most / (draws + 1) > ALPHA:
        yield (
            f"With {draws:,} draws no p of {most} tests can be {p_value(ALPHA)} or less after correction: "
            f"give --draws {ceil(most / ALPHA)} or more."
        )


def _outcomes_of_few(gains: Sequence[Gain]) -> list[str]:
    return list(dict.fromkeys(gain.outcome for gain in gains if gain.families < FEW_FAMILIES))


def _untested(partials: Sequence[Partial], gains: Sequence[Gain]) -> Iterator[str]:
    """The pairs that too few models have, by outcome."""
    predicted = {(gain.benchmark, gain.outcome) for gain in gains}
    lacking: dict[str, list[Partial]] = {}
    for one in partials:
        if (one.benchmark, one.outcome) not in predicted:
            lacking.setdefault(one.outcome, []).append(one)
    for outcome, ones in lacking.items():
        n = [one.n for one in ones]
        models = f"{min(n)}" if min(n) == max(n) else f"{min(n)} to {max(n)}"
        yield (
            f"{listed([one.benchmark for one in ones])} cannot be tested for {outcome}: {models} models have both, "
            f"with size and controls; {LEAST_MODELS} in {LEAST_FAMILIES} families are needed."
        )


def _fullest(gains: Sequence[Gain]) -> list[Gain]:
    """The gains over the fullest baseline."""
    last = gains[-1].baseline if gains else ""
    return [gain for gain in gains if gain.baseline == last]


def _order(gain: Gain) -> tuple[float, float]:
    """By p, and of those alike by what share of the error is gained."""
    share = gain.mae_gain / gain.without.mae if gain.without.mae > 0 else 0.0
    return (gain.test.p if gain.test else 1.0), -share


def _gain(gain: Gain) -> str:
    over = OVER[gain.baseline]
    amounts = f"gain {amount(gain.mae_gain)} MAE"
    if gain.without.mae > 0:
        amounts += f" ({amount(gain.mae_gain / gain.without.mae, percent=True)} of the error)"
    p = "" if gain.test is None else f", {p_phrase(gain.test)}"
    facts = f"{amounts}{p}, n {gain.n:,} in {gain.families} families{_through(gain) if gain.mae_gain > 0 else ''}"
    adds = f"to {over} for predicting {gain.outcome}"
    if gain.mae_gain > 0 and passes(gain.test):
        worst = min(gain.influence, key=lambda name: gain.influence[name])
        rests = f"; without {worst} nothing is left of it" if gain.influence[worst] <= 0 else ""
        return f"{gain.benchmark} adds {adds}: {facts}{rests or _parted(gain)}."
    if gain.test is not None and gain.test.least > ALPHA:
        return (
            f"{gain.benchmark} cannot be tested within families for what it adds {adds}: {gain.fixed} of {gain.n} "
            f"models are alone in theirs, and p is {p_value(gain.test.least)} at the least; {amounts}."
        )
    if gain.mae_gain > 0 and gain.test is not None and gain.test.p <= ALPHA:
        return f"{gain.benchmark} may add {adds}, but not after correction for {gain.test.tests} tests: {facts}."
    if gain.interval.level is not None and gain.interval.low is not None and gain.interval.low > 0:
        return (
            f"{gain.benchmark} may add {adds}, but only through how families differ, which permuting within families "
            f"does not test: {facts}."
        )
    return f"{gain.benchmark} {'is not shown to add' if gain.mae_gain > 0 else 'adds nothing'} {adds}: {facts}."


def _parted(gain: Gain) -> str:
    """Why the interval of a gain that is shown may still hold 0."""
    low = gain.interval.low
    if low is None or low > 0 or gain.interval.level is None:
        return ""
    return "; its interval holds 0 all the same, since it moves with how families differ, which this p does not"


def _through(gain: Gain) -> str:
    """The phrase for the sign of a relation that is not positive."""
    if gain.relation == "negative":
        return (
            f", through a negative relation (given the baseline, models that score higher on {gain.benchmark} score "
            f"lower on {gain.outcome})"
        )
    return ", through a relation whose sign is not the same in all fits" if gain.relation == "mixed" else ""


def _agreement(one: RankAgreement, compared: Sequence[VersionComparison], pooled: Sequence[PooledComparison]) -> str:
    if one.rho is None:
        return f"{one.reworked} and {one.original} cannot be compared as rankings (n {one.n})."
    low = "" if one.interval.low is None else f" [{number(one.interval.low)}, {number(one.interval.high)}]"
    sentence = f"{one.reworked} and {one.original} rank models with ρ {number(one.rho)}{low}, n {one.n}"
    if one.moves:
        move = one.moves[0]
        sentence += f" (largest move: {move.model}, from {move.original:g} to {move.reworked:g})"
    parts = [part for both in pooled for part in _together(both)]
    if len(compared) > 1:
        parts += [
            _predicts(
                "held-out gain", [(c.outcome, c.gain_difference, c.gain_difference, c.gain_test) for c in compared]
            ),
            _predicts("partial ρ", [(c.outcome, c.rho_difference, _strength(c), c.rho_test) for c in compared]),
        ]
    return "; ".join([sentence, *(part for part in parts if part)]) + "."


def _strength(one: VersionComparison) -> float | None:
    """How much further from 0 the reworked version's partial rho is: a negative one may be the stronger relation."""
    if one.rho_reworked is None or one.rho_original is None:
        return one.rho_difference
    return abs(one.rho_reworked) - abs(one.rho_original)


def _together(one: PooledComparison) -> Iterator[str]:
    """What the tests over all outcomes say: better, worse, or neither shown."""
    outcomes = listed(one.outcomes) if len(one.outcomes) == 1 else f"{len(one.outcomes)} outcomes together"
    if one.gain_difference is not None and one.gain_test is not None:
        size = f"({amount(one.gain_difference, percent=True)} of the error, {p_phrase(one.gain_test)})"
        yield f"by held-out gain it {_shown(one.gain_difference, one.gain_test)} {outcomes} {size}"
    if one.rho_difference is not None and one.rho_test is not None:
        size = f"({number(one.rho_difference)}, {p_phrase(one.rho_test)})"
        what = _shown(
            one.rho_difference, one.rho_test, ("has a higher one", "has a lower one", "is not shown to differ")
        )
        yield f"by partial ρ it {what} for {outcomes} {size}"


def _shown(
    difference: float,
    test: Tested,
    words: tuple[str, str, str] = ("predicts better", "predicts worse", "is not shown to predict better or worse"),
) -> str:
    if not possible(test):
        return "cannot be tested for"
    return (words[0] if difference > 0 else words[1]) if passes(test) else words[2]


def _predicts(kind: str, differences: Sequence[tuple[str, float | None, float | None, Tested | None]]) -> str:
    """Which outcomes the reworked version predicts better and worse than the original, by one measure of it: outcome,
    difference, by how much it is the stronger predictor, and the test of the difference."""
    known = [(outcome, stronger, test) for outcome, _, stronger, test in differences if stronger is not None and test]
    if not known:
        return ""
    least = min(test.least * test.tests for _, _, test in known)
    if least > ALPHA:
        return f"by {kind} no outcome alone can show better or worse (p {p_value(min(1.0, least))} at the least)"
    better = [outcome for outcome, stronger, test in known if stronger > 0 and passes(test)]
    worse = [outcome for outcome, stronger, test in known if stronger < 0 and passes(test)]
    if not better and not worse:
        return (
            f"by {kind} it predicts none of {count_of(len(known), 'outcome')} alone better or worse, after correction"
        )
    parts = [f"better {listed(better)}"] if better else []
    parts += [f"worse {listed(worse)}"] if worse else []
    return f"by {kind} it predicts {' and '.join(parts)}"


def _beyond(one: VersionComparison) -> str:
    purpose = f"for predicting {one.outcome} once {one.original} is known: {amount(one.beyond)} MAE"
    if one.beyond_test is None or one.beyond_test.least > ALPHA:
        return f"{one.reworked} cannot be tested {purpose}."
    if one.beyond > 0 and passes(one.beyond_test):
        what = f"still adds{SIGNED[one.beyond_relation]}"
    else:
        what = "is not shown to add" if one.beyond > 0 else "adds nothing"
    return f"{one.reworked} {what} {purpose}, {p_phrase(one.beyond_test)}."


def _ranking(one: Ranking) -> str:
    share = f"{one.inseparable:,} of {one.pairs:,} pairs of models"
    follow = f", {one.neighbours:,} of them neighbours in the ranking" if one.neighbours else ""
    return f"{one.column} cannot distinguish {share}{follow} ({one.method})."
