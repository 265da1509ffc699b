"""From a definition and rows to a suite."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pydantic import ValidationError

from veridical.digests import canonical_text, text_digest
from veridical.files.decoding import in_words, leading_fault
from veridical.files.ledger import Ledger
from veridical.items import Choice, Factor, Grouping, Item, Member, Suite
from veridical.prompts.template import Prompt
from veridical.suites.commonsense.row import Row, RowError
from veridical.suites.commonsense.task import Gold, Sets, Task, text
from veridical.suites.drafted import Draft, DraftedItems, DraftedSuite, Option, drafted_places

MEASURES = "benchmark"
PROMPT = "zero-shot"
MOST_LACKING = 0.3
"""Share of the rows that may lack something and be left out; of more, the first is an error: it is another file than
was meant, or another split. Chosen by Veridical."""
MOST_AT_FAULT = 0.04
"""Share of the rows that may be wrong and be left out; of more, the first is an error. Chosen by Veridical: labels
counted from another number than the definition's put a quarter of the rows or more out of range."""

Place = tuple[str, str, str]
"""Set, role in it, and cluster above it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A row that is asked, as the draft of an item, with its places in each of the task's groupings."""

    row: Row
    draft: Draft
    places: tuple[tuple[Place, ...], ...]

    @property
    def item(self) -> Item:
        """The item. Raises RowError where there can be no such one."""
        try:
            return self.draft.item()
        except ValidationError as error:
            self.row.fail(in_words(leading_fault(error)))


@dataclass(frozen=True, slots=True)
class Built:
    """A suite, and notes on how its rows became items."""

    suite: Suite
    notes: tuple[str, ...] = field(default=())


def asked_items(task: Task, rows: Sequence[Row]) -> list[Asked]:
    """The rows that a task asks, as drafts of items. Raises UserError as `asked_and_left_out` does."""
    return asked_and_left_out(task, rows)[0]


def asked_and_left_out(task: Task, rows: Sequence[Row]) -> tuple[list[Asked], tuple[str, ...], Ledger]:
    """The rows that a task asks, as drafts of items, what to say of those left out, and the ledger.

    In the ledger a row of which a part is at fault (a perturbation of several) is left out by the reason of its first
    part at fault.

    Left out are what the definition sets aside, and rows that lack something or are wrong where these are few
    (`MOST_LACKING`, `MOST_AT_FAULT`). Raises UserError, naming file, line and field, where they are more.
    """
    found: list[Asked] = []
    reasons: Counter[str] = Counter()
    faults: list[RowError] = []
    faulty: Counter[str] = Counter()
    prepared = task.prepare(rows)
    ledger = Ledger(read=len(prepared))
    for published in prepared:
        try:
            if reason := task.aside(published):
                reasons[reason] += 1
                continue
            unpacked = list(task.unpack(published))
        except RowError as error:
            faults.append(error)
            faulty[error.reason] += 1
            continue
        n_faults = len(faults)
        for row in unpacked:
            try:
                draft = _draft(task, row)
                found.append(Asked(row, draft, tuple([_places(task, sets, row, draft) for sets in task.sets])))
            except RowError as error:
                faults.append(error)
        if len(faults) > n_faults:
            faulty[faults[n_faults].reason] += 1
        else:
            ledger.use()
    tried = len(found) + len(faults)
    for lacking, most in ((False, MOST_AT_FAULT), (True, MOST_LACKING)):
        some = [error for error in faults if error.lacking is lacking]
        if len(some) > most * tried:
            raise some[0]
    kinds = Counter(error.reason for error in faults)
    first = f"; the first: {faults[0]}" if faults else ""
    for reason, n in (reasons + faulty).items():
        ledger.leave(reason, n)
    ledger.check(rows[0].source if rows else task.name)
    notes = (
        *_left_out(task, len(rows), "are left aside", reasons),
        *(f"{line}{first}" for line in _left_out(task, tried, "cannot be asked", kinds)),
    )
    return found, notes, ledger


def _left_out(task: Task, n_rows: int, why: str, reasons: Counter[str]) -> tuple[str, ...]:
    if not reasons:
        return ()
    listed = ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
    return (f"{task.name}: {reasons.total()} of {n_rows} rows {why}: {listed}",)


def once(task: Task, asked: Sequence[Asked]) -> tuple[list[Asked], tuple[str, ...]]:
    """Each item once, in the order of the rows, and lines that say which rows repeat another, and which contradict one.

    An item of several rows stands in the sets of all of them, and has the factors in which they agree.
    """
    rows: dict[str, list[Asked]] = {}
    for one in asked:
        rows.setdefault(one.draft.id, []).append(one)
    items = [_together(found) for found in rows.values()]
    notes = []
    if repeated := [found for found in rows.values() if len(found) > 1]:
        first, second = repeated[0][:2]
        n = len(asked) - len(items)
        message = f"{task.name}: {n} of {len(asked)} rows repeat an earlier one and are asked once, the first"
        notes.append(f"{message} being {second.row.source}, {second.row.place}, which repeats {first.row.place}")
    if against := _contradictions(items):
        first, second = against[0]
        message = f"{task.name}: {len(against)} of {len(asked)} rows say that another answer of an earlier one is right"
        notes.append(f"{message}, and are asked too, the first being {second.row.place}, against {first.row.place}")
    return items, tuple(notes)


def _contradictions(items: Sequence[Asked]) -> list[tuple[Asked, Asked]]:
    """Items that ask what an earlier one asks, of the same choices in any order, and have another gold text."""
    earlier: dict[object, Asked] = {}
    found = []
    for one in items:
        texts = sorted([(option.context or "", option.continuation) for option in one.draft.choices])
        first = earlier.setdefault((*one.draft.fields.items(), *texts), one)
        if first is not one and _gold_texts(first.draft).isdisjoint(_gold_texts(one.draft)):
            found.append((first, one))
    return found


def _gold_texts(draft: Draft) -> set[tuple[str, str]]:
    return {(option.context or "", option.continuation) for option in draft.choices if option.label in draft.gold}


def _together(rows: Sequence[Asked]) -> Asked:
    first, *others = rows
    if not others:
        return first
    agreed = {
        name: value
        for name, value in first.draft.factors.items()
        if all(other.draft.factors.get(name) == value for other in others)
    }
    places = tuple(
        tuple({place[0]: place for one in reversed(rows) for place in one.places[number]}.values())[::-1]
        for number in range(len(first.places))
    )
    return replace(first, draft=first.draft.with_factors(agreed), places=places)


def suite_of(task: Task, asked: Sequence[Asked], *, drafted: bool = False) -> Suite:
    """The suite of items that are distinct, without the sets that no item is in.

    With `drafted` its items are made when they are asked for.
    """
    groupings = {sets.name: _members(asked, number) for number, sets in enumerate(task.sets)}
    groupings = {name: members for name, members in groupings.items() if members}
    labels = dict.fromkeys(option.label for one in asked for option in one.draft.choices)
    head = {
        "name": task.name,
        "version": task.version,
        "title": task.title,
        "licence": task.licence,
        "citation": task.citation,
        "labels": tuple(sorted(labels, key=_order(task.labels))),
        "measures": MEASURES,
        "normalisation": task.normalisation,
        "all_normalisations": True,
        "prompts": (prompt_of(task),),
    }
    if drafted:
        places = {name: drafted_places(members) for name, members in groupings.items()}
        return DraftedSuite(**head, items=DraftedItems(tuple(one.draft for one in asked)), drafted=places)
    return Suite(
        **head,
        groupings=tuple(
            Grouping(
                name=name,
                members=tuple(
                    Member(set=at, item=item, role=role, cluster=cluster) for at, item, role, cluster in members
                ),
            )
            for name, members in groupings.items()
        ),
        items=tuple(one.item for one in asked),
    )


def without_sets(task: Task, asked: Sequence[Asked]) -> tuple[str, ...]:
    """Lines that name the sets of the task that no item is in."""
    empty = [
        sets.name
        for number, sets in enumerate(task.sets)
        if sets.set is not None and not any(one.places[number] for one in asked)
    ]
    return tuple(f"{task.name}: no row says to which {name} set it belongs: no such sets are judged" for name in empty)


def prompt_of(task: Task) -> Prompt:
    """The one prompt of a task's suite: the task's text as it is, without a chat template's turns."""
    return Prompt(name=PROMPT, user=task.prompt, plain=True, delimiter=task.delimiter)


def _order(labels: Sequence[str]) -> Callable[[str], int]:
    places = {label: place for place, label in enumerate(labels)}
    return lambda label: places.get(label, len(places))


def _members(asked: Sequence[Asked], number: int) -> list[tuple[str, str, str, str]]:
    return [(name, one.draft.id, role, cluster) for one in asked for name, role, cluster in one.places[number]]


def _places(task: Task, sets: Sets, row: Row, item: Draft) -> tuple[Place, ...]:
    name = item.id if sets.set is None else (item.name if sets.set is task.id else text(sets.set, row)).strip()
    role = "" if sets.role is None else text(sets.role, row).strip()
    cluster = "" if sets.cluster is None else text(sets.cluster, row).strip()
    return ((name, role, cluster),) if name else ()


def _draft(task: Task, row: Row) -> Draft:
    published = task.choices(row)
    order = _order_of(published) if task.shuffle else range(len(published))
    choices = _choices(task.labels, [published[place] for place in order], row)
    labels = {place: option.label for place, option in zip(order, choices, strict=True)}
    return Draft.of(
        fields={name: text(cell, row) for name, cell in task.fields.items()},
        choices=choices,
        gold=_gold(task.gold, labels, row, task.files.label),
        golds={name: _gold(gold, labels, row, task.files.label) for name, gold in task.golds.items()},
        human=task.human(row) if task.human else {},
        factors=_factors(task, row),
        name=text(task.id, row) if task.id else row.place,
    )


def _factors(task: Task, row: Row) -> dict[str, Factor]:
    """The row's factors; what is blank is none."""
    values: dict[str, Factor] = {}
    for name, cell in task.factors.items():
        if (value := row.maybe(cell).strip() if isinstance(cell, str) else cell(row)) != "":
            values[name] = value
    return values


def _order_of(choices: Sequence[str | Choice]) -> list[int]:
    """An order of the choices that depends on their texts and not on where they stood."""
    texts = [choice if isinstance(choice, str) else f"{choice.context}{choice.continuation}" for choice in choices]
    written = [canonical_text(text) for text in texts]
    together = ",".join([written[place] for place in sorted(range(len(texts)), key=texts.__getitem__)])
    ranks = [text_digest(f"[{text},[{together}]]") for text in written]
    return sorted(range(len(texts)), key=ranks.__getitem__)


def _choices(labels: Sequence[str], found: Sequence[str | Choice], row: Row) -> tuple[Option, ...]:
    if len(found) > len(labels):
        row.fail(f"{len(found)} choices, and there are {len(labels)} labels for them")
    options = tuple(
        [
            Option(label, choice)
            if isinstance(choice, str)
            else Option(choice.label, choice.continuation, choice.context)
            for label, choice in zip(labels, found, strict=False)
        ]
    )
    seen: dict[tuple[str | None, str], str] = {}
    for label, continuation, context in options:
        if not continuation:
            message = f"choice {label!r} has an empty continuation: there is nothing to score"
            row.fail(message, reason="an empty choice", lacking=True)
        earlier = seen.setdefault((context, continuation.strip()), label)
        if earlier != label:
            message = f"choices {earlier!r} and {label!r} are the same text"
            row.fail(message, reason="a choice that stands twice", lacking=True)
    return options


def _gold(gold: Gold, labels: Mapping[int, str], row: Row, field: str) -> tuple[str, ...]:
    """The right labels; `labels` are by the choices' published places. `field` is where a file of labels puts them."""
    found = gold(row)
    right: list[str] = []
    for one in (found,) if isinstance(found, int | str) else found:
        if isinstance(one, int) and one not in labels:
            row.fail(f"the label is out of range: choice {one + 1} of {len(labels)}", field if row.has(field) else "")
        right.append(labels[one] if isinstance(one, int) else one)
    return tuple(right)
