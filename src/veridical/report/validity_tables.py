"""Criterion validity as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from veridical.errors import printable
from veridical.validity.inference import Span, Tested
from veridical.validity.results import Validity
from veridical.validity.summaries import MetricFinding
from veridical.validity.wording import amount
from veridical.wording import MISSING, number, p_value, span

SIGNS = {"positive": "+", "negative": "(−)", "mixed": "(±)", "none": ""}
"""The sign of a benchmark's relation with an outcome, given the baseline."""
SENTENCES = 12
"""Sentences printed; all of them are on the page and in the JSON document."""


def render(record: Validity) -> RenderableType:
    """All tables in reading order: the data, the findings in sentences, then numbers."""
    return Group(*_parts(record))


def _parts(record: Validity) -> Iterator[RenderableType]:
    families = f" in {record.families} families" if record.families else ""
    yield Text(
        printable(
            f"{record.source}: {record.models:,} models{families}; {counted(record)}; "
            f"{record.draws:,} draws, seed {record.seed}"
        )
    )
    if record.account:
        yield Text(printable(f"{record.account}."))
    for note in record.quality:
        yield Text(printable(f"data, {note.kind}: {note.message}"))
    if record.verdicts:
        yield Text("")
    for sentence in record.verdicts[:SENTENCES]:
        yield Padding(Text(printable(sentence)), (0, 0, 0, 2))
    if len(record.verdicts) > SENTENCES:
        yield Text(f"  … and {len(record.verdicts) - SENTENCES} more on the page")
    if record.agreements:
        rows = (
            [a.reworked, a.original, number(a.rho), _span(a.interval), number(a.tau), f"{a.n:,}"]
            for a in record.agreements
        )
        yield _table("Rank agreement", ["reworked", "original", "ρ", "interval", "τ", "n"], rows, 2)
    if record.gains:
        rows = (
            [
                gain.benchmark,
                gain.outcome,
                gain.baseline,
                amount(gain.mae_gain),
                SIGNS[gain.relation],
                _amounts(gain.interval),
                _p(gain.test),
                _p(gain.flip),
                f"{gain.n:,}",
            ]
            for gain in record.gains
            if gain.baseline == record.gains[-1].baseline
        )
        headings = ["benchmark", "outcome", "over", "MAE gain", "sign", "interval", "p (Holm)", "sign flip", "n"]
        yield _table("Gain with each family left out", headings, rows, 3)
    if record.joint_gains:
        rows = (
            [
                one.name,
                one.outcome,
                amount(one.mae_gain),
                _amounts(one.interval),
                _p(one.test),
                "; ".join(f"{part.benchmark} {amount(part.mae_gain)}, p {_p(part.test)}" for part in one.contributions),
                f"{one.n:,}",
            ]
            for one in record.joint_gains
            if one.baseline == record.joint_gains[-1].baseline
        )
        headings = ["set", "outcome", "MAE gain", "interval", "p (Holm)", "each given the others", "n"]
        yield _table("Gain of several benchmarks together", headings, rows, 2)
    if record.metrics:
        rows = (
            [one.outcome, *(_finding(of) for of in one.findings), "yes" if one.agree else "no"]
            for one in record.metrics
        )
        yield _table("Which benchmarks add, by metric", ["outcome", "MAE", "R²", "ρ", "agree"], rows, 4)
    if record.partials:
        rows = (
            [
                p.benchmark,
                p.outcome,
                number(p.rho),
                _span(p.interval),
                f"{p.df}",
                _p(p.test),
                number(p.plain),
                f"{p.n:,}",
            ]
            for p in record.partials
        )
        headings = ["benchmark", "outcome", "partial ρ", "interval", "df", "p (Holm)", "ρ", "n"]
        yield _table("Partial rank correlation given size, family and controls", headings, rows, 2)
    if record.pooled_comparisons:
        rows = (
            [
                one.reworked,
                one.original,
                MISSING if one.gain_difference is None else amount(one.gain_difference, percent=True),
                _p(one.gain_test),
                number(one.rho_difference),
                _p(one.rho_test),
                f"{len(one.outcomes)}",
                f"{one.models:,}",
            ]
            for one in record.pooled_comparisons
        )
        headings = ["reworked", "original", "gain", "p (Holm)", "partial ρ", "p (Holm)", "outcomes", "models"]
        yield _table("Reworked less original over all outcomes, exchanged within models", headings, rows, 2)
    if record.comparisons:
        rows = (
            [
                c.reworked,
                c.original,
                c.outcome,
                amount(c.gain_difference),
                _amounts(c.gain_interval),
                _p(c.gain_test),
                number(c.rho_difference),
                _p(c.rho_test),
                f"{c.n:,}",
            ]
            for c in record.comparisons
        )
        headings = ["reworked", "original", "outcome", "MAE gain", "interval", "p (Holm)", "partial ρ", "p (Holm)", "n"]
        yield _table("Reworked less original", headings, rows, 3)


def _finding(of: MetricFinding) -> str:
    adds = ", ".join(of.adds) or "none"
    if of.best is None or of.gain is None:
        return adds
    return f"{adds} (most: {of.best} {amount(of.gain)}, p {_p(of.test)})"


def counted(record: Validity) -> str:
    """`4 benchmarks, 1 control, 3 outcomes`."""
    kinds = {"benchmark": record.benchmarks, "control": record.controls, "outcome": record.outcomes}
    return ", ".join(f"{len(names)} {kind}{'' if len(names) == 1 else 's'}" for kind, names in kinds.items())


def _span(interval: Span) -> str:
    shown = span(interval.low, interval.high)
    return shown if not shown or interval.level is not None else f"{shown} range"


def _amounts(interval: Span) -> str:
    if interval.low is None or interval.high is None:
        return ""
    shown = f"[{amount(interval.low)}, {amount(interval.high)}]"
    return shown if interval.level is not None else f"{shown} range"


def _p(test: Tested | None) -> str:
    if test is None:
        return MISSING
    return p_value(test.p) if test.holm is None or test.tests < 2 else f"{p_value(test.p)} ({p_value(test.holm)})"


def _table(title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], names: int) -> RenderableType:
    table = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False
    )
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < names else "right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return Padding(table, (1, 0))
