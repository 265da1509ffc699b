"""Which measures judge which suite: a table of names, open for more, imported when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from veridical.errors import unknown
from veridical.items import Factor, Suite
from veridical.judge.answering import Answering
from veridical.judge.estimate import Settings
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity


@dataclass(frozen=True, slots=True)
class SliceContrast:
    """Two slices of one measure to be compared: `one` less `other`, which `against` names."""

    one: Quantity
    other: Quantity
    against: Mapping[str, Factor]


def _none(_: Answering) -> Iterable[SliceContrast]:
    return ()


def _no_records(_: Answering, __: Settings) -> Iterable[Measure]:
    return ()


def _no_levels(_: Suite) -> Iterable[Measure]:
    return ()


def _no_guess(_: Answering) -> Iterable[Quantity]:
    return ()


@dataclass(frozen=True, slots=True)
class MeasureSet:
    """How one kind of suite is judged.

    `quantities` lists everything that is measured of one answering, with accuracy also by the factors asked
    for; `compared` is the part that is compared across prompts and models; `slices` are comparisons within
    one answering; `records` are what is no mean of answers, with their intervals. `guessed` lists the quantities whose
    level of chance is that of a uniform guess (`judge.chance`), and `levels` the levels of chance that are computed in
    another way. `graded` says that answers are known as right or wrong alone, so that how often two models give the
    same one says nothing.
    """

    quantities: Callable[[Answering, Sequence[str]], Iterable[Quantity]]
    compared: Callable[[Answering], Iterable[Quantity]]
    slices: Callable[[Answering], Iterable[SliceContrast]] = _none
    records: Callable[[Answering, Settings], Iterable[Measure]] = _no_records
    guessed: Callable[[Answering], Iterable[Quantity]] = _no_guess
    levels: Callable[[Suite], Iterable[Measure]] = _no_levels
    graded: bool = False


MEASURE_SETS: dict[str, str] = {
    "accuracy": "veridical.judge.generic:MEASURE_SET",
    "benchmark": "veridical.suites.commonsense.measures:MEASURE_SET",
    "graded": "veridical.judge.generic:GRADED",
    "evidence": "veridical.suites.evidence.measures:MEASURE_SET",
    "imperfective": "veridical.suites.imperfective.measures:BETWEEN_SETS",
    "imperfective-quads": "veridical.suites.imperfective.measures:WITHIN_SETS",
    "merge": "veridical.suites.merge.measures:MEASURE_SET",
}
"""Name of a measure set (`Suite.measures`) to where it is: `module:attribute`."""


def register(name: str, where: str) -> None:
    """Add a measure set under a name that suites can use. `where` is `module:attribute`, imported on use.

    Raises ValueError where the name stands for another one already.
    """
    if MEASURE_SETS.setdefault(name, where) != where:
        raise ValueError(f"measure set {name!r} is {MEASURE_SETS[name]} already")


def measure_set(name: str) -> MeasureSet:
    """The measure set of that name. Raises UserError for a name that there is not."""
    if name not in MEASURE_SETS:
        raise unknown("measure set", name, MEASURE_SETS)
    module, attribute = MEASURE_SETS[name].split(":")
    found: MeasureSet = getattr(import_module(module), attribute)
    return found
