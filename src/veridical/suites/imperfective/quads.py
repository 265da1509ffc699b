"""The suite `imperfective-quads`: telicity and interruption crossed within one verb.

A quadruple holds subject, verb and interruption clause fixed, and sets telicity by the complement alone, so
that the aspectual awareness gap is a paired quantity (design: Veridical; the paradox is that of arXiv
2601.09373).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, ValidationError, model_validator

from veridical.errors import UserError
from veridical.files.decoding import in_words, leading_fault
from veridical.files.toml_file import read_toml
from veridical.items import Frozen, Grouping, Item, Member, Name, Suite
from veridical.suites.imperfective.builder import make_item
from veridical.suites.imperfective.lexicon import VerbClass
from veridical.suites.imperfective.prompts import CLASSES, INPUTS, LABELS, PROMPTS
from veridical.suites.imperfective.sentences import (
    Forms,
    Pronoun,
    VerbPhrase,
    progressive,
    sentence,
    simple_past,
)

QUADS_FILE = Path(__file__).with_name("quads.toml")

RulesOut = Literal["died", "destroyed", "abandoned", "barred"]
TelicityBy = Literal["object", "goal"]


@dataclass(frozen=True, slots=True)
class QuadRole:
    """An item's place in its quadruple, which is also its group."""

    name: Literal["A", "B", "C", "D"]
    telic: bool
    interrupted: bool


ROLES = (
    QuadRole("A", telic=True, interrupted=True),
    QuadRole("B", telic=False, interrupted=True),
    QuadRole("C", telic=True, interrupted=False),
    QuadRole("D", telic=False, interrupted=False),
)


class TelicityJudgement(Frozen):
    """Whether each of the two verb phrases admits an adverbial."""

    telic: bool
    atelic: bool


class Quad(Frozen):
    """One entry of the lexicon; `quads.toml` says what each field means."""

    id: Name
    verb: Name
    subject: Name
    pronoun: Pronoun
    telic: Name
    atelic: str
    interruption: Name
    rules_out: RulesOut
    verb_class: VerbClass
    telicity_by: TelicityBy
    in_an_hour: TelicityJudgement
    for_an_hour: TelicityJudgement
    forms: Forms = Forms()

    @model_validator(mode="after")
    def _verb_inflects(self) -> Self:
        phrase = VerbPhrase(self.verb, self.telic, self.forms)
        _ = phrase.ing, phrase.past
        return self

    def verb_phrase(self, role: QuadRole) -> VerbPhrase:
        """The verb with the complement of this role: telic or atelic."""
        return VerbPhrase(self.verb, self.telic if role.telic else self.atelic, self.forms)

    def premise(self, role: QuadRole) -> str:
        """The past progressive, with the interruption clause where the role has one."""
        process = progressive(self.subject, self.verb_phrase(role))
        return sentence(process, self.interruption if role.interrupted else "")

    def hypothesis(self, role: QuadRole) -> str:
        """The simple past with the premise's complement."""
        return sentence(simple_past(self.subject, self.verb_phrase(role)))


class QuadLexicon(Frozen):
    """A file of quadruples with its version."""

    version: Name
    quad: tuple[Quad, ...] = Field(min_length=1)


def read_lexicon(path: Path = QUADS_FILE) -> QuadLexicon:
    """The lexicon in a TOML file.

    Raises UserError, naming file, entry and field, where it cannot be read or an entry is malformed.
    """
    table = read_toml(path)
    try:
        lexicon = QuadLexicon.model_validate(table)
    except ValidationError as error:
        raise UserError(f"{path}: {_first_fault(table, error)}") from error
    seen: set[str] = set()
    for position, quad in enumerate(lexicon.quad, start=1):
        if quad.id in seen:
            raise UserError(f"{path}: entry {quad.id!r} (number {position}), field 'id': used before, rename it")
        seen.add(quad.id)
    return lexicon


def _first_fault(table: dict[str, object], error: ValidationError) -> str:
    """The first fault as 'entry NAME (number N), field F: what is wrong'."""
    fault = leading_fault(error)
    location, message = fault["loc"], in_words(fault)
    if len(location) < 2 or not isinstance(position := location[1], int):
        return f"field {'.'.join(map(str, location))!r}: {message}"
    entries = table.get("quad")
    entry = entries[position] if isinstance(entries, list) else None
    name = entry.get("id", "?") if isinstance(entry, dict) else "?"
    field = ".".join(map(str, location[2:])) or "(the whole entry)"
    return f"entry {name!r} (number {position + 1}), field {field!r}: {message}"


def build_item(quad: Quad, role: QuadRole) -> Item:
    """The item of one role; the verb's class is that of the telic phrase in all four."""
    return make_item(
        quad.premise(role),
        quad.hypothesis(role),
        role.name,
        f"{quad.id}-{role.name}",
        telicity="telic" if role.telic else "atelic",
        verb_class=quad.verb_class,
        verb=quad.verb,
        telicity_by=quad.telicity_by,
    )


def build_suite(quads: Sequence[Quad], version: str) -> Suite:
    """The suite over these entries, four items each. Raises ValueError where two items coincide."""
    items: list[Item] = []
    members: list[Member] = []
    for quad in quads:
        for role in ROLES:
            item = build_item(quad, role)
            items.append(item)
            members.append(Member(set=quad.id, item=item.id, role=role.name))
    return Suite(
        name="imperfective-quads",
        version=version,
        title="Imperfective paradox: telicity and interruption crossed within a verb",
        licence="Apache-2.0",
        labels=LABELS,
        measures="imperfective-quads",
        prompts=PROMPTS,
        inputs=INPUTS,
        classes=CLASSES,
        groupings=(Grouping(name="quad", members=tuple(members)),),
        items=tuple(items),
    )


def load_quads(path: Path = QUADS_FILE) -> Suite:
    """The suite `imperfective-quads`. Raises UserError where the lexicon is at fault."""
    lexicon = read_lexicon(path)
    try:
        return build_suite(lexicon.quad, lexicon.version)
    except ValidationError as error:
        raise UserError(f"{path}: {in_words(leading_fault(error))}") from error
