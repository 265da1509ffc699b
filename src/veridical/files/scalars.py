"""Texts of a file as numbers and truth values, by explicit rules.

Each rule takes plain decimal notation and nothing else: `1_000`, `0x10`, `1:30` and `yes` are refused, since one
reader's number is another's text. Leading zeros are decimal (`01172` is 1172).
"""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator

_WHOLE = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?")
_TRUTH = {"true": True, "false": False}


def whole_number(text: str) -> int:
    """The whole number that the text writes in decimal digits. Raises ValueError for anything else."""
    if _WHOLE.fullmatch(text) is None:
        raise ValueError(f"a whole number in decimal digits is needed, this is {text[:40]!r}")
    return int(text)


def decimal_number(text: str) -> float:
    """The number that the text writes in decimal digits (`7.6`, `1e3`). Raises ValueError for anything else."""
    if _DECIMAL.fullmatch(text) is None:
        raise ValueError(f"a number in decimal digits is needed, this is {text[:40]!r}")
    return float(text)


def truth_value(text: str) -> bool:
    """`true` or `false`. Raises ValueError for anything else, `yes` and `no` among it."""
    if text not in _TRUTH:
        raise ValueError(f"true or false is needed, this is {text[:40]!r}")
    return _TRUTH[text]


def _whole(given: Any) -> Any:
    return whole_number(given) if isinstance(given, str) else given


def _decimal(given: Any) -> Any:
    return decimal_number(given) if isinstance(given, str) else given


def _truth(given: Any) -> Any:
    return truth_value(given) if isinstance(given, str) else given


Whole = Annotated[int, BeforeValidator(_whole)]
"""A field of a model that holds a whole number; a text is converted by `whole_number`."""
Decimal = Annotated[float, BeforeValidator(_decimal)]
"""A field that holds a number; a text is converted by `decimal_number`."""
Truth = Annotated[bool, BeforeValidator(_truth)]
"""A field that holds a truth value; a text is converted by `truth_value`."""
