"""What a measure set is: the quantities, comparisons, rules and presentation by which one kind of suite is judged."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module

from veridical.errors import unknown
from veridical.items import Factor, Suite
from veridical.judge import names
from veridical.judge.answering import Answering
from veridical.judge.estimate import JudgeSettings
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity
from veridical.judge.verdict import RULES, Rule


@dataclass(frozen=True, slots=True)
class SliceContrast:
    """Two slices of one measure to be compared: `one` less `other`, which `against` names."""

    one: Quantity
    other: Quantity
    against: Mapping[str, Factor]


def _none(_: Answering) -> Iterable[SliceContrast]:
    return ()


def _no_records(_: Answering, __: JudgeSettings) -> Iterable[Measure]:
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
    one answering; `records` gives measures that are not means of answers, with their intervals. `guessed` lists the
    quantities whose level of chance is that of a uniform guess (`judge.chance`), and `levels` the levels of chance
    that are computed in another way. `graded` says that answers are known as right or wrong alone, so that how often
    two models give the same one says nothing. `rules` make the sentence on an answering (`judge.verdict`);
    `presentation` is where the `report.presentation.Presentation` of its results is, `module:attribute`, none for the
    generic one.
    """

    quantities: Callable[[Answering, Sequence[str]], Iterable[Quantity]]
    compared: Callable[[Answering], Iterable[Quantity]]
    slices: Callable[[Answering], Iterable[SliceContrast]] = _none
    records: Callable[[Answering, JudgeSettings], Iterable[Measure]] = _no_records
    guessed: Callable[[Answering], Iterable[Quantity]] = _no_guess
    levels: Callable[[Suite], Iterable[Measure]] = _no_levels
    graded: bool = False
    rules: tuple[Rule, ...] = RULES
    presentation: str = ""


def measure_set(name: str) -> MeasureSet:
    """The measure set of that name. Raises UserError for a name that there is not."""
    known = names.MEASURE_SETS if name in names.MEASURE_SETS else names.measure_sets()
    if name not in known:
        raise unknown("measure set", name, known)
    module, attribute = known[name].split(":")
    found: MeasureSet = getattr(import_module(module), attribute)
    return found
