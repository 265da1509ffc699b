"""The answers one axis at a time: which benchmarks predict its outcomes, and do those that are meant to stand out?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from veridical.stats.units import Floats, Ints
from veridical.validity.inference import Tested
from veridical.validity.intervals import adjusted
from veridical.validity.results import Gain, Partial
from veridical.validity.roles import Roles
from veridical.validity.seeds import generator
from veridical.validity.specificity import AxisTable, by_arrangements, double_centred, without_common_factor
from veridical.validity.summaries import AxisAnswer, Specificity
from veridical.validity.wording import ALPHA, amount, listed, p_phrase, passes
from veridical.wording import number, p_value

WITHOUT = "benchmark and outcome means, and their product,"


def axis_answers(
    roles: Roles, partials: Sequence[Partial], gains: Sequence[Gain], draws: int, seed: int
) -> list[AxisAnswer]:
    """An answer for each axis that outcomes have; p adjusted over the axes."""
    last = gains[-1].baseline if gains else "size"
    rhos = {(one.benchmark, one.outcome): one.rho for one in partials if one.rho is not None}
    table = AxisTable.of(roles, rhos)
    left = _left(table)
    found = []
    for axis in dict.fromkeys(axis for axis in roles.outcomes.values() if axis):
        outcomes = tuple(name for name, of in roles.outcomes.items() if of == axis)
        benchmarks = tuple(name for name in roles.predictors if roles.axes.get(name) == axis)
        own, others = (
            [rho for (b, o), rho in rhos.items() if o in outcomes and (b in benchmarks) is inside]
            for inside in (True, False)
        )
        adds: dict[str, list[str]] = {}
        for gain in gains:
            if gain.baseline == last and gain.outcome in outcomes and gain.mae_gain > 0 and passes(gain.test):
                adds.setdefault(gain.benchmark, []).append(gain.outcome)
        difference, test = _of_axis(table, left, table.names.index(axis), draws, seed)
        found.append(
            AxisAnswer(
                axis=axis,
                outcomes=outcomes,
                benchmarks=benchmarks,
                adds={name: tuple(of) for name, of in adds.items()},
                own=float(np.mean(own)) if own else None,
                others=float(np.mean(others)) if others else None,
                difference=difference,
                test=test,
            )
        )
    tests = adjusted([one.test for one in found])
    return [one.model_copy(update={"test": test}) for one, test in zip(found, tests, strict=True)]


def _left(table: AxisTable) -> Floats | None:
    """Partial rhos without the means of benchmarks and outcomes and their product; None where nothing is left."""
    if len(set(table.own.tolist())) < 2 or len(set(table.axes.tolist())) < 2 or not np.isfinite(table.values).any():
        return None
    left = without_common_factor(table.values, double_centred(table.values))
    return left if np.nanmax(np.abs(left)) > 1e-9 else None


def _of_axis(
    table: AxisTable, left: Floats | None, axis: int, draws: int, seed: int
) -> tuple[float | None, Tested | None]:
    if left is None or not (table.own == axis).any():
        return None, None
    rows = left[table.own == axis]
    there, filled = np.isfinite(rows).sum(axis=0), np.nansum(rows, axis=0)

    def mean_within(arranged: Ints) -> Floats:
        within = (arranged == axis).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            means: Floats = (within @ filled) / (within @ there)
        return means

    observed = float(mean_within(table.axes[None])[0])
    if not np.isfinite(observed):
        return None, None
    rng = generator(seed, "axis", table.names[axis])
    return observed, by_arrangements(mean_within, table.axes, rng, draws, WITHOUT)


def axis_sentences(found: Sequence[AxisAnswer], benchmarks: int) -> Iterator[str]:
    """One sentence an axis."""
    for one in found:
        added = [f"{name} (for {listed(of)})" for name, of in one.adds.items()]
        who = (
            f"{listed(added)} add{'s' if len(added) == 1 else ''}" if added else f"none of {benchmarks} is shown to add"
        )
        sentence = f"On the axis {one.axis} ({listed(one.outcomes)}): {who}"
        if one.benchmarks and one.own is not None and one.others is not None:
            sentence += f"; its own benchmarks ({listed(one.benchmarks)}) have a mean partial ρ of {number(one.own)}"
            sentence += f", the others {number(one.others)}"
        if one.difference is not None and one.test is not None:
            sentence += f"; what is specific to the axis is {amount(one.difference)}, {p_phrase(one.test)}"
        yield f"{sentence}."


def specificity_sentence(one: Specificity) -> str:
    """Whether benchmarks predict their own axis better, over all axes, with what it could have shown."""
    facts = (
        f"({one.statistic}, less the means of each benchmark and each outcome: {amount(one.within)} within axes, "
        f"{amount(one.across)} across, p {p_value(one.test.p)}, without the product of both effects too "
        f"p {p_value(one.common_factor_test.p)}, attainable {p_value(one.test.least)})"
    )
    if one.test.least > ALPHA:
        return f"Whether benchmarks predict outcomes of their own axis better than others cannot be shown {facts}."
    if one.difference > 0 and one.test.p <= ALPHA < one.common_factor_test.p:
        return (
            f"Benchmarks predict outcomes of their own axis better than others, but not by more than one factor behind "
            f"all columns can make {facts}."
        )
    if one.difference > 0 and one.test.p <= ALPHA:
        return (
            f"Benchmarks predict outcomes of their own axis better than others {facts}; the test takes outcomes for "
            "exchangeable, and where those of an axis share a part that no benchmark has, it says so too often."
        )
    return f"Benchmarks are not shown to predict outcomes of their own axis better than others {facts}."
