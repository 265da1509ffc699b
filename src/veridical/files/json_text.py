"""JSON from a user's file, strictly: what cannot be asked or stored is refused with the place where it stands.

Python's reader lets more through than JSON has (NaN, an overflow to infinity, a key given twice, half a character).
Such values are marked while the text is read and refused afterwards, when it is known where they are.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from veridical.errors import excerpt

DEEPEST = 32
"""Levels of nesting that are read. No format of Veridical's has more than five."""
LONGEST = 300
"""Characters of a number that are read: a float's range has 309 digits."""

JsonPath = tuple[str | int, ...]


class JSONContentError(ValueError):
    """What is at fault and where: `path` holds keys and positions (from 0), outermost first.

    `non_finite` is whether the fault is a NaN or an infinity, which JSON does not have.
    """

    def __init__(self, reason: str, path: JsonPath = (), *, non_finite: bool = False) -> None:
        super().__init__(reason)
        self.path = path
        self.non_finite = non_finite


@dataclass(frozen=True, slots=True)
class _Refused:
    """Stands for a value that must not be there."""

    reason: str
    non_finite: bool = False


class _Repeated(dict[str, Any]):
    """An object that gives a key twice."""

    key: str


def parse_json(text: str) -> Any:
    """The value that the text holds. Raises json.JSONDecodeError where it is not JSON, else JSONContentError."""
    try:
        value = _DECODER.decode(text)
    except RecursionError as error:
        raise JSONContentError("nested too deeply") from error
    if not _is_flat(value, ascii_alone=text.isascii() and "\\u" not in text):
        for fault in _faults(value):
            raise fault
    return value


def kind(value: object) -> str:
    """What a value is, in words: `text`, `a whole number`, `a list`."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    kinds = {str: "text", int: "a whole number", float: "a number", list: "a list"}
    return next((words for type_, words in kinds.items() if isinstance(value, type_)), "an object")


def schema_fault(document: object, wanted: str) -> str:
    """Why a document is not of the wanted schema, in words; empty where it is."""
    if not isinstance(document, dict):
        return f"it holds {kind(document)}, not a JSON object"
    found = document.get("schema")
    if found == wanted:
        return ""
    if found is None:
        return f"it has no field 'schema' with {wanted!r}"
    return f"its schema is {excerpt(found)!r}, not {wanted!r}"


def place(path: JsonPath) -> str:
    """A path as one writes it: `sets[0].role`."""
    field = ""
    for part in path:
        field += f"[{part}]" if isinstance(part, int) else f".{part}" if field else part
    return field


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) == len(pairs):
        return values
    repeated = _Repeated(values)
    names = [name for name, _ in pairs]
    repeated.key = next(name for position, name in enumerate(names) if name in names[:position])
    return repeated


def _integer(digits: str) -> int | _Refused:
    return int(digits) if len(digits) <= LONGEST else _Refused("a number that is too long")


def _float(digits: str) -> float | _Refused:
    if len(digits) > LONGEST:
        return _Refused("a number that is too long")
    number = float(digits)
    return number if math.isfinite(number) else _Refused(f"{digits} is too large a number")


def _is_flat(value: Any, ascii_alone: bool) -> bool:
    """Whether a value is an object of ASCII texts, numbers and truth values: most rows are, and have no fault.

    `ascii_alone` is whether every text in it is known to be ASCII.
    """
    if type(value) is not dict:
        return False
    if ascii_alone:
        return _SIMPLE.issuperset(map(type, value.values()))
    for key, part in value.items():
        if not (key.isascii() and (part.isascii() if type(part) is str else type(part) in _PLAIN)):
            return False
    return True


_PLAIN = frozenset((int, float, bool, type(None)))
_SIMPLE = _PLAIN | {str}


def _faults(value: Any) -> Iterator[JSONContentError]:
    """What must not be there, in the text's order. Not recursive: nesting is one of the things looked for."""
    pending: list[tuple[Any, JsonPath]] = [(value, ())]
    while pending:
        found, path = pending.pop()
        inner: list[tuple[Any, JsonPath]] = []
        if len(path) > DEEPEST:
            yield JSONContentError("nested too deeply", path[:2])
        elif isinstance(found, _Refused):
            yield JSONContentError(found.reason, path, non_finite=found.non_finite)
        elif isinstance(found, str) and _half(found):
            yield JSONContentError("half of a character (a lone surrogate, \\ud800 to \\udfff)", path)
        elif isinstance(found, _Repeated):
            yield JSONContentError(f"the key {found.key!r} is given twice", (*path, found.key))
        elif isinstance(found, dict):
            inner = [part for key, item in found.items() for part in ((key, (*path, key)), (item, (*path, key)))]
        elif isinstance(found, list):
            inner = [(item, (*path, position)) for position, item in enumerate(found)]
        pending += reversed(inner)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_constant=lambda name: _Refused(f"{name} is not a JSON number", non_finite=True),
    parse_int=_integer,
    parse_float=_float,
)
"""Made once: what `json.loads` is given it makes anew for every text."""


def _half(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
