"""JSON objects one after another in a text that may be damaged: what can be read is, and what cannot is counted.

After damage reading goes on at the next object that looks like the others of the text. How many were lost before it is
counted by how often the first key of a record begins an object there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from veridical.errors import excerpt
from veridical.files.ledger import Ledger

CUT_OFF = "cut off at the end of the file"
NOT_JSON = "no JSON object"

_BETWEEN = re.compile(r"[\s,\[\]\ufeff]*")
_FIRST_KEY = re.compile(r'\{\s*("(?:[^"\\]|\\.)*")\s*:')
_OPENS = re.compile(r"\{")
_MARGIN = 64
"""Characters before the end of what was read so far where a fault may be but the end of it."""


class ObjectReader:
    """The objects of an array, or of a text in which they follow one another, read from pieces of it.

    `where` stands before each fault; the number of the record where None.
    """

    def __init__(self, pieces: Iterator[str], ledger: Ledger, largest: int, where: str | None = None) -> None:
        self._pieces, self._ledger, self._largest, self._given_where = pieces, ledger, largest, where
        self._buffer, self._place = "", 0
        self._keys: frozenset[str] = frozenset()
        self._first_key = ""
        self._decoder = json.JSONDecoder()

    def __iter__(self) -> Iterator[dict[str, Any]]:
        while self._skip_between():
            try:
                value, end = self._decoder.raw_decode(self._buffer, self._place)
            except (ValueError, RecursionError) as error:
                if self._may_go_on(error) and self._more():
                    continue
                if not self._resume(f"{self._where(1)}: {why_not_json(error)}"):
                    return
                continue
            if end == len(self._buffer) and not isinstance(value, dict) and self._more():
                continue  # a number or word that goes on in the next piece
            self._place = end
            self._ledger.take()
            if isinstance(value, dict):
                self._learn(value)
                yield value
            else:
                self._ledger.leave_unreadable(NOT_JSON, fault=f"{self._where()}: a value, not an object")

    def _where(self, ahead: int = 0) -> str:
        return self._given_where or f"record {self._ledger.read + ahead}"

    def _skip_between(self) -> bool:
        """Go to the next value; False at the end of the text."""
        while True:
            match = _BETWEEN.match(self._buffer, self._place)
            self._place = match.end() if match else self._place
            if self._place < len(self._buffer):
                return True
            if not self._more():
                return False

    def _more(self) -> bool:
        """Read on, by as much as is there already, so that a long value is not parsed over and over."""
        found: list[str] = []
        size, wanted = 0, len(self._buffer) - self._place
        if wanted > self._largest:
            return False
        for piece in self._pieces:
            found.append(piece)
            size += len(piece)
            if size >= wanted:
                break
        self._buffer, self._place = self._buffer[self._place :] + "".join(found), 0
        return bool(found)

    def _may_go_on(self, error: Exception) -> bool:
        """Whether what is wrong with a value may be no more than that its end has not been read."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        return error.msg.startswith("Unterminated string") or error.pos >= len(self._buffer) - _MARGIN

    def _learn(self, value: dict[str, Any]) -> None:
        if not self._keys and value:
            self._keys, self._first_key = frozenset(value), json.dumps(next(iter(value)))

    def _resume(self, fault: str) -> bool:
        """Go to the next object that looks like a record, and count what lies before it. False where none follows."""
        self._first_key = self._first_key or self._key_at(self._place)
        start = self._place + 1
        while True:
            for match in _OPENS.finditer(self._buffer, start):
                if self._is_record(match.start()):
                    self._lose(self._buffer[self._place : match.start()], NOT_JSON, fault)
                    self._place = match.start()
                    return True
            start = max(len(self._buffer) - self._place - self._longest, 1)
            if not self._more():
                last = self._buffer[self._place :].rstrip()
                whole = last.endswith(("]", "}")) and last.count("{") <= last.count("}")
                self._lose(self._buffer[self._place :], NOT_JSON if whole else CUT_OFF, fault)
                return False

    _longest = 1 << 20

    def _key_at(self, place: int) -> str:
        match = _FIRST_KEY.match(self._buffer, place)
        return match[1] if match else ""

    def _is_record(self, place: int) -> bool:
        before = self._buffer[self._place : place].rstrip()[-1:]
        if before == ":" or (self._first_key and not self._keys and self._key_at(place) != self._first_key):
            return False
        try:
            value, _ = self._decoder.raw_decode(self._buffer, place)
        except (ValueError, RecursionError):
            return False
        if self._keys:
            return 2 * len(self._keys & value.keys()) >= len(self._keys)
        return bool(self._first_key) or len(value) > 2

    def _lose(self, text: str, reason: str, fault: str) -> None:
        key = re.escape(self._first_key)
        n = len(re.findall(rf"\{{\s*{key}\s*:", text)) if key else 1
        self._ledger.take(max(n, 1))
        self._ledger.leave_unreadable(reason, max(n, 1), fault)


def why_not_json(error: Exception) -> str:
    """What is wrong with a text that is not JSON, in a few words."""
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at column {error.colno}"
    return "nested too deeply" if isinstance(error, RecursionError) else excerpt(error, 80)


def objects_in(text: str, ledger: Ledger, where: str | None = None) -> Iterator[dict[str, Any]]:
    """The objects in a text, as `ObjectReader` reads them."""
    return iter(ObjectReader(iter((text,)), ledger, len(text), where))
