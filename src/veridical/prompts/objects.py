"""JSON objects in a reply: where they stand, and what they give as the answer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

KEYS = frozenset({"label", "answer", "final_answer", "final answer", "verdict", "output"})
"""Keys that name the answer, in lower case."""
_WORK = 8
"""How often the text is gone over at most, looking for objects: braces that open nothing cost a reading each."""
_FAILURES = 200
"""Braces that open nothing which are tried: the parser counts the lines before each fault."""


class Pairs(list[tuple[str, Any]]):
    """A JSON object as its pairs, so that a key given twice is seen twice."""


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, strict=False, parse_int=str, parse_float=str)
_BEGIN = re.compile(r"\{\s{0,200}[\"}]")


def json_objects(text: str) -> Iterator[tuple[int, int, Pairs]]:
    """(start, end, value) of every outermost JSON object in the text, left to right. Line breaks in strings count.

    The work is bounded by a multiple of the text's length.
    """
    room, failures = _WORK * len(text) + 1000, 0
    position, opening = 0, _BEGIN.search(text)
    while opening is not None and room > 0 and failures < _FAILURES:
        start = opening.start()
        try:
            value, position = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            position, failures = start + 1, failures + 1
            to_the_end = error.msg.startswith("Unterminated")  # its position is where the string begins
            room -= (len(text) if to_the_end else error.pos) - start + 1
        except (ValueError, RecursionError):
            position, failures = start + 1, failures + 1
            room -= len(text) - start
        else:
            yield start, position, value
        opening = _BEGIN.search(text, position)


def answers(value: Pairs) -> Iterator[str]:
    """What stands under a key that names the answer, in the object or in objects inside it."""
    pending = [value]
    while pending:
        for key, inner in pending.pop():
            if isinstance(inner, Pairs):
                pending.append(inner)
            elif key.strip().casefold() in KEYS and isinstance(inner, str | bool):
                yield str(inner)
