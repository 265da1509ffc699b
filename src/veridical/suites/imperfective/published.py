"""The published ImperfectiveNLI data, read from the user's copy as the suite `imperfective`.

The data is that of arXiv 2601.09373: one JSON list of objects with `id`, `group`, `verb_class`, `verb`,
`premise`, `hypothesis` and `label`. It is reported to be under CC BY-NC 4.0: it is read, never shipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from veridical.digests import digest
from veridical.errors import UserError, unknown
from veridical.files.json_text import JSONContentError, kind, parse_json, place
from veridical.files.syntax_faults import json_fault
from veridical.files.text_file import read_text
from veridical.items import Grouping, Item, Member, Suite
from veridical.suites.imperfective.prompts import CHOICES, CLASSES, INPUTS, LABELS, PROMPTS

KEYS = ("id", "group", "verb_class", "verb", "premise", "hypothesis", "label")


@dataclass(frozen=True, slots=True)
class PublishedGroup:
    """A group of the published data: what it is called here, what it holds, and its gold label."""

    letter: str
    pair: str  # the two groups that share their verbs
    telicity: str
    condition: str
    gold: str


GROUPS: Mapping[str, PublishedGroup] = {
    "A_Interrupted_Accomplishment": PublishedGroup("A", "AC", "telic", "interrupted", "False"),
    "B_Interrupted_Activity": PublishedGroup("B", "BD", "atelic", "interrupted", "True"),
    "C_Ambiguous_Accomplishment": PublishedGroup("C", "AC", "telic", "ambiguous", "Unknown"),
    "D_Ambiguous_Activity": PublishedGroup("D", "BD", "atelic", "ambiguous", "True"),
}

VERB_CLASSES: Mapping[str, tuple[str, ...]] = {
    "telic": ("Creation", "Change_of_State", "Consumption", "Motion_to_Goal"),
    "atelic": ("Activity",),
}
"""The verb classes that a group may have, by its telicity."""

_ID = re.compile(r"([ABCD])_([0-9]{1,9})")


@dataclass(frozen=True, slots=True)
class _PublishedItem:
    """A row of the file; `number` counts from 1."""

    path: Path
    number: int
    values: Mapping[str, Any]

    def fail(self, field: str, message: str) -> NoReturn:
        raise UserError(f"{self.path}, {_row_name(self.number, self.values)}, field {field!r}: {message}")

    def text(self, field: str) -> str:
        return str(self.values[field])

    @property
    def group(self) -> PublishedGroup:
        return GROUPS[self.text("group")]

    @property
    def pair(self) -> str:
        """A_7 and C_7 are of one pair, B_7 and D_7 of another."""
        return f"{self.group.pair}{int(self.text('id').partition('_')[2]):03}"


def _row_name(number: int, values: Mapping[str, Any]) -> str:
    name = values.get("id")
    return f"row {number} ({_short(name)})" if isinstance(name, str) and name else f"row {number}"


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


def read_published(path: Path) -> Suite:
    """The suite `imperfective` over the published file at `path`, or over a part of it.

    Its version is `published-` and eight hexadecimal digits of the rows. Raises UserError naming file, row and
    field where the file is not in the published form, or a row contradicts its group or its pair.
    """
    rows = tuple(_rows(path))
    _check_distinct(rows)
    _check_pairs(rows)
    items = [_item(row) for row in rows]
    members = tuple(
        Member(set=f"{row.text('verb')}-{row.pair}", item=item.id, role=row.group.letter)
        for row, item in zip(rows, items, strict=True)
    )
    return Suite(
        name="imperfective",
        version=f"published-{digest([dict(row.values) for row in rows], 8)}",
        title="The imperfective paradox: the published ImperfectiveNLI data",
        licence="CC BY-NC 4.0 (as reported; your copy)",
        citation="arXiv 2601.09373",
        labels=LABELS,
        measures="imperfective",
        prompts=PROMPTS,
        inputs=INPUTS,
        classes=CLASSES,
        groupings=(Grouping(name="verb", members=members),),
        items=tuple(items),
    )


def _item(row: _PublishedItem) -> Item:
    premise = row.text("premise")
    return Item(
        fields={"premise": premise, "hypothesis": row.text("hypothesis")},
        choices=CHOICES,
        gold=(row.text("label"),),
        factors={
            "group": row.group.letter,
            "telicity": row.group.telicity,
            "condition": row.group.condition,
            "verb_class": row.text("verb_class"),
            "verb": row.text("verb"),
            "n_words": len(premise.split()),
        },
        name=row.text("id"),
    )


def _rows(path: Path) -> Iterator[_PublishedItem]:
    values = _json_list(path)
    for number, row in enumerate(values, 1):
        if not isinstance(row, dict):
            raise UserError(f"{path}, row {number}: an object with the keys {', '.join(KEYS)} is needed")
        checked = _PublishedItem(path, number, row)
        _check_row(checked)
        yield checked


def _json_list(path: Path) -> list[Any]:
    text = read_text(path)
    try:
        values = parse_json(text)
    except JSONContentError as error:
        raise UserError(f"{path}{_where(error)}: {error}") from error
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and text.lstrip().startswith("{"):
            raise UserError(
                f"{path}, line {error.lineno}: JSONL; the published file is one JSON list: [{{...}}, {{...}}]"
            ) from error
        cut = "; is the file cut off?" if not text[error.pos :].strip() or "Unterminated" in error.msg else ""
        raise UserError(
            f"{path}, line {error.lineno}, column {error.colno}: not JSON: {json_fault(error)}{cut}"
        ) from error
    if not isinstance(values, list):
        raise UserError(f"{path}: {kind(values)}; the published file is one JSON list of rows: [{{...}}, {{...}}]")
    if not values:
        raise UserError(f"{path}: an empty list: no rows to ask")
    return values


def _where(error: JSONContentError) -> str:
    if not error.path:
        return ""
    first, *rest = error.path
    row = f", row {first + 1}" if isinstance(first, int) else f", field {first!r}"
    return f"{row}, field {place(tuple(rest))!r}" if rest else row


def _check_row(row: _PublishedItem) -> None:
    for key in KEYS:
        if key not in row.values:
            nearest = get_close_matches(key, [name for name in row.values if name not in KEYS], n=1, cutoff=0.6)
            row.fail(key, f"missing{f' ({nearest[0]!r} is there)' if nearest else ''}")
        value = row.values[key]
        if not isinstance(value, str) or not value.strip():
            what = "empty" if isinstance(value, str) else kind(value)
            row.fail(key, f"text is needed, this is {what}")
    if row.text("group") not in GROUPS:
        row.fail("group", str(unknown("group", row.text("group"), GROUPS)))
    if row.text("label") not in LABELS:
        row.fail("label", str(unknown("label", row.text("label"), LABELS)))
    if row.text("label") != row.group.gold:
        row.fail("label", f"{row.text('label')!r}, but the gold of group {row.group.letter} is {row.group.gold!r}")
    match = _ID.fullmatch(row.text("id"))
    if match is None:
        row.fail("id", "a group's letter and a number of at most nine digits are needed, as in A_001")
    if match[1] != row.group.letter:
        row.fail("id", f"{row.text('id')!r} is of another group than {row.text('group')!r}")
    classes = VERB_CLASSES[row.group.telicity]
    if row.text("verb_class") not in classes:
        message = str(unknown("verb class", row.text("verb_class"), classes))
        row.fail("verb_class", f"in group {row.group.letter}, {message}")


def _check_distinct(rows: Iterable[_PublishedItem]) -> None:
    ids: dict[str, int] = {}
    texts: dict[tuple[str, str], int] = {}
    for row in rows:
        first = ids.setdefault(f"{row.group.letter}{row.pair}", row.number)
        if first != row.number:
            row.fail("id", f"used on row {first} too; take one out")
        first = texts.setdefault((row.text("premise"), row.text("hypothesis")), row.number)
        if first != row.number:
            row.fail("premise", f"premise and hypothesis are those of row {first}; take one out")


def _check_pairs(rows: Iterable[_PublishedItem]) -> None:
    """Both rows of a pair have one verb, verb class and hypothesis, and the interrupted premise goes on from the
    ambiguous one's. A pair may lack a row (a partial file)."""
    first: dict[str, _PublishedItem] = {}
    for row in rows:
        other = first.setdefault(row.pair, row)
        for field in ("verb", "verb_class", "hypothesis"):
            if row.values[field] != other.values[field]:
                row.fail(
                    field,
                    f"{row.text(field)!r}, but its pair {other.text('id')} (row {other.number}) "
                    f"has {other.text(field)!r}",
                )
        if row is not other:
            _check_premises(row, other)


def _check_premises(row: _PublishedItem, other: _PublishedItem) -> None:
    start, whole = sorted((row, other), key=lambda one: one.group.condition)
    begun = start.text("premise").strip().removesuffix(".")
    if not whole.text("premise").strip().startswith(begun):
        row.fail(
            "premise",
            f"its pair is {other.text('id')} (row {other.number}): the premise of {whole.text('id')} does not begin "
            f"with that of {start.text('id')}, {begun!r}",
        )
