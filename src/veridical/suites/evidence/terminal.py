"""What the terminal shows of "same evidence, different targets": one table, a row an answerer."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rich.cells import cell_len
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.readouts.answers import MODE as READOUT_MODE
from veridical.report.answer_table import RULE, AnswerRow, Column, answer_table, estimates, value_of
from veridical.report.results import AnsweringKey, Results
from veridical.report.texts import interval, level, not_ok
from veridical.suites.evidence.recovered import count_of, per_token, recovered_by_heading
from veridical.wording import number, spaced


def evidence_table(_: Suite, results: Results, width: int) -> Iterable[RenderableType]:
    """Balanced accuracy, complete pairs in all and by kind, and the label's two steps."""
    has_pairs = any(name == "pair_recovery" for _, name, _ in results.index)

    def pairs(heading: str, kind: str, drop: int) -> Column:
        return Column(heading, lambda a: count_of(results.get(a, "pair_recovery", kind=kind)), drop=drop, gap=1)

    columns = [estimates("balanced", lambda a: results.get(a, "balanced_accuracy"))]
    if has_pairs:
        columns += [
            Column("pairs", lambda a: _counted(results.get(a, "pair_recovery")), _count(results)),
            pairs("Favors", "Favors", 4),
            pairs("Challenges", "Challenges", 3),
        ]
    columns += [
        Column("address", lambda a: number(value_of(results.get(a, "address_accuracy"))), gap=1),
        Column("polarity", lambda a: number(value_of(results.get(a, "polarity_accuracy"))), drop=1, gap=1),
        Column("not ok", lambda a: "" if a.constant else str(not_ok(results.statuses(a))), drop=2, gap=1),
    ]
    yield from answer_table(columns, _rows(results), width, "answered by")
    percent = next((level(measure) for measure in results.measures if measure.level is not None), "")
    legend = "balanced: mean recall over the gold labels that occur. "
    if has_pairs:
        legend += "pairs: both endpoints right, in all and by kind. "
    legend += "address: is the target addressed? polarity: of those taken as addressed, what it says."
    yield Text(f"{legend}{f' Intervals: {percent}.' if percent else ''}", style="dim")
    for line in per_token(results):
        yield Text(line, style="dim")
    yield from _by_category(results, width)


def _counted(measure: Measure | None) -> str:
    """`12 of 54 [.13, .35]`."""
    return count_of(measure) if measure is None else f"{count_of(measure)} {interval(measure)}".rstrip()


def _count(results: Results) -> Callable[[AnsweringKey], str]:
    return lambda answering: count_of(results.get(answering, "pair_recovery"))


def _by_category(results: Results, width: int) -> Iterable[RenderableType]:
    """Pairs recovered by kind and category, a table for each model and prompt."""
    for one in recovered_by_heading(results):
        yield Text()
        yield Text(f"Pairs recovered: {one.heading}", style="bold")
        first = max(cell_len(line.name) for line in one.lines)
        fitting, taken = 0, first
        for place, heading in enumerate(one.columns):
            taken += max(cell_len(heading), *(cell_len(line.cells[place]) for line in one.lines)) + 2
            fitting += taken <= width
        table = Table.grid(padding=(0, 2, 0, 0))
        for _ in range(fitting + 1):
            table.add_column(no_wrap=True)
        table.add_row("", *one.columns[:fitting], style="dim")
        for line in one.lines:
            table.add_row(line.name, *line.cells[:fitting])
        yield table
        if fitting < len(one.columns):
            yield Text(f"Left out at this width: {', '.join(one.columns[fitting:])}.", style="dim")


def _rows(results: Results) -> list[AnswerRow]:
    """Under each model and prompt, who answered and what was shown; below a rule, constant answers."""
    rows: list[AnswerRow] = []
    own = [answering for answering in (*results.answers, *results.references) if not answering.constant]
    for heading in dict.fromkeys(_heading(answering) for answering in own):
        rows.append(AnswerRow(" · ".join(heading)))
        rows += [AnswerRow(f"  {_name(answering)}", answering) for answering in own if _heading(answering) == heading]
    constant = [AnswerRow(results.name(answering), answering) for answering in results.references if answering.constant]
    return [*rows, RULE, *constant] if constant else rows


def _heading(answering: AnsweringKey) -> tuple[str, ...]:
    return tuple(part for part in (answering.model, answering.prompt) if part)


def _name(answering: AnsweringKey) -> str:
    """`answers`, `answers · generate`, `readout · no evidence`."""
    who = "answers" if answering.answerer == "model" else spaced(answering.answerer)
    mode = answering.mode if answering.mode not in ("loglikelihood", READOUT_MODE) else ""
    return " · ".join(filter(None, (who, mode, spaced(answering.input) if answering.input != "full" else "")))
