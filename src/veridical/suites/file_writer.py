"""Writing suite files: see `veridical.suites.files` for their form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from veridical.files.writing import replace
from veridical.items import Choice, Frozen, Item, Name, Suite

SCHEMA = "veridical.suite/1"


class Membership(Frozen):
    """An item's place in a set, as its line says it.

    `order` is the member's place (from 0) in its grouping, where members do not come in the items' order.
    """

    grouping: Name
    set: Name
    role: str = ""
    cluster: str = ""
    order: int | None = Field(default=None, ge=0)


def write_suite(suite: Suite, path: Path) -> None:
    """Write a suite file: whole or not at all, to the end of its links.

    Raises UserError where the file cannot be written, and where the path exists and is not a regular file.
    """
    replace(path, "".join(json_line(record) for record in _records(suite)).encode())


def json_line(record: Mapping[str, Any]) -> str:
    """A record as its line of the file."""
    return json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"


def header_record(suite: Suite, groupings: Sequence[str], n_items: int) -> dict[str, Any]:
    """The first line: everything of a suite but its items, their number, and the names of its groupings."""
    header = suite.model_dump(mode="json", exclude={"items", "groupings", "prompts"}, exclude_defaults=True)
    return {
        "schema": SCHEMA,
        **header,
        "prompts": [prompt.model_dump(mode="json", exclude_defaults=True) for prompt in suite.prompts],
        "groupings": list(groupings),
        "items": n_items,
    }


def item_record(item: Item, usual: tuple[Choice, ...], places: Iterable[Membership]) -> dict[str, Any]:
    """An item's line: `places` are its sets, and choices are left out where they are the `usual` ones."""
    values = item.model_dump(mode="json", exclude_defaults=True)
    if item.choices == usual:
        del values["choices"]
    return {**values, "sets": [place.model_dump(exclude_defaults=True) for place in places]}


def _records(suite: Suite) -> Iterator[dict[str, Any]]:
    yield header_record(suite, [grouping.name for grouping in suite.groupings], len(suite.items))
    sets: dict[str, list[Membership]] = {}
    positions = {item.id: position for position, item in enumerate(suite.items)}
    for grouping in suite.groupings:
        places = [positions[member.item] for member in grouping.members]
        in_order = places == sorted(places)
        for order, member in enumerate(grouping.members):
            membership = Membership(
                grouping=grouping.name,
                set=member.set,
                role=member.role,
                cluster=member.cluster,
                order=None if in_order else order,
            )
            sets.setdefault(member.item, []).append(membership)
    usual = usual_choices(suite.labels)
    yield from (item_record(item, usual, sets.get(item.id, ())) for item in suite.items)


def usual_choices(labels: Iterable[str]) -> tuple[Choice, ...]:
    """The choices of an item that names none: each label is its own continuation."""
    return tuple(Choice(label=label, continuation=label) for label in labels)
