"""Complete pairs as counts, `k of n`: in all, by a pair's kind and by its category, for page and terminal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from veridical.judge.measure import Measure
from veridical.report.results import AnsweringKey, Results
from veridical.report.text_table import TextTable
from veridical.report.texts import estimate
from veridical.wording import MISSING, spaced

MEASURE = "pair_recovery"
FACTORS = ("kind", "category")


@dataclass(frozen=True, slots=True)
class RecoveredLine:
    """One part of the pairs: its name, and what each answering recovered of it."""

    name: str
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Recovered:
    """Pairs recovered under one model and prompt: a column an answering, a line a part of the pairs."""

    heading: str
    columns: tuple[str, ...]
    lines: tuple[RecoveredLine, ...]


def count_of(measure: Measure | None) -> str:
    """`12 of 54`: a share of sets as a count."""
    if measure is None or measure.value is None:
        return MISSING
    return f"{round(measure.value * measure.n_sets):,} of {measure.n_sets:,}"


def recovered(results: Results, name: str, answerings: Sequence[AnsweringKey]) -> Recovered | None:
    """The pairs recovered by these answerings, None where they have none by category or kind."""
    parts = [
        (factor, value)
        for factor in FACTORS
        for value in dict.fromkeys(
            str(value)
            for _, measure, where in results.index
            if measure == MEASURE and len(where) == 1
            for key, value in where
            if key == factor
        )
    ]
    shown = [answering for answering in answerings if results.get(answering, MEASURE) is not None]
    if not parts or not shown:
        return None
    lines = [RecoveredLine("all pairs", tuple(count_of(results.get(a, MEASURE)) for a in shown))]
    for factor, value in parts:
        cells = tuple(count_of(results.get(a, MEASURE, **{factor: value})) for a in shown)
        lines.append(RecoveredLine(f"{spaced(value)} pairs" if factor == "kind" else spaced(value), cells))
    return Recovered(name, tuple(_name(answering) for answering in shown), tuple(lines))


def recovered_by_heading(results: Results) -> list[Recovered]:
    """One table for each model and prompt, with the answerings that saw the whole item, readouts among them."""
    own = [a for a in (*results.answers, *results.references) if not a.constant and a.input == "full"]
    found = []
    for heading in dict.fromkeys((a.model, a.prompt) for a in own):
        name = " · ".join(filter(None, heading))
        found.append(recovered(results, name, [a for a in own if (a.model, a.prompt) == heading]))
    return [one for one in found if one is not None]


def per_token(results: Results) -> list[str]:
    """Who would score how much if scores were divided by the labels' tokens: a sentence an answering that has both."""
    found: list[str] = []
    for answering in (*results.answers, *results.references):
        balanced = results.get(answering, "balanced_accuracy", normalisation="token")
        whole = results.get(answering, "balanced_accuracy")
        if balanced is None or whole is None or answering.constant:
            continue
        pairs = results.get(answering, MEASURE, normalisation="token")
        counted = f", pairs {count_of(pairs)}" if pairs is not None else ""
        summed = f"by their sum {estimate(whole)}"
        name = results.name(answering, model=True)
        found.append(f"{name}: by scores per token balanced {estimate(balanced)}{counted}; {summed}.")
    return found


def recovered_tables(results: Results) -> list[TextTable]:
    """The pairs recovered as tables of the page."""
    return [
        TextTable(
            f"Pairs recovered: {one.heading}",
            "Pairs with both endpoints right, as counts.",
            ("pairs", *one.columns),
            tuple((line.name, *line.cells) for line in one.lines),
        )
        for one in recovered_by_heading(results)
    ]


def _name(answering: AnsweringKey) -> str:
    who = "answers" if answering.answerer == "model" else spaced(answering.answerer)
    return f"{who} · {answering.mode}" if answering.mode not in ("loglikelihood", "readout") else who
