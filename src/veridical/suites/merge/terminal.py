"""What the terminal shows of a suite of seeds and variants: one table, and one by word class."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.console import RenderableType
from rich.text import Text

from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.report.answer_table import Column, answer_rows, answer_table, estimates, not_ok_line, value_of
from veridical.report.results import AnsweringKey, Results
from veridical.report.texts import estimate, level, not_ok, point
from veridical.wording import number, spaced

SHOWN = (0.5, 0.8, 1.0)
"""Thresholds whose seed-variant accuracy has a column; the page has the whole curve."""

DROPPED = {0.8: 1, 0.5: 3}
"""The order in which these columns go where there is no room."""


SLICED = {
    "word_class": "Variant accuracy by word class",
    "source": "Variant accuracy by source",
    "proposer": "Variant accuracy by who proposed the variants",
}
"""Factors by which variant accuracy has a table, and its title."""


def merge_table(_: Suite, results: Results, width: int) -> Iterable[RenderableType]:
    """Seed and variant accuracy, the curve at some thresholds, and matching correctness."""
    yield from answer_table(_columns(results), answer_rows(results, results.references), width)
    yield Text(_legend(results), style="dim")
    for factor, title in SLICED.items():
        yield from _by_factor(results, factor, title, width)


def _by_factor(results: Results, factor: str, title: str, width: int) -> Iterable[RenderableType]:
    """Variant accuracy, a column a value of the factor; nothing where it has not several."""
    values = factor_values(results, factor)
    if not values:
        return

    def column(value: str) -> Column:
        return estimates(spaced(value), lambda a: results.get(a, "variant_accuracy", **{factor: value}))

    yield Text()
    yield Text(title, style="bold")
    yield from answer_table([column(value) for value in values], answer_rows(results, results.references), width)


def _columns(results: Results) -> list[Column]:
    def passing(ct: float) -> Column:
        return Column(
            f"SV {number(ct)}",
            lambda a: number(value_of(results.get(a, "seed_variant_accuracy", ct=ct))),
            drop=DROPPED.get(ct, 0),
        )

    return [
        Column(
            "seeds",
            lambda a: estimate(results.get(a, "seed_accuracy", variants="some") or results.get(a, "seed_accuracy")),
            lambda a: number(
                value_of(results.get(a, "seed_accuracy", variants="some") or results.get(a, "seed_accuracy"))
            ),
        ),
        estimates("variants", lambda a: results.get(a, "variant_accuracy")),
        *(passing(ct) for ct in SHOWN),
        Column("MC", lambda a: _matching(results, a, estimate), lambda a: _matching(results, a, point)),
        Column(
            "chance MC", lambda a: number(value_of(results.get(a, "matching_correctness", line="reference"))), drop=2
        ),
        Column("not ok", lambda a: "" if a.constant else str(not_ok(results.statuses(a))), drop=4),
    ]


def _matching(results: Results, answering: AnsweringKey, shown: Callable[[Measure | None], str]) -> str:
    """`.55 [.45, .60]`; with ties `.50–.55 [.45, .60]`."""
    found = results.get(answering, "matching_correctness")
    return "withheld" if found is not None and found.value is None else shown(found)


def factor_values(results: Results, factor: str) -> tuple[str, ...]:
    """The values of a factor by which variant accuracy is given."""
    found = (
        str(value)
        for _, name, where in results.index
        if name == "variant_accuracy" and len(where) == 1
        for key, value in where
        if key == factor
    )
    return tuple(dict.fromkeys(found))


def _legend(results: Results) -> str:
    percent = next((level(m) for m in results.measures if m.level is not None), "")
    lines = [
        "seeds, variants: accuracy. SV: share of seeds with at least that share of their variants right.",
        "MC: matching correctness, the share at which SV comes closest to seed accuracy; lower is worse.",
        "With ties the whole range is given; the interval is of its upper end. Withheld for constant answers.",
        "chance MC: what as many errors would give if they fell on the variants at random.",
    ]
    if percent:
        lines.append(f"Intervals: {percent}, over seeds.")
    without = {m.n_sets for m in results.measures if m.measure == "seed_accuracy" and m.slice == {"variants": "none"}}
    if without:
        n = max(without)
        message = "1 seed has no variants and is" if n == 1 else f"{n:,} seeds have no variants and are"
        lines.append(f"{message} in no column.")
    if line := not_ok_line(results):
        lines.append(line)
    return "\n".join(lines)
