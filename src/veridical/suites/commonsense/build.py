"""From a definition and rows to a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from veridical.items import Choice, Factor, Grouping, Item, Member, Suite, digest
from veridical.prompts.template import Prompt
from veridical.suites.commonsense.rows import Row
from veridical.suites.commonsense.task import Gold, Sets, Task, text

MEASURES = "benchmark"
PROMPT = "zero-shot"

Place = tuple[str, str, str]
"""Set, role in it, and cluster above it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A row that is asked, as an item, with its places in each of the task's groupings."""

    row: Row
    item: Item
    places: tuple[tuple[Place, ...], ...]


@dataclass(frozen=True, slots=True)
class Built:
    """A suite, and what is to be told of how its rows became items."""

    suite: Suite
    notes: tuple[str, ...] = field(default=())


def asked_items(task: Task, rows: Sequence[Row]) -> list[Asked]:
    """The rows that a task asks, as items: unpacked, without those set aside and those that it does not keep.

    Raises UserError where a row is at fault, naming file, line and field.
    """
    found: list[Asked] = []
    for published in task.prepare(rows):
        if task.aside(published):
            continue
        for row in task.unpack(published):
            if task.keep(row):
                item = _item(task, row)
                found.append(Asked(row, item, tuple(_places(sets, row, item) for sets in task.sets)))
    return found


def left_aside(task: Task, rows: Sequence[Row]) -> tuple[str, ...]:
    """A line that says how many published rows are not asked, by reason; none where all are."""
    reasons = Counter(reason for row in rows if (reason := task.aside(row)))
    if not reasons:
        return ()
    told = ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
    return (f"{task.name}: {reasons.total()} of {len(rows)} rows are left aside: {told}",)


def once(task: Task, asked: Sequence[Asked]) -> tuple[list[Asked], tuple[str, ...]]:
    """Each item once, in the order of the rows, and lines that say which rows repeat another, and which contradict one.

    An item of several rows stands in the sets of all of them, and has the factors in which they agree.
    """
    rows: dict[str, list[Asked]] = {}
    for one in asked:
        rows.setdefault(one.item.id, []).append(one)
    items = [_together(found) for found in rows.values()]
    notes = []
    if repeated := [found for found in rows.values() if len(found) > 1]:
        first, second = repeated[0][:2]
        n = len(asked) - len(items)
        told = f"{task.name}: {n} of {len(asked)} rows repeat an earlier one and are asked once, the first"
        notes.append(f"{told} being {second.row.source}, {second.row.place}, which repeats {first.row.place}")
    if against := _contradictions(items):
        first, second = against[0]
        told = f"{task.name}: {len(against)} of {len(asked)} rows say that another answer of an earlier one is right"
        notes.append(f"{told}, and are asked too, the first being {second.row.place}, against {first.row.place}")
    return items, tuple(notes)


def _contradictions(items: Sequence[Asked]) -> list[tuple[Asked, Asked]]:
    """Items that ask what an earlier one asks, of the same choices in any order, and have another gold text."""
    earlier: dict[str, Asked] = {}
    found = []
    for one in items:
        texts = sorted((choice.context or "", choice.continuation) for choice in one.item.choices)
        first = earlier.setdefault(digest([dict(one.item.fields), texts]), one)
        if first is not one and _gold_texts(first.item).isdisjoint(_gold_texts(one.item)):
            found.append((first, one))
    return found


def _gold_texts(item: Item) -> set[tuple[str, str]]:
    return {(choice.context or "", choice.continuation) for choice in item.choices if choice.label in item.gold}


def _together(rows: Sequence[Asked]) -> Asked:
    first, *others = rows
    if not others:
        return first
    agreed = {
        name: value
        for name, value in first.item.factors.items()
        if all(other.item.factors.get(name) == value for other in others)
    }
    places = tuple(
        tuple({place[0]: place for one in reversed(rows) for place in one.places[number]}.values())[::-1]
        for number in range(len(first.places))
    )
    return replace(first, item=first.item.model_copy(update={"factors": agreed}), places=places)


def suite_of(task: Task, asked: Sequence[Asked], *, name: str = "") -> Suite:
    """The suite of items that are distinct."""
    groupings = tuple(
        _grouping(sets.name, ((one.item.id, place) for one in asked for place in one.places[number]))
        for number, sets in enumerate(task.sets)
    )
    labels = dict.fromkeys(choice.label for one in asked for choice in one.item.choices)
    return Suite(
        name=name or task.name,
        version=task.version,
        title=task.title,
        licence=task.licence,
        citation=task.citation,
        labels=tuple(sorted(labels, key=_order(task.labels))),
        measures=MEASURES,
        normalisation=task.normalisation,
        all_normalisations=True,
        prompts=(prompt_of(task),),
        groupings=groupings,
        items=tuple(one.item for one in asked),
    )


def prompt_of(task: Task) -> Prompt:
    return Prompt(name=PROMPT, user=task.prompt, plain=True, delimiter=task.delimiter)


def _order(labels: Sequence[str]) -> Callable[[str], int]:
    places = {label: place for place, label in enumerate(labels)}
    return lambda label: places.get(label, len(places))


def _grouping(name: str, places: Iterable[tuple[str, Place]]) -> Grouping:
    members = (Member(set=at[0], role=at[1], cluster=at[2], item=item) for item, at in places)
    return Grouping(name=name, members=tuple(members))


def _places(sets: Sets, row: Row, item: Item) -> tuple[Place, ...]:
    name = item.id if sets.set is None else text(sets.set, row).strip()
    role, cluster = ("" if cell is None else text(cell, row).strip() for cell in (sets.role, sets.cluster))
    return ((name, role, cluster),) if name else ()


def _item(task: Task, row: Row) -> Item:
    published = task.choices(row)
    order = _order_of(published) if task.shuffle else range(len(published))
    try:
        choices = _choices(task.labels, [published[place] for place in order], row)
        labels = {place: choice.label for place, choice in zip(order, choices, strict=True)}
        return Item(
            fields={name: text(cell, row) for name, cell in task.fields.items()},
            choices=choices,
            gold=_gold(task.gold, labels, row, task.files.label),
            golds={name: _gold(gold, labels, row, task.files.label) for name, gold in task.golds.items()},
            human=task.human(row) if task.human else {},
            factors=_factors(task, row),
            name=text(task.id, row) if task.id else row.place,
        )
    except ValidationError as error:
        row.fail(error.errors()[0]["msg"].removeprefix("Value error, "))


def _factors(task: Task, row: Row) -> dict[str, Factor]:
    """The row's factors; what is blank is none."""
    cells = task.factors.items()
    values = {name: row.maybe(cell).strip() if isinstance(cell, str) else cell(row) for name, cell in cells}
    return {name: value for name, value in values.items() if value != ""}


def _order_of(choices: Sequence[str | Choice]) -> list[int]:
    """An order of the choices that depends on their texts and not on where they stood."""
    texts = [choice if isinstance(choice, str) else f"{choice.context}{choice.continuation}" for choice in choices]
    return sorted(range(len(texts)), key=lambda place: digest([texts[place], sorted(texts)]))


def _choices(labels: Sequence[str], found: Sequence[str | Choice], row: Row) -> tuple[Choice, ...]:
    if len(found) > len(labels):
        row.fail(f"{len(found)} choices, and there are {len(labels)} labels for them")
    return tuple(
        choice if isinstance(choice, Choice) else Choice(label=label, continuation=choice)
        for label, choice in zip(labels, found, strict=False)
    )


def _gold(gold: Gold, labels: Mapping[int, str], row: Row, field: str) -> tuple[str, ...]:
    """The right labels; `labels` are by the choices' published places. `field` is where a file of labels puts them."""
    found = gold(row)
    right: list[str] = []
    for one in (found,) if isinstance(found, int | str) else found:
        if isinstance(one, int) and one not in labels:
            row.fail(f"the label is out of range: choice {one + 1} of {len(labels)}", field if row.has(field) else "")
        right.append(labels[one] if isinstance(one, int) else one)
    return tuple(right)
