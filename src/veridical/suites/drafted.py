"""A suite of which a few sets are asked: items are drafts, and become items when they are asked for.

Which sets a limit takes depends on the content of every item, so all are read; to make and check an object of each of
a benchmark's 67,000 items would take longer than to ask a few.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, overload

from pydantic import ConfigDict, model_validator

from veridical.digests import PART_DIGITS, canonical, canonical_list, canonical_text, content_digest_of, text_digest
from veridical.items import Choice, Factor, Grouping, Item, ItemColumns, Member, Places, Suite


class Option(NamedTuple):
    """A choice's label, continuation and context."""

    label: str
    continuation: str
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What an item is made of. `id` is the item's, `content` the digest by which it enters a suite's content hash."""

    id: str
    content: str
    fields: Mapping[str, str]
    choices: tuple[Option, ...]
    gold: tuple[str, ...]
    golds: Mapping[str, tuple[str, ...]]
    human: Mapping[str, float]
    factors: Mapping[str, Factor]
    name: str

    @classmethod
    def of(
        cls,
        *,
        fields: Mapping[str, str],
        choices: tuple[Option, ...],
        gold: tuple[str, ...],
        golds: Mapping[str, tuple[str, ...]],
        human: Mapping[str, float],
        factors: Mapping[str, Factor],
        name: str,
    ) -> Draft:
        """The draft with the id that its item will have."""
        # Written as canonical JSON by hand, keys in their order: 67,000 items are in a hurry.
        written_gold, written_golds = canonical_list(gold), canonical(golds) if golds else "{}"
        written_fields = _object_json(fields)
        written_choices = f"[{','.join(map(_option_json, choices))}]"
        head = f'{{"choices":{written_choices},'
        tail = f'"fields":{written_fields},"gold":{written_gold},"golds":{written_golds}'
        described = f'"human":{canonical(human) if human else "{}"},"name":{canonical_text(name)}'
        written_factors = _object_json(factors)
        content = text_digest(f'{head}"factors":{written_factors},{tail},{described}}}', PART_DIGITS)
        return cls(text_digest(f"{head}{tail}}}"), content, fields, choices, gold, golds, human, factors, name)

    def with_factors(self, factors: Mapping[str, Factor]) -> Draft:
        """The draft with other factors."""
        return Draft.of(choices=self.choices, **{**self._rest(), "factors": factors})

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the choices, in their order."""
        return tuple(option.label for option in self.choices)

    def item(self) -> Item:
        """The item. Raises pydantic's ValidationError where there can be no such one."""
        return Item(choices=tuple(Choice(**option._asdict()) for option in self.choices), **self._rest())

    def _rest(self) -> dict[str, Any]:
        names = ("fields", "gold", "golds", "human", "factors", "name")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, eq=False)
class DraftedItems(Sequence[Item]):
    """Items that are made anew whenever they are looked at."""

    drafts: tuple[Draft, ...]

    def __len__(self) -> int:
        return len(self.drafts)

    @overload
    def __getitem__(self, index: int) -> Item: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Item, ...]: ...
    def __getitem__(self, index: int | slice) -> Item | tuple[Item, ...]:
        if isinstance(index, slice):
            return tuple(draft.item() for draft in self.drafts[index])
        return self.drafts[index].item()

    def __iter__(self) -> Iterator[Item]:
        return (draft.item() for draft in self.drafts)


class _ById(Mapping[str, Item]):
    """Items by their ids, each made once."""

    def __init__(self, drafts: Sequence[Draft]) -> None:
        self._drafts = {draft.id: draft for draft in drafts}
        self._items: dict[str, Item] = {}

    def __getitem__(self, name: str) -> Item:
        if name not in self._items:
            self._items[name] = self._drafts[name].item()
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._drafts)

    def __len__(self) -> int:
        return len(self._drafts)


class DraftedSuite(Suite):
    """A suite of drafts. `drafted` are its groupings by name, as columns; `groupings` is empty.

    Narrowed to the items that are asked it is an ordinary suite. Its content hash is that of the ordinary suite.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    items: DraftedItems  # type: ignore[assignment]
    drafted: dict[str, Places]

    @model_validator(mode="after")
    def _parts_agree(self) -> DraftedSuite:
        # What an ordinary suite checks of its items is checked of those to which this one is narrowed.
        return self

    @property
    def columns(self) -> ItemColumns:
        """Ids, labels and gold of the items, read from the drafts."""
        drafts = self.items.drafts
        return ItemColumns([one.id for one in drafts], [one.labels for one in drafts], [one.gold for one in drafts])

    @property
    def places(self) -> Places:
        """The places in the first grouping; without groupings every item is a set of its own."""
        if self.drafted:
            return next(iter(self.drafted.values()))
        ids = [draft.id for draft in self.items.drafts]
        return Places(ids, ids, [""] * len(ids), [""] * len(ids))

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """The items by id, each made when it is first looked up."""
        return _ById(self.items.drafts)

    @cached_property
    def content_hash(self) -> str:
        """The content hash that the ordinary suite of the same items has."""
        hidden = {"title", "licence", "citation", "items", "drafted"}
        members = [(name, map(_member_digest, *places)) for name, places in self.drafted.items()]
        items = (draft.content for draft in self.items.drafts)
        return content_digest_of(self.model_dump(mode="json", exclude=hidden), items, members)

    def grouping(self, name: str | None = None) -> Grouping:
        """The grouping of that name, the first one without a name. Raises KeyError for an unknown name."""
        if name is None and not self.drafted:
            return Grouping(name="item", members=_members(self.places))
        found = next(iter(self.drafted)) if name is None else name
        return Grouping(name=found, members=_members(self.drafted[found]))

    def narrowed(self, kept: Collection[str]) -> Suite:
        """An ordinary suite of the items whose ids are in `kept`, with their places in every grouping."""
        groupings = tuple(Grouping(name=name, members=_members(places, kept)) for name, places in self.drafted.items())
        items = tuple(draft.item() for draft in self.items.drafts if draft.id in kept)
        parts = {name: getattr(self, name) for name in Suite.model_fields}
        return Suite(**{**parts, "items": items, "groupings": groupings})


def _object_json(values: Mapping[str, Factor]) -> str:
    """An object of texts and numbers as canonical JSON."""
    pairs = []
    for name in sorted(values):
        value = values[name]
        if type(value) is not str:
            return canonical(values)
        pairs.append(f"{canonical_text(name)}:{canonical_text(value)}")
    return f"{{{','.join(pairs)}}}"


def _option_json(option: Option) -> str:
    """An option as the canonical JSON of its choice."""
    label, continuation, context = option
    written = "null" if context is None else canonical_text(context)
    return f'{{"context":{written},"continuation":{canonical_text(continuation)},"label":{canonical_text(label)}}}'


def _member_digest(name: str, item: str, role: str, cluster: str) -> str:
    """The digest by which a member enters a suite's content hash."""
    text = canonical_text
    return text_digest(
        f'{{"cluster":{text(cluster)},"item":{text(item)},"role":{text(role)},"set":{text(name)}}}', PART_DIGITS
    )


_MEMBER = ("set", "item", "role", "cluster")


def _members(places: Places, kept: Collection[str] | None = None) -> tuple[Member, ...]:
    rows = zip(*places, strict=True)
    return tuple(Member(**dict(zip(_MEMBER, row, strict=True))) for row in rows if kept is None or row[1] in kept)


def drafted_places(members: Sequence[tuple[str, str, str, str]]) -> Places:
    """Members (set, item, role, cluster) as columns."""
    columns = list(zip(*members, strict=True)) or [(), (), (), ()]
    return Places(*columns)
