"""Suite files: one JSON object a line, a header and then the items.

    {"schema": "veridical.suite/1", "name": ..., "version": ..., "labels": [...], "prompts": [...], ...}
    {"fields": {...}, "gold": [...], "factors": {...}, "sets": [{"grouping": ..., "set": ..., "role": ...}]}

An item without `choices` has the header's labels as its choices. An item's id comes from its content and is not
written. What is read back is what was written: the content hash is the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from veridical.errors import UserError, unknown
from veridical.files.decoding import DecodingError, decode, first_fault
from veridical.files.json_text import JSONContentError, kind, parse_json, place
from veridical.files.syntax_faults import json_fault
from veridical.files.text_file import read_text
from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.suites.file_writer import SCHEMA, Membership, usual_choices
from veridical.suites.template_check import hidden_items, template_fault
from veridical.unicode_text import composed

Noun = TypeVar("Noun", bound=BaseModel)

_SCHEMA_NAME, _, _SCHEMA_VERSION = SCHEMA.partition("/")


@dataclass(frozen=True, slots=True)
class _Where:
    """A line of a file, and what to say of it."""

    path: Path
    line: int

    def fail(self, message: str, field: str = "", cause: Exception | None = None) -> NoReturn:
        named = f", field {field!r}" if field else ""
        raise UserError(f"{self.path}, line {self.line}{named}: {message}") from cause


@dataclass(frozen=True, slots=True)
class _Line:
    where: _Where
    values: dict[str, Any]


def read_suite(path: Path) -> Suite:
    """The suite in a file. Raises UserError naming file, line and field where it is not one."""
    lines = _lines(path)
    header = next(lines)
    declared, n_items, groupings = _header(header)
    labels = tuple(declared.get("labels", ()))
    items: dict[str, tuple[Item, _Where]] = {}
    members: dict[str, list[tuple[Membership, str]]] = {name: [] for name in groupings}
    spellings: dict[tuple[str, str], str] = {}
    for line in lines:
        _check_is_item(line)
        sets = line.values.pop("sets", [])
        item = _item(line, labels)
        if item.id in items:
            line.where.fail(f"the same item as on line {items[item.id][1].line}; take one out")
        items[item.id] = (item, line.where)
        for membership in _memberships(line.where, sets, groupings):
            # One set however its name's accents were typed: the first spelling stands.
            spelling = spellings.setdefault((membership.grouping, composed(membership.set)), membership.set)
            membership = membership.model_copy(update={"set": spelling})
            members.setdefault(membership.grouping, []).append((membership, item.id))
    if not items:
        raise UserError(f"{path}: a header and no items; add one item a line")
    if n_items is not None and len(items) != n_items:
        raise UserError(f"{path}: the header says {n_items} items and {len(items)} are there; is the file cut off?")
    _check_inputs(header.where, declared, [item for item, _ in items.values()])
    parts = {
        **declared,
        "items": tuple(item for item, _ in items.values()),
        "groupings": tuple(_grouping(name, found) for name, found in members.items()),
    }
    try:
        suite = Suite.model_validate(parts)
    except ValidationError as error:
        fault = first_fault(Suite, error)
        header.where.fail(str(fault), place(fault.path), error)
    if (failing := template_fault(suite)) is not None:
        item, reason = failing
        items[item.id][1].fail(reason)
    if (unseen := hidden_items(suite)) is not None:
        header.where.fail(unseen, "prompts")
    return suite


def _lines(path: Path) -> Iterator[_Line]:
    text = read_text(path)
    lines = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    for number, line in lines:
        where = _Where(path, number)
        try:
            values = parse_json(line)
        except json.JSONDecodeError as error:
            if number == lines[-1][0] and number > 1 and not text.endswith("\n"):
                where.fail("the last line is cut off; is the file complete?", cause=error)
            where.fail(f"not one JSON object a line: {json_fault(error)} (column {error.colno})", cause=error)
        except JSONContentError as error:
            where.fail(str(error), place(error.path), error)
        if not isinstance(values, dict):
            hint = "; published data is read with --data" if isinstance(values, list) and number == 1 else ""
            where.fail(f"a JSON object is needed, this is {kind(values)}{hint}")
        yield _Line(where, values)


_HEADER_FIELDS = ("schema", *Suite.model_fields)


def _header(line: _Line) -> tuple[dict[str, Any], int | None, tuple[str, ...]]:
    """The suite's own fields, the number of items where it is given, and the groupings' names in order."""
    where, values = line.where, dict(line.values)
    schema = values.pop("schema", None)
    if schema is None:
        where.fail(f'not a suite file: the first line is a header with "schema": "{SCHEMA}"', "schema")
    if schema != SCHEMA:
        name, _, version = str(schema).partition("/")
        digits = version.isascii() and version.isdigit() and len(version) < 6
        newer = name == _SCHEMA_NAME and digits and int(version) > int(_SCHEMA_VERSION)
        advice = "newer than this version of veridical reads; upgrade it" if newer else f"it must be {SCHEMA!r}"
        where.fail(f"{schema!r}: {advice}", "schema")
    n_items = values.pop("items", None)
    if n_items is not None and (not isinstance(n_items, int) or isinstance(n_items, bool)):
        where.fail("the number of items is needed here; the items have lines of their own", "items")
    groupings = values.pop("groupings", [])
    if not isinstance(groupings, list) or not all(isinstance(name, str) for name in groupings):
        where.fail("a list of the groupings' names is needed here", "groupings")
    if "" in groupings or len(set(groupings)) < len(groupings):
        where.fail("every grouping needs a name of its own", "groupings")
    # An item stands in for those on the lines below, so that the header's faults are reported first.
    stand_in = Item(fields={}, choices=(Choice(label="-", continuation="-"),))
    checked = _validated(Suite, {**values, "items": (stand_in,)}, where, known=_HEADER_FIELDS)
    _check_measures(checked.measures, where)
    _check_glosses(checked, where)
    return {name: getattr(checked, name) for name in values}, n_items, tuple(groupings)


def _check_is_item(line: _Line) -> None:
    """Refuse a second header by name: the rest of the file may be items of another suite."""
    if "schema" in line.values or {"name", "labels", "prompts"} <= line.values.keys():
        line.where.fail(
            "a second header, as where two suite files were put together in one: give each suite a file of its own, or "
            "remove this line if the items below it belong to the first header"
        )


def _check_measures(name: str, where: _Where) -> None:
    # Imported here: judging is not needed to read a suite, and what it brings in takes half a second.
    from veridical.judge.names import measure_sets

    if name not in (known := measure_sets()):
        where.fail(str(unknown("measure set", name, known)), "measures")


def _check_glosses(suite: Suite, where: _Where) -> None:
    """Refuse a gloss for a label that the suite does not have: no prompt would ever show it."""
    labels = {composed(label): label for label in suite.labels}
    for number, prompt in enumerate(suite.prompts if labels else ()):
        for label in prompt.glosses:
            if composed(label) not in labels:
                _unknown_label(where, f"prompts[{number}].glosses", label, suite.labels)


def _check_inputs(where: _Where, declared: Mapping[str, Any], items: Sequence[Item]) -> None:
    """Refuse an input that shows a field which no item has: the item would be asked without it, unnoticed."""
    fields = {field for item in items for field in item.fields}
    for name, shown in declared.get("inputs", {}).items():
        for field in shown:
            if field not in fields:
                where.fail(f"no item has a field {field!r}{_nearest(field, fields)}", f"inputs.{name}")


def _item(line: _Line, labels: tuple[str, ...]) -> Item:
    where, values = line.where, line.values
    if "choices" not in values and labels:
        values = {**values, "choices": usual_choices(labels)}
    named = values.get("choices")
    own: list[Any] = (
        [choice.get("label") for choice in named if isinstance(choice, dict)]
        if isinstance(named, list)
        else list(labels)
    )
    if labels and (stray := next((label for label in own if label not in labels), None)) is not None:
        _unknown_label(where, "choices", stray, labels)
    values = _as_spelt(values, own)
    for field, found in _labels_named(values):
        for label in found:
            if own and label not in own:
                _unknown_label(where, field, label, own)
    return _validated(Item, values, where, known=(*Item.model_fields, "sets"))


def _as_spelt(values: dict[str, Any], labels: Sequence[Any]) -> dict[str, Any]:
    """The item's line with its gold labels spelt as its choices are, whose accents may have been typed otherwise."""
    spelt = {composed(label): label for label in labels if isinstance(label, str)}

    def one(label: Any) -> Any:
        return spelt.get(composed(label), label) if isinstance(label, str) else label

    def several(found: Any) -> Any:
        return [one(label) for label in found] if isinstance(found, list) else found

    changed = dict(values)
    if "gold" in values:
        changed["gold"] = several(values["gold"])
    if isinstance(values.get("golds"), dict):
        changed["golds"] = {name: several(found) for name, found in values["golds"].items()}
    if isinstance(values.get("human"), dict):
        changed["human"] = {one(label): share for label, share in values["human"].items()}
    return changed


def _labels_named(values: Mapping[str, Any]) -> Iterator[tuple[str, Iterable[str]]]:
    """(field, labels) wherever an item's line names labels; malformed fields are left to the validator."""
    golds, human = values.get("golds"), values.get("human")
    fields = {"gold": values.get("gold")}
    if isinstance(golds, dict):
        fields |= {f"golds.{name}": found for name, found in golds.items()}
    if isinstance(human, dict):
        fields["human"] = list(human)
    for field, found in fields.items():
        if isinstance(found, list):
            yield field, [label for label in found if isinstance(label, str)]


def _unknown_label(where: _Where, field: str, label: object, known: Iterable[str]) -> NoReturn:
    names = [str(name) for name in known]
    nearest = _nearest(str(label), names) or ":"
    where.fail(f"unknown label {label!r}{nearest} the labels are {', '.join(names)}", field)


def _nearest(name: str, known: Iterable[str]) -> str:
    nearest = get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f", did you mean {nearest[0]!r}?" if nearest else ""


def _memberships(where: _Where, sets: Any, groupings: tuple[str, ...]) -> Iterator[Membership]:
    if not isinstance(sets, list):
        where.fail('a list is needed: [{"grouping": ..., "set": ...}]', "sets")
    seen: set[tuple[str, str]] = set()
    for position, values in enumerate(sets):
        field = f"sets[{position}]"
        membership = _validated(Membership, values, where, prefix=field)
        if (membership.grouping, membership.set) in seen:
            where.fail(f"the item is in set {membership.set!r} of {membership.grouping!r} already", field)
        seen.add((membership.grouping, membership.set))
        if groupings and membership.grouping not in groupings:
            nearest = _nearest(membership.grouping, groupings)
            where.fail(f"the header names no grouping {membership.grouping!r}{nearest}", f"{field}.grouping")
        yield membership


def _grouping(name: str, found: list[tuple[Membership, str]]) -> Grouping:
    # Stable: members without an order keep the items'.
    ordered = sorted(found, key=lambda pair: pair[0].order or 0)
    members = tuple(Member(set=m.set, item=item, role=m.role, cluster=m.cluster) for m, item in ordered)
    return Grouping(name=name, members=members)


def _validated(
    noun: type[Noun], values: Any, where: _Where, prefix: str = "", known: Iterable[str] | None = None
) -> Noun:
    """The noun with these values; its first fault as a UserError. `known` are the fields that may stand there."""
    try:
        return decode(noun, values, known)
    except DecodingError as error:
        where.fail(str(error), place((*((prefix,) if prefix else ()), *error.path)), error)
