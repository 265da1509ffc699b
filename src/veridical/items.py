"""The nouns: items, choices, groupings, suites and responses.

Everything here is frozen, typed and validated on construction. Nothing here knows a model or a file.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Annotated, Literal, NamedTuple, Self

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from veridical.digests import content_digest, digest
from veridical.prompts.template import Prompt
from veridical.status import Status
from veridical.unicode_text import composed

Factor = str | int | float | bool
Mode = Literal["loglikelihood", "generate", "classify", "readout"]
Name = Annotated[str, StringConstraints(min_length=1)]


FULL = "full"
"""The input that shows all of an item."""


class Frozen(BaseModel):
    """Base of the nouns: immutable, and a misspelt field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _check_apart(what: str, labels: Sequence[str]) -> None:
    """Raise ValueError for labels that a reply cannot distinguish: equal, or but for white space or normal form.

    Case, or one label at the head of another (`yes`, `yes no`), is enough to distinguish two (`prompts.parsing`).
    """
    seen: set[str] = set()
    for label in labels:
        if (spaced := " ".join(composed(label).split())) in seen:
            raise ValueError(f"{what} repeat a label: {', '.join(labels)}")
        seen.add(spaced)


class Choice(Frozen):
    """One way to answer an item.

    `continuation` is the text whose log-likelihood is scored. `context` replaces the prompt's text for this
    choice alone, for items whose choices differ before the scored text (WinoGrande's partial scoring).
    """

    label: Name
    continuation: str
    context: str | None = None

    @model_validator(mode="after")
    def _has_text(self) -> Self:
        if not self.label.strip():
            raise ValueError("a choice's label is blank")
        if not self.continuation:
            raise ValueError(f"choice {self.label!r} has an empty continuation: there is nothing to score")
        return self


class Item(Frozen):
    """One question.

    `gold` is a set of labels (more than one may be right); `golds` holds other gold systems by name
    (`logical`, `pragmatic`); `human` is a distribution over labels, summing to 1, where one is known.
    `factors` say what the item varies (telicity, verb class, category). `name` is the id that the source
    gave the item, for display only: `id` comes from the content, so shuffling a file changes nothing.
    """

    fields: Mapping[str, str]
    choices: Annotated[tuple[Choice, ...], Field(min_length=1)]
    gold: tuple[str, ...] = ()
    golds: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    human: Mapping[str, float] = Field(default_factory=dict)
    factors: Mapping[str, Factor] = Field(default_factory=dict)
    name: str = ""

    @cached_property
    def id(self) -> str:
        """Sixteen hexadecimal digits of the content: fields, choices and gold, not name or factors."""
        return digest(self.model_dump(include={"fields", "choices", "gold", "golds"}))

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the choices, in the order of the choices."""
        return tuple(choice.label for choice in self.choices)

    @model_validator(mode="after")
    def _labels_agree(self) -> Self:
        labels = self.labels
        _check_apart("choices", labels)
        named = {*self.gold, *self.human, *(label for gold in self.golds.values() for label in gold)}
        if stray := sorted(named - set(labels)):
            raise ValueError(f"no choice is labelled {', '.join(stray)}: the labels are {', '.join(labels)}")
        for label, share in self.human.items():
            if not 0 <= share <= 1:  # NaN is neither
                raise ValueError(f"human label distribution gives {label!r} {share:g}, which is not from 0 to 1")
        if self.human and abs(sum(self.human.values()) - 1) > 1e-6:
            raise ValueError(f"human label distribution sums to {sum(self.human.values()):g}, not 1")
        return self

    @model_validator(mode="after")
    def _fields_and_factors_can_be_used(self) -> Self:
        for name in ("labels", "glosses"):
            if name in self.fields:
                raise ValueError(f"a field cannot be called {name!r}: in a prompt's template that is the suite's own")
        for name, value in self.factors.items():
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError(f"factor {name!r} is {value}: a finite number is needed")
            if isinstance(value, int) and not -(2**63) <= value < 2**63:
                raise ValueError(f"factor {name!r} is a number that is too long: 64 bits are kept")
        return self


class Member(Frozen):
    """An item's place in a set. `role` says what it is there for; `cluster` is the unit above the set."""

    set: Name
    item: Name
    role: str = ""
    cluster: str = ""


class Grouping(Frozen):
    """Named sets over a suite's items. An item may stand in several sets and in several groupings."""

    name: Name
    members: tuple[Member, ...]

    def sets(self) -> dict[str, tuple[Member, ...]]:
        """Set id to its members, in the order of first appearance."""
        sets: dict[str, list[Member]] = {}
        for member in self.members:
            sets.setdefault(member.set, []).append(member)
        return {name: tuple(members) for name, members in sets.items()}


class Example(Frozen):
    """A solved item that a prompt may show before the item that is asked: its question and its answer.

    `withheld` are the ids of the items that it must not be shown to: itself, and those in a set with it.
    """

    text: Name
    withheld: tuple[str, ...] = ()


class ItemColumns(NamedTuple):
    """What judging reads of a suite's items, in their order: ids, labels of the choices, gold labels."""

    ids: Sequence[str]
    labels: Sequence[Sequence[str]]
    gold: Sequence[Sequence[str]]


class Places(NamedTuple):
    """A grouping by column: each member's set, item, role and cluster."""

    sets: Sequence[str]
    items: Sequence[str]
    roles: Sequence[str]
    clusters: Sequence[str]


class Suite(Frozen):
    """A named, versioned collection of item sets with its label space, prompts and measures.

    The first grouping is the one that resamples (its sets are the units of every interval).
    `inputs` maps an input's name to the item fields that it shows; `full` shows all of them.
    `measures` names the measure set that judges it (`veridical.judge.registry`).
    `classes` holds, by label, the names by which a sequence classifier may call it, compared casefolded; `pair`
    the two item fields that such a classifier is shown. Without `classes` no classifier can be asked.
    With `all_normalisations` choices are scored without their context too, and accuracy is judged under every
    normalisation. Every prompt shows the first `shots` of `examples` that are not withheld from the item.
    """

    name: Name
    version: Name
    title: str = ""
    licence: str = ""
    citation: str = ""
    labels: tuple[Name, ...] = ()
    measures: str = "accuracy"
    normalisation: Literal["sum", "token", "char", "byte", "unconditional"] = "sum"
    prompts: Annotated[tuple[Prompt, ...], Field(min_length=1)]
    inputs: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    classes: Mapping[Name, Annotated[tuple[Name, ...], Field(min_length=1)]] = Field(default_factory=dict)
    pair: tuple[Name, Name] = ("premise", "hypothesis")
    all_normalisations: bool = False
    shots: Annotated[int, Field(ge=0)] = 0
    examples: tuple[Example, ...] = ()
    groupings: tuple[Grouping, ...] = ()
    items: Annotated[tuple[Item, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        ids: dict[str, int] = {}
        for position, item in enumerate(self.columns.ids):
            if item in ids:
                raise ValueError(f"items {ids[item]} and {position} (from 0) have the same content")
            ids[item] = position
        for grouping in self.groupings:
            places: set[tuple[str, str]] = set()
            for member in grouping.members:
                if member.item not in ids:
                    raise ValueError(f"grouping {grouping.name!r} names an unknown item {member.item!r}")
                if (member.set, member.item) in places:
                    raise ValueError(
                        f"grouping {grouping.name!r} has item {member.item!r} twice in the set {member.set!r}"
                    )
                places.add((member.set, member.item))
        _check_apart("labels", self.labels)
        if not all(label.strip() for label in self.labels):
            raise ValueError("a label is blank")
        names = [prompt.name for prompt in self.prompts]
        if len(set(names)) != len(names):
            raise ValueError(f"prompts repeat a name: {', '.join(names)}")
        self._check_classes()
        return self

    def _check_classes(self) -> None:
        labels: dict[str, str] = {}
        for label, names in self.classes.items():
            if self.labels and label not in self.labels:
                raise ValueError(f"classes name an unknown label {label!r}: the labels are {', '.join(self.labels)}")
            for name in names:
                if labels.setdefault(name.casefold(), label) != label:
                    raise ValueError(f"class {name!r} stands for two labels, {labels[name.casefold()]} and {label}")

    @cached_property
    def content_hash(self) -> str:
        """Sixteen hexadecimal digits over everything that is asked and how it is judged.

        The order of items and of members does not enter, nor what only describes the suite: a file whose lines
        were shuffled is the same suite.
        """
        return content_digest(self.model_dump(mode="json", exclude={"title", "licence", "citation"}))

    @property
    def columns(self) -> ItemColumns:
        """The items as columns. Not cached: a copy with other items would carry it along."""
        items = self.items
        return ItemColumns([item.id for item in items], [item.labels for item in items], [item.gold for item in items])

    @property
    def places(self) -> Places:
        """The members of the first grouping as columns."""
        members = self.grouping().members
        return Places(
            [member.set for member in members],
            [member.item for member in members],
            [member.role for member in members],
            [member.cluster for member in members],
        )

    @property
    def n_sets(self) -> int:
        """How many sets the first grouping has."""
        return len(set(self.places.sets))

    @cached_property
    def by_id(self) -> Mapping[str, Item]:
        """The items by their ids."""
        return {item.id: item for item in self.items}

    def named(self, name: str) -> Suite:
        """The suite under another name."""
        if name == self.name:
            return self
        return type(self)(**{**{field: getattr(self, field) for field in type(self).model_fields}, "name": name})

    def narrowed(self, kept: Collection[str]) -> Suite:
        """The suite with the items of these ids alone, and the groupings' members among them, in the suite's order."""
        groupings = tuple(
            Grouping(name=grouping.name, members=tuple(m for m in grouping.members if m.item in kept))
            for grouping in self.groupings
        )
        items = tuple(item for item in self.items if item.id in kept)
        # Built anew, not copied: a copy would carry the cached content hash of the whole suite.
        parts = {name: getattr(self, name) for name in Suite.model_fields}
        return Suite(**{**parts, "items": items, "groupings": groupings})

    def grouping(self, name: str | None = None) -> Grouping:
        """The grouping of that name, the first without one; singletons where the suite has none.

        Raises KeyError for a name the suite does not have.
        """
        if name is None:
            if self.groupings:
                return self.groupings[0]
            return Grouping(name="item", members=tuple(Member(set=i, item=i) for i in self.columns.ids))
        return {grouping.name: grouping for grouping in self.groupings}[name]


def shown_fields(suite: Suite, item: Item, input_name: str) -> Mapping[str, str]:
    """The fields of an item that an input shows."""
    if input_name == FULL and FULL not in suite.inputs:
        return item.fields
    return {name: item.fields[name] for name in suite.inputs[input_name] if name in item.fields}


class Response(Frozen):
    """What came back for one (item, input, prompt, choice order, mode, repeat) from one answerer.

    `label` is the answer and is set exactly when `status` is `ok`. `scores` holds the log-likelihood of every
    choice by label, and is empty where nothing was scored; `label_mass` is the probability of the choices
    together, `margin` the difference between the best and the second. `detail` says how text was read, or what
    went wrong. Many responses are kept as a frame (`veridical.judge.frame`).
    """

    suite: str
    item: str
    model: str
    answerer: str = "model"
    input: str = "full"
    prompt: str = ""
    mode: Mode
    order: int = 0
    repeat: int = 0
    status: Status
    label: str | None = None
    scores: Mapping[str, float] = Field(default_factory=dict)
    label_mass: float | None = None
    margin: float | None = None
    text: str | None = None
    detail: str = ""

    @model_validator(mode="after")
    def _label_iff_ok(self) -> Self:
        if (self.label is not None) != (self.status is Status.OK):
            raise ValueError(f"label {self.label!r} with status {self.status.value!r}")
        return self
