"""What the terminal shows of the imperfective suites: accuracy by group, TBR and gap, then TBR by verb class."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import RenderableType
from rich.text import Text

from veridical.items import Suite
from veridical.report.answer_table import Column, answer_rows, answer_table, estimates, not_ok_line, value_of
from veridical.report.results import AnsweringKey, Results
from veridical.report.text_table import terminal_table
from veridical.report.texts import level, not_ok
from veridical.suites.imperfective.class_table import class_tables, verb_classes
from veridical.wording import number, spaced


def tables(_: Suite, results: Results, width: int) -> Iterable[RenderableType]:
    """A row an answering; by verb class what is biased, and accuracy where several models answered."""
    yield from answer_table(_columns(results), answer_rows(results, results.references), width)
    yield Text(_legend(results), style="dim")
    yield from _classes(results, width)
    for class_table in class_tables(results) if len(results.models) > 1 else ():
        yield from terminal_table(class_table)


def _columns(results: Results) -> list[Column]:
    def accuracy(group: str) -> Column:
        heading = spaced(group) if len(group) <= 9 else f"{group[:5]}."
        extra = len(group) > 1
        return Column(
            heading,
            lambda a: number(value_of(results.get(a, "accuracy", group=group))),
            drop=3 if extra else 0,
            gap=1,
        )

    return [
        *(accuracy(group) for group in results.groups),
        estimates("TBR", lambda a: results.get(a, "tbr")),
        estimates("gap ΔAA", lambda a: results.get(a, "aspectual_awareness_gap")),
        Column("mass", lambda a: "" if a.constant else number(value_of(results.get(a, "label_mass"))), drop=1),
        Column("not ok", lambda a: "" if a.constant else str(not_ok(results.statuses(a))), drop=2),
    ]


def _legend(results: Results) -> str:
    known = results.labels.groups
    groups = ", ".join(f"{g} {known[g]}" if len(g) == 1 else g for g in results.groups if g in known)
    percent = next((level(m) for m in results.measures if m.level is not None), "")
    lines = [f"Accuracy by group: {groups}."]
    if percent:
        lines.append(f"Intervals: {percent}.")
    if line := not_ok_line(results):
        lines.append(line)
        lines += [line for answering in results.answers if (line := _bounds(results, answering))]
    sizes = {a: len_ for a in results.answers if (len_ := sum(results.statuses(a).values()))}
    if fewer := [a for a in sizes if sizes[a] < max(sizes.values())]:
        parts = [f"{results.name(a, model=True)} {sizes[a]:,} items" for a in fewer]
        lines.append(f"Not all rows are over the same items: {'; '.join(parts)}; the others {max(sizes.values()):,}.")
    return "\n".join(lines)


def _bounds(results: Results, answering: AnsweringKey) -> str:
    """What the rates could be, whatever the answers that are missing would have been."""
    if not not_ok(results.statuses(answering)):
        return ""
    named = [(group, results.get(answering, "accuracy", group=group)) for group in results.groups]
    named += [(name, results.get(answering, key)) for name, key in _BOUNDED]
    ranges = [
        f"{name} {number(measure.bound_low)} to {number(measure.bound_high)}"
        for name, measure in named
        if measure is not None and measure.bound_low is not None and measure.bound_low != measure.bound_high
    ]
    return f"Bounds, {results.name(answering, model=True)}: {', '.join(ranges)}." if ranges else ""


_BOUNDED = (("TBR", "tbr"), ("gap", "aspectual_awareness_gap"))


def _classes(results: Results, width: int) -> Iterable[RenderableType]:
    classes = verb_classes(results)
    if not classes:
        return

    def column(verb_class: str) -> Column:
        return estimates(spaced(verb_class), lambda a: results.get(a, "tbr", verb_class=verb_class))

    yield Text()
    yield Text("TBR by verb class", style="bold")
    # A constant answer is the same in every class.
    references = [reference for reference in results.references if not reference.constant]
    yield from answer_table([column(name) for name in classes], answer_rows(results, references), width)
