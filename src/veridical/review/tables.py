"""The agreement of raters as tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from veridical.errors import printable
from veridical.review.agreement import Disagreement, QuestionAgreement, ReviewAgreement
from veridical.review.estimates import CONFIDENCE, Estimate


def render(agreement: ReviewAgreement) -> RenderableType:
    """Everything in the order in which one reads it: who rated what, agreement, expectations, disagreements."""
    return Group(*_parts(agreement))


def _parts(agreement: ReviewAgreement) -> Iterator[RenderableType]:
    absent = f"; no sheet of {_names(agreement.absent)}" if agreement.absent else ""
    yield Text(
        printable(
            f"{agreement.suite} {agreement.version}: {agreement.n_items:,} items in {agreement.n_sets:,} sets, "
            f"rated by {_names(agreement.raters)}{absent}"
        )
    )
    if agreement.account:
        yield Text(f"{agreement.account}.")
    yield Text(f"Value and its {CONFIDENCE:.0%} interval; over pairs of raters where it is about agreement.")
    yield _table("", _agreement_rows(agreement), agreement)
    yield from (_rater_table(question) for question in agreement.questions)
    listed = agreement.disagreements
    yield Text(f"\nDisagreements between raters, or with what is expected: {len(listed):,}" if listed else "")
    yield from (_disagreement(found) for found in listed)


def _names(raters: Sequence[int]) -> str:
    return f"rater{'s' if len(raters) > 1 else ''} {', '.join(map(str, raters))}"


def _agreement_rows(agreement: ReviewAgreement) -> Iterator[tuple[str, list[Estimate | None]]]:
    questions, overall = agreement.questions, agreement.overall
    rows: dict[str, list[Estimate | None]] = {
        "mean": [question.mean for question in questions],
        "exact agreement": [question.exact for question in questions],
        "adjacent agreement": [question.adjacent for question in questions],
        "alpha, nominal": [question.alpha_nominal for question in questions],
        "alpha, ordinal": [question.alpha_ordinal for question in questions],
        "every rater as expected": [question.every_rater for question in questions],
        "  in the whole set": [question.every_rater_sets for question in questions],
    }
    shared = (overall.mean, overall.exact, overall.adjacent) if overall else ()
    together: dict[str, Estimate | None] = dict(zip(rows, shared, strict=False))
    for name, cells in rows.items():
        if any(cells):
            yield name, [*cells, together.get(name)] if overall else cells


def _table(
    corner: str, rows: Iterable[tuple[str, Sequence[Estimate | None]]], agreement: ReviewAgreement
) -> RenderableType:
    table = _new_table(corner, [q.question for q in agreement.questions] + (["all"] if agreement.overall else []))
    for name, cells in rows:
        table.add_row(Text(name), *(Text(_shown(cell)) for cell in cells))
    table.add_row(Text("missing ratings"), *(Text(f"{question.missing:,}") for question in agreement.questions))
    return Padding(table, (1, 0))


def _new_table(corner: str, headings: Iterable[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    table.add_column(corner)
    for heading in headings:
        table.add_column(Text(printable(heading)), justify="right", overflow="fold")
    return table


def _rater_table(question: QuestionAgreement) -> RenderableType:
    values = ", ".join(f"{value}: {count:,}" for value, count in question.counts.items())
    scored = question.mean is not None
    expecting = question.every_rater is not None
    in_sets = question.every_rater_sets is not None
    columns = [("mean", scored), ("as expected", expecting), ("in the whole set", in_sets)]
    table = _new_table(question.question, ["rated", "missing", *(name for name, there in columns if there)])
    for rater in question.raters:
        mean = "–" if rater.mean is None else f"{rater.mean:.2f}"
        cells = [(mean, scored), (_shown(rater.expected), expecting), (_shown(rater.expected_sets), in_sets)]
        table.add_row(
            Text(f"rater {rater.rater}"),
            f"{rater.rated:,}",
            f"{rater.missing:,}",
            *(Text(cell) for cell, there in cells if there),
        )
    pairs = [
        f"raters {pair.raters[0]} and {pair.raters[1]}: {_number(pair.exact)} exact"
        + (f", {_number(pair.adjacent)} adjacent" if pair.adjacent is not None else "")
        + f" (n {pair.n:,})"
        for pair in question.pairs
    ]
    lines = [printable(f"{question.text} {values}"), *pairs]
    return Padding(Group(*(Text(line) for line in lines), table), (0, 0, 1, 0))


def _shown(estimate: Estimate | None) -> str:
    if estimate is None:
        return ""
    if estimate.value is None:
        return "–"
    span = "" if estimate.low is None else f"\n[{_number(estimate.low)}, {_number(estimate.high)}]"
    return f"{_number(estimate.value)}  n {estimate.n:,}{span}"


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 1 else f"{value:.2f}"


def _disagreement(found: Disagreement) -> RenderableType:
    given = ", ".join(f"rater {rater}: {value}" for rater, value in found.ratings.items())
    expected = f"; expected {' or '.join(found.expected)}" if found.expected else ""
    head = f"{found.question}, {found.name or found.item} (set {found.set}): {given}{expected}"
    comments = [f"rater {rater}'s comment: {comment}" for rater, comment in found.comments.items()]
    texts = [f"{heading}: {text}" for heading, text in found.texts]
    body = Group(*(Text(printable(line)) for line in (*texts, *comments)))
    return Group(Text(printable(head), style="bold"), Padding(body, (0, 0, 1, 2)))
