"""A row of a published file, and what it is asked for: whatever it lacks is reported with file, line and field."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from veridical.errors import UserError
from veridical.files.json_text import kind

LONGEST_NAME = 60
"""Characters of a name or a value from a file within a message."""
LONGEST = 300
"""Characters of a message on a row; a longer one keeps its beginning and its end."""


_LITERAL = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""", re.DOTALL)
"""A text as Python writes it: lists that pandas wrote to CSV, with commas or (arrays) without."""


class RowError(UserError):
    """A row at fault. `reason` says why in a few words, without what the row holds, so that rows can be counted by it.

    `lacking` is whether something is missing, blank or there twice, which a published file may have; not whether it is
    wrong.
    """

    def __init__(self, message: str, reason: str, *, lacking: bool) -> None:
        super().__init__(message)
        self.reason = reason
        self.lacking = lacking


def is_blank(value: Any) -> bool:
    """Whether a value is blank: null, NaN (an empty cell of a table of numbers), or white space alone."""
    if isinstance(value, str):
        return not value or value.isspace()
    return value is None or (isinstance(value, float) and value != value)


@dataclass(frozen=True, slots=True)
class Row:
    """A row's values by field. `source` is the file (or the hub's name), `place` where the row is in it (`line 3`),
    `number` how many rows stand before it. `origins` says of a field that comes from another file where it is there."""

    values: Mapping[str, Any]
    source: str
    place: str
    number: int = 0
    origins: Mapping[str, str] = field(default_factory=dict)

    def fail(self, message: str, field: str = "", *, reason: str = "", lacking: bool = False) -> NoReturn:
        """Raise RowError for this row, or for its line in the file that the field comes from."""
        named = f", field {field!r}" if field else ""
        message = shortened(message)  # what stands in the cell may be a whole text
        reason = reason or (f"{field} is not as it should be" if field else "not as it should be")
        where = self.origins.get(field) or f"{self.source}, {self.place}{named}"
        raise RowError(f"{where}: {message}", reason, lacking=lacking)

    def has(self, field: str) -> bool:
        """Whether the field is there and not blank."""
        return not is_blank(self.values.get(field))

    def value(self, field: str) -> Any:
        """Whatever the field holds. Raises RowError where it is missing or blank."""
        if field not in self.values:
            message = f"there is no such field; the row has {listed(self.values)}"
            self.fail(message, field, reason=f"no {field}", lacking=True)
        value = self.values[field]
        if is_blank(value):
            self.fail("it is blank", field, reason=f"no {field}", lacking=True)
        return value

    def text(self, field: str) -> str:
        """The field as text, a number as it is written. Raises RowError where it is missing, blank or a list."""
        value = self.values.get(field)
        if isinstance(value, str) and value and not value.isspace():
            return value
        value = self.value(field)
        if isinstance(value, str):
            return value
        if isinstance(value, list | dict):
            self.fail(f"text is needed, this is {kind(value)}", field)
        return str(value)

    def maybe(self, field: str) -> str:
        """The field as text; empty where it is missing or blank."""
        value = self.values.get(field)
        if isinstance(value, str):
            return "" if is_blank(value) else value
        return self.text(field) if self.has(field) else ""

    def texts(self, field: str) -> tuple[str, ...]:
        """The field as a list of texts (in CSV: written as JSON, or as Python writes it), none of them blank."""
        values = self.parts(field)
        if any(map(is_blank, values)):
            message = "a list of texts is needed, none of them blank"
            self.fail(message, field, reason=f"a blank text in {field}", lacking=True)
        return tuple(values)

    def parts(self, field: str) -> Sequence[Any]:
        """As `texts`, but that some may be blank or null."""
        value = self.value(field)
        if isinstance(value, str):
            value = _list(value)
            if value is None:
                self.fail("a list is needed, this is text", field)
        if not isinstance(value, list) or not all(isinstance(part, str) or is_blank(part) for part in value):
            self.fail("a list of texts is needed, none of them blank", field)
        return value

    def whole(self, field: str) -> int:
        """The field as a whole number (`1`, `"1"`, `1.0`)."""
        text = self.text(field).strip()
        try:
            number = float(text)
        except ValueError:
            number = 0.5
        if not number.is_integer():
            self.fail(f"a whole number is needed, this is {text!r}", field)
        return int(number)

    def having(self, **values: Any) -> Row:
        """The row with these values added, or in place of its own."""
        return replace(self, values={**self.values, **values})


def _list(text: str) -> list[Any] | None:
    """The list that a cell holds, as JSON or as Python writes lists and arrays of texts; None where it holds none."""
    text = text.strip()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        if not (text.startswith("[") and text.endswith("]")):
            return None
        inner = text[1:-1]
        if _LITERAL.sub("", inner).strip(", \t\r\n"):
            return None  # something else than texts stands in it
        try:
            return [ast.literal_eval(literal.replace("\n", "\\n")) for literal in _LITERAL.findall(inner)]
        except (ValueError, SyntaxError):
            return None
    return value if isinstance(value, list) else None


def shortened(text: str, longest: int = LONGEST) -> str:
    """A text of at most about so many characters: of a longer one its beginning and its end."""
    return text if len(text) <= longest else f"{text[: longest // 2]} … {text[-longest // 2 :]}"


def listed(names: Iterable[str]) -> str:
    """Names in a message, the first dozen of them."""
    shown = [shortened(str(name), LONGEST_NAME) for name in names]
    more = f" and {len(shown) - 12} more" if len(shown) > 12 else ""
    return ", ".join(shown[:12]) + more if shown else "none"
