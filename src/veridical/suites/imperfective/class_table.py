"""Accuracy by verb class and group: one model's, or the mean over models with its range."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from veridical.judge.measure import Measure
from veridical.report.results import AnsweringKey, Results, in_order
from veridical.report.text_table import TextTable
from veridical.wording import MISSING, number, spaced

ACTIVITY = "Activity"
"""The class of a group in which there is no other."""


TELIC_CLASSES = ("Creation", "Change_of_State", "Consumption", "Motion_to_Goal")


def verb_classes(results: Results, measure: str = "tbr") -> tuple[str, ...]:
    """The verb classes by which a measure is given, those of the paper first and in its order."""
    return in_order(results.values_of(measure, "verb_class"), TELIC_CLASSES)


def class_tables(results: Results) -> list[TextTable]:
    """A table a prompt: rows are verb classes, columns groups, cells means over the models that answered it."""
    if not _classes(results):
        return []
    prompts: dict[str, list[AnsweringKey]] = {}
    for answering in results.answers:
        prompts.setdefault(results.name(answering), []).append(answering)
    return [_table(results, name, answerings) for name, answerings in prompts.items()]


def _classes(results: Results) -> tuple[str, ...]:
    """The verb classes by which accuracy in a group is given, in the order of the TBR's."""
    found = {
        str(dict(where)["verb_class"])
        for _, name, where in results.index
        if name == "accuracy" and {factor for factor, _ in where} == {"group", "verb_class"}
    }
    known = [name for name in verb_classes(results) if name in found]
    return (*known, *sorted(found - set(known)))


def _table(results: Results, name: str, answerings: Sequence[AnsweringKey]) -> TextTable:
    groups = results.groups
    classes = _classes(results)
    rows = [
        (spaced(verb_class), *(_cell(results, answerings, group, verb_class) for group in groups))
        for verb_class in (*classes, *([] if ACTIVITY in classes else [ACTIVITY]))
    ]
    several = len(answerings) > 1
    of = f"mean over {len(answerings)} models (lowest to highest)" if several else answerings[0].model
    return TextTable(
        title=f"Accuracy by verb class and group, {name}",
        caption=f"Cells: {of}. Groups without a class of their own stand under {ACTIVITY}.",
        headings=("verb class", *map(spaced, groups)),
        rows=tuple(row for row in rows if any(cell != MISSING for cell in row[1:])),
    )


def _cell(results: Results, answerings: Sequence[AnsweringKey], group: str, verb_class: str) -> str:
    values = [
        measure.value
        for answering in answerings
        if (measure := _accuracy(results, answering, group, verb_class)) and measure.value is not None
    ]
    if not values:
        return MISSING
    shown = number(mean(values))
    return f"{shown} ({number(min(values))}–{number(max(values))})" if len(answerings) > 1 else shown


def _accuracy(results: Results, answering: AnsweringKey, group: str, verb_class: str) -> Measure | None:
    """Accuracy of the class in the group; of the whole group under `Activity` where it has that class alone."""
    found = results.get(answering, "accuracy", group=group, verb_class=verb_class)
    divided = any(
        name == "accuracy" and dict(where).get("group") == group and "verb_class" in dict(where)
        for _, name, where in results.index
    )
    if found is None and verb_class == ACTIVITY and not divided:
        return results.get(answering, "accuracy", group=group)
    return found
