"""A suite from a table: a row is an item, rows that share a cell of the set column are judged together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from veridical.errors import UserError, excerpt, listed
from veridical.files.decoding import first_fault
from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.prompts.template import Prompt
from veridical.suites.tables.columns import LETTERS, Columns, find_columns
from veridical.suites.tables.gold import label_space, option_golds
from veridical.suites.tables.options import TableOptions
from veridical.suites.tables.reading import Rows, read_rows
from veridical.wording import counted

_ONE_OF = "Answer with one of: {{ labels | join(', ') }}. Write nothing else."
_DIGITS = 16


def suite_from_table(path: Path, options: TableOptions) -> tuple[Suite, tuple[str, ...]]:
    """The suite of a table, and what the user should know: the columns found, the prompt, the sets.

    Its version is `sha256:` and the first 16 digits of the SHA-256 of the table's bytes. Raises UserError where a
    column is missing or unclear, a cell is empty, an id or an item repeats.
    """
    table = read_rows(path)
    columns = find_columns(table, options)
    notes: list[str] = []
    _check_cells(table, columns, options.text)
    _check_ids(table, columns)
    labels, options_of, golds = _answers(table, columns, notes)
    items = _items(table, columns, labels, options_of, golds)
    prompt = _prompt(columns)
    suite = Suite(
        name=path.resolve().stem,
        version=f"sha256:{table.digest[:_DIGITS]}",
        labels=labels,
        prompts=(prompt,),
        items=tuple(items),
        groupings=_groupings(table, columns, items),
    )
    shown = f"the prompt: {prompt.system} {prompt.user}".replace("\n", " / ")
    return suite, (*table.notes, _found(table, columns, labels), *notes, *_sets(table, columns, suite), shown)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _check_cells(table: Rows, columns: Columns, named: Sequence[str]) -> None:
    """Refuse empty cells, lists where texts are needed, and a text column of numbers that nobody named."""
    single = [column for column in columns.used if column not in (*columns.options, columns.role, columns.id)]
    for column in single:
        empty = [where for where, values in table.rows if not _text(values.get(column)).strip()]
        if empty:
            more = f" (and {len(empty) - 1:,} more rows)" if len(empty) > 1 else ""
            raise UserError(
                f"{table.path}, {empty[0]}{more}: no text in the column {column!r}; fill it or drop the row"
            )
    for _, column in columns.text:
        if column not in named and all(_is_number(values[column]) for _, values in table.rows):
            raise UserError(f"{table.path}: the column {column!r} holds numbers alone: name another with --text-column")


def _is_number(text: str) -> bool:
    try:
        float(text.strip().replace(",", "."))
    except ValueError:
        return False
    return True


def _check_ids(table: Rows, columns: Columns) -> None:
    if not columns.id or columns.set:
        return
    seen: dict[str, str] = {}
    for where, values in table.rows:
        name = _text(values.get(columns.id)).strip()
        if name and (first := seen.setdefault(name, where)) != where:
            raise UserError(
                f"{table.path}, {where}: the id {excerpt(name)!r} stands on {first} too; where rows of one id belong "
                f"together, say --set-column {columns.id}"
            )


def _answers(
    table: Rows, columns: Columns, notes: list[str]
) -> tuple[tuple[str, ...], list[tuple[str, ...]], list[str]]:
    """(labels of the suite, the options of each row, the gold label of each row)."""
    cells = [" ".join(_text(values[columns.label]).split()) for _, values in table.rows]
    if not columns.options:
        known = label_space(cells, columns.labels, f"{table.path}, column {columns.label!r}", notes)
        golds = [known[cell.casefold()] for cell in cells]
        return tuple(known.values()), [() for _ in cells], golds
    options = [_row_options(table, where, values, columns.options) for where, values in table.rows]
    places = [f"{table.path}, {where}" for where, _ in table.rows]
    golds = option_golds(list(zip(places, cells, options, strict=True)), columns.label, notes)
    return tuple(LETTERS[: max(map(len, options))]), options, golds


def _row_options(table: Rows, where: str, values: Any, columns: Sequence[str]) -> tuple[str, ...]:
    """The options of a row: of one column's list, or one a column, of which the last may be empty."""
    cells = [values.get(column, "") for column in columns]
    if len(cells) == 1:
        cells = cells[0] if isinstance(cells[0], list) else []
    texts = [str(cell).strip() for cell in cells]
    while texts and not texts[-1]:
        texts.pop()
    if len(texts) < 2 or not all(texts) or len(texts) > len(LETTERS):
        raise UserError(
            f"{table.path}, {where}: 2 to {len(LETTERS)} options are needed in {listed(columns)}, none of them empty"
        )
    return tuple(texts)


def _items(
    table: Rows, columns: Columns, labels: Sequence[str], options: Sequence[tuple[str, ...]], golds: Sequence[str]
) -> list[Item]:
    choices = tuple(Choice(label=label, continuation=label) for label in labels)
    items: list[Item] = []
    seen: dict[str, str] = {}
    for (where, values), offered, gold in zip(table.rows, options, golds, strict=True):
        fields = {field: _text(values[column]) for field, column in columns.text}
        if offered:
            fields["options"] = "\n".join(f"{letter}. {text}" for letter, text in zip(LETTERS, offered, strict=False))
        name = _text(values.get(columns.id)).strip() if columns.id else ""
        try:
            item = Item(fields=fields, choices=choices[: len(offered) or None], gold=(gold,), name=name)
        except ValidationError as error:
            raise UserError(f"{table.path}, {where}: {first_fault(Item, error)}") from error
        if (first := seen.setdefault(item.id, where)) != where:
            raise UserError(f"{table.path}, {where}: the same item as on {first}; take one out")
        items.append(item)
    return items


def _prompt(columns: Columns) -> Prompt:
    """The prompt of every table. Three orders of the labels are asked; options keep the letters of the table (ours)."""
    fields = [field for field, _ in columns.text]
    lines = [f"{field.replace('_', ' ').capitalize()}: {{{{ {field} }}}}" for field in fields]
    if columns.options:
        return Prompt(
            name="default", system=f"Choose the right option. {_ONE_OF}", user="\n".join([*lines, "{{ options }}"])
        )
    pair = fields == ["premise", "hypothesis"]
    what = f"Choose the label that fits {'the hypothesis, given the premise' if pair else 'the text'}."
    return Prompt(name="default", system=f"{what} {_ONE_OF}", user="\n".join(lines), orders=3)


def _groupings(table: Rows, columns: Columns, items: Sequence[Item]) -> tuple[Grouping, ...]:
    if not columns.set:
        return ()
    members = tuple(
        Member(
            set=_text(values[columns.set]).strip(),
            item=item.id,
            role=_text(values.get(columns.role)).strip() if columns.role else "",
        )
        for (_, values), item in zip(table.rows, items, strict=True)
    )
    return (Grouping(name="set", members=members),)


def _found(table: Rows, columns: Columns, labels: Sequence[str]) -> str:
    parts = [f"{field} from {column!r}" for field, column in columns.text]
    parts.append(f"label from {columns.label!r} ({listed(labels, 10)})")
    parts += [f"options from {listed(columns.options)}"] if columns.options else []
    parts += [f"{what} from {name!r}" for what, name in (("sets", columns.set), ("roles", columns.role)) if name]
    parts += [f"ids from {columns.id!r}"] if columns.id else []
    unused = [name for name in table.columns if name not in columns.used]
    parts += [f"not used: {listed(unused, 10)}"] if unused else []
    return f"{table.path}: {counted(len(table.rows), 'item')}; {'; '.join(parts)}"


def _sets(table: Rows, columns: Columns, suite: Suite) -> tuple[str, ...]:
    if not columns.set:
        return (f"{table.path}: no sets: every item is judged on its own; --set-column names what binds rows",)
    sizes = Counter(Counter(suite.places.sets).values())
    sized = ", ".join(f"{number:,} of {counted(size, 'item')}" for size, number in sorted(sizes.items()))
    alone = " (a set of one item is judged as that item)" if 1 in sizes else ""
    return (f"{table.path}: {counted(suite.n_sets, 'set')}: {sized}{alone}",)
