"""The numbers that a harness reported for a task, set against what its log comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from veridical.files.ledger import reasons
from veridical.interop.imports.grading import is_accuracy
from veridical.interop.imports.logged import LoggedTask
from veridical.interop.imports.tally import Tallies, Tally
from veridical.runs.provenance import Metric, Notice

LARGEST_ROUNDING = 0.005
"""A reported number with few decimals may be a rounded one: it may differ from the mean of the log's scores by half a
unit of its last decimal, and by no more than this."""
_MEANS = ("", "mean", "acc_all", "nanmean")
ALTERED = "the two are not of the same answers, or one was altered"


def reported_otherwise(
    logged: LoggedTask,
    tallies: Tallies,
    repeated: Tallies,
    metrics: Sequence[Metric],
    accuracy: Mapping[str, tuple[int, int]],
) -> Iterator[Notice]:
    """Metrics whose reported number is not what the log's own scores come to, or cannot be checked.

    `accuracy` has, by reading, how many answers of how many are right by their choices, where these judge.
    """
    for one in metrics:
        if one.reported is None:
            continue
        key = one.metric, one.reading
        again, own = repeated.found.get(key), tallies.found.get(key)
        found = one.own if one.own is not None else one.recomputed
        if again is not None and own is not None and one.own is not None:
            yield from _with_copies(logged.name, one, own, again)
        elif found is not None:
            if _is_mean(logged, one, own) and not is_same(one.reported, found):
                yield _differs(logged, one, found)
        elif is_accuracy(one.metric):
            yield from _unchecked(logged.name, one, accuracy)


def _differs(logged: LoggedTask, one: Metric, found: float) -> Notice:
    lost = reasons(logged.ledger.left_out)
    return Notice(
        task=logged.name,
        says=f"{one.metric} ({one.reading}) is reported as {one.reported:.4g}, and the scores of the {one.n:,} answers "
        f"in the log come to {found:.4g}" + (f" without the records that are left out ({lost})" if lost else ""),
        means="" if lost else ALTERED,
    )


def _with_copies(task: str, one: Metric, own: Tally, again: Tally) -> Iterator[Notice]:
    """Where answers stand twice in the log: the reported number is over all of them, what is judged over one each."""
    n = own.numbers + again.numbers
    over_all = (own.own + again.own) / n if n else 0.0
    reported, mean = one.reported or 0.0, one.own or 0.0
    if is_same(reported, mean):
        return
    said = f"{one.metric} ({one.reading}) is reported as {reported:.4g}"
    copies = f"{again.n:,} of {own.n + again.n:,} answers are second ones to a document and left out"
    if is_same(reported, over_all):
        yield Notice(
            task=task,
            says=f"{said}, as the scores of all {n:,} answers in the log come to; {copies}: {mean:.4g} without them",
            means="the harness's number counts documents that stand in its log more than once",
        )
        return
    yield Notice(
        task=task,
        says=f"{said}, and the scores of the {n:,} answers in the log come to {over_all:.4g}; {copies}: {mean:.4g} "
        "without them",
        means=ALTERED,
    )


def _unchecked(task: str, one: Metric, accuracy: Mapping[str, tuple[int, int]]) -> Iterator[Notice]:
    """An accuracy that was reported and of which no answer has a score, and the accuracy of the choices."""
    right, of = accuracy.get(one.reading, (0, 0)) if len(accuracy) != 1 else next(iter(accuracy.values()))
    said = (
        f"{one.metric} ({one.reading}) is reported as {one.reported:.4g}, and no answer in the log has a score for it"
    )
    if not of:
        yield Notice(task=task, says=said, means="it cannot be checked")
    elif not is_same(one.reported or 0.0, right / of):
        yield Notice(task=task, says=f"{said}: by its choices accuracy is {right / of:.4g} of {of:,}", means=ALTERED)


def _is_mean(logged: LoggedTask, one: Metric, tally: Tally | None) -> bool:
    """Whether a metric's number is the mean of the single scores: said so, or the scores are nothing but 0 and 1."""
    if logged.aggregated.get(one.metric, "") in _MEANS:
        return True
    return is_accuracy(one.metric) and tally is not None and tally.numbers == tally.ones + tally.zeros


def is_same(reported: float, found: float) -> bool:
    """Whether a reported number is the one that was found, rounded or in per cent."""
    return _is_near(reported, found) or _is_near(reported, 100 * found)


def _is_near(reported: float, found: float) -> bool:
    decimals = len(repr(reported).partition(".")[2]) if "e" not in repr(reported) else 16
    tolerance = max(1e-6, min(0.5000001 * 10.0**-decimals, LARGEST_ROUNDING)) * max(1.0, abs(reported))
    return abs(reported - found) <= tolerance
