"""What the terminal shows of a benchmark: accuracy under every normalisation, of sets, and by factors of few values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.text import Text

from veridical.items import Factor, Suite
from veridical.judge.normalised import NORMALISATIONS
from veridical.report.answer_table import Column, answer_rows, answer_table, estimates, not_ok_line, value_of
from veridical.report.results import Results
from veridical.report.texts import level, not_ok
from veridical.wording import number, spaced

MOST_VALUES = 5
"""A factor with more values is left to the page."""

HEADINGS = {"unconditional": "uncond."}


def benchmark_table(suite: Suite, results: Results, width: int) -> Iterable[RenderableType]:
    """Accuracy (under the suite's own normalisation, with intervals, then under each), sets, chance and majority."""
    baselines = [a for a in results.references if a.answerer in ("chance", "majority") or not a.constant]
    rows = answer_rows(results, baselines)
    yield from answer_table(_columns(results), rows, width)
    yield Text(_legend(results, suite.normalisation), style="dim")
    for factor, values in _factors(results).items():
        yield Text()
        columns = [_by(results, factor, value) for value in values]
        yield from answer_table(columns, answer_rows(results, [a for a in baselines if not a.constant]), width)
        yield Text(f"Accuracy by {spaced(factor)}.", style="dim")


def _columns(results: Results) -> list[Column]:
    def under(name: str) -> Column:
        heading = HEADINGS.get(name, name)
        return Column(heading, lambda a: number(value_of(results.get(a, "accuracy", normalisation=name))), drop=2)

    columns = [estimates("accuracy", lambda a: results.get(a, "accuracy"))]
    scored = {where.get("normalisation") for where in _slices(results)}
    columns += [under(name) for name in NORMALISATIONS if name in scored]
    if any(name == "two_best_accuracy" for _, name, _ in results.index):
        columns.append(estimates("both", lambda a: results.get(a, "two_best_accuracy")))
    if any(name == "set_accuracy" for _, name, _ in results.index):
        columns.append(estimates("sets", lambda a: results.get(a, "set_accuracy")))
    if any(name == "forced_choice" for _, name, _ in results.index):
        columns.append(estimates("forced", lambda a: results.get(a, "forced_choice")))
    return [*columns, Column("not ok", lambda a: "" if a.constant else str(not_ok(results.statuses(a))), drop=1)]


def _legend(results: Results, normalisation: str) -> str:
    percent = next((level(measure) for measure in results.measures if measure.level is not None), "")
    parts = [f"accuracy: normalised by {normalisation}" if normalisation != "sum" else "accuracy: of sums"]
    if any(name == "set_accuracy" for _, name, _ in results.index):
        parts.append("sets: all items of a set right")
    if any(name == "forced_choice" for _, name, _ in results.index):
        parts.append("forced: opposite items distinguished, whichever answer is preferred overall")
    if any(name == "two_best_accuracy" for _, name, _ in results.index):
        parts.append("both: the two right choices are the best two")
    if percent:
        parts.append(f"intervals: {percent}")
    legend = "; ".join(parts)
    return "\n".join(filter(None, (f"{legend[0].upper()}{legend[1:]}.", not_ok_line(results))))


def _slices(results: Results) -> list[dict[str, Factor]]:
    return [dict(where) for _, name, where in results.index if name == "accuracy"]


def _factors(results: Results) -> dict[str, Sequence[Factor]]:
    """Factor to its values, where accuracy is given by it and it has few."""
    values: dict[str, dict[Factor, None]] = {}
    for where in _slices(results):
        if len(where) == 1:
            ((name, value),) = where.items()
            values.setdefault(name, {})[value] = None
    return {
        name: list(found) for name, found in values.items() if name != "normalisation" and len(found) <= MOST_VALUES
    }


def _by(results: Results, factor: str, value: Factor) -> Column:
    return estimates(spaced(str(value)), lambda a: results.get(a, "accuracy", **{factor: value}))
