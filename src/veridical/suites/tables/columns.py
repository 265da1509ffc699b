"""Which column of a table is what: as the user says, or by well-known names; what is not clear is refused."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from veridical.errors import UserError, listed, unknown
from veridical.suites.tables.options import TableOptions
from veridical.suites.tables.reading import Rows

_TEXT = ("premise", "hypothesis", "text", "sentence", "question")
_LABEL = ("label", "gold", "answer")
_SET = ("set", "pair", "group", "set_id", "pair_id", "group_id")
_ROLE = ("role", "variant")
_LISTS = ("choices", "options")
_NUMBERED = re.compile(r"(?:choice|option)[ _]?(\d)", re.IGNORECASE)
LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class Columns:
    """Columns by what they hold. `text` are (field of the item, column); `options` are the columns of the options,
    or one that holds lists; `labels` are named labels. `set`, `role` and `id` are empty where there is none."""

    text: tuple[tuple[str, str], ...]
    label: str
    options: tuple[str, ...]
    labels: tuple[str, ...]
    set: str
    role: str
    id: str

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that is read."""
        named = (*(column for _, column in self.text), self.label, *self.options, self.set, self.role, self.id)
        return tuple(name for name in named if name)


def find_columns(table: Rows, options: TableOptions) -> Columns:
    """The columns of a table. Raises UserError where one is missing, unclear, or given two tasks."""
    set_ = _one(table, "set", _SET, options.set, needed=False)
    found, labels = _options(table, options.choices)
    columns = Columns(
        text=_texts(table, options.text),
        label=_one(table, "label", _LABEL, options.label, needed=True),
        options=found,
        labels=labels,
        set=set_,
        role=_one(table, "role", _ROLE, options.role, needed=False),
        id=next((name for name in table.columns if _plain(name) == "id" and name != set_), ""),
    )
    twice = next((name for name in columns.used if columns.used.count(name) > 1), None)
    if twice is not None:
        raise UserError(f"{table.path}: the column {twice!r} is given two tasks: name another for one of them")
    if columns.role and not columns.set:
        raise UserError(f"{table.path}: roles ({columns.role!r}) without sets: name their column with --set-column")
    return columns


def _plain(name: str) -> str:
    return name.strip().casefold()


def _known(table: Rows, names: Iterable[str]) -> list[str]:
    wanted = set(names)
    return [column for column in table.columns if _plain(column) in wanted]


def _check_named(table: Rows, option: str, name: str) -> None:
    if name not in table.columns:
        raise UserError(f"{table.path}, {option}: {unknown('column', name, table.columns)}")


def _one(table: Rows, what: str, usual: Sequence[str], named: str, *, needed: bool) -> str:
    option = f"--{what}-column"
    if named:
        _check_named(table, option, named)
        return named
    found = _known(table, usual)
    if len(found) > 1:
        raise UserError(f"{table.path}: which is the {what}, {' or '.join(map(repr, found))}? Say {option} NAME")
    if needed and not found:
        raise UserError(
            f"{table.path}: no column is called {' or '.join(usual)}: name the {what}'s with {option}; "
            f"there are {listed(table.columns)}"
        )
    return found[0] if found else ""


def _texts(table: Rows, named: Sequence[str]) -> tuple[tuple[str, str], ...]:
    if named:
        for name in named:
            _check_named(table, "--text-column", name)
        known = [_plain(name) if _plain(name) in _TEXT else "" for name in named]
        if all(known) and len(set(known)) == len(known):
            return tuple(zip(known, named, strict=True))
        return tuple((f"text_{k}" if len(named) > 1 else "text", name) for k, name in enumerate(named, 1))
    found = _known(table, _TEXT)
    if not found:
        raise UserError(
            f"{table.path}: no column is called {', '.join(_TEXT)}: name the text's with --text-column (repeat it for "
            f"several); there are {listed(table.columns)}"
        )
    if len(found) > 1 and sorted(map(_plain, found)) != ["hypothesis", "premise"]:
        flags = " ".join(f"--text-column {name!r}" for name in found)
        raise UserError(f"{table.path}: several columns may be the text: name those to show, as {flags}")
    return tuple((field, name) for field in _TEXT for name in found if _plain(name) == field)


def _options(table: Rows, named: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """(columns of options, labels)."""
    if named:
        missing = [name for name in named if name not in table.columns]
        if not missing:
            return tuple(named), ()
        if len(missing) < len(named):
            raise UserError(
                f"{table.path}, --choices: {listed(missing)}: no such column, though others of those named are; give "
                "columns alone, or labels alone"
            )
        return (), tuple(named)
    kinds = [[name] for name in _known(table, _LISTS)]
    letters = [name for name in table.columns if name.strip() in LETTERS and name.strip()]
    if len(letters) > 1:
        kinds.append(sorted(letters, key=str.strip))
    numbered = {int(match[1]): name for name in table.columns if (match := _NUMBERED.fullmatch(name.strip()))}
    if len(numbered) > 1:
        kinds.append([numbered[number] for number in sorted(numbered)])
    if len(kinds) > 1:
        every = " or ".join(",".join(kind) for kind in kinds)
        raise UserError(f"{table.path}: which columns are the options? Say --choices {every}")
    return (tuple(kinds[0]) if kinds else ()), ()
