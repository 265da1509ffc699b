"""Unicode texts in one form, so that equal texts compare equal. Linear in the length of any text."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache
from typing import Literal

LONGEST_RUN = 30
"""Combining characters in a row that are kept. Putting a longer run in order takes time that grows with its square;
Unicode's stream-safe format has the same bound."""

_EXPANDING = (
    "\u3307\u3315\u3316\u3317\u3319\u331a\u3320\u332b\u332e\u3332\u3334\u3336\u3347\u334a\u3356\u33ae\u33af\ufdfa\ufdfb"
)
"""Ligatures of whole words and phrases, with 5 to 18 characters each in form KC; any other character has 4 at most."""
_PARTS = re.compile(f"([{_EXPANDING}]+)")


def composed(text: str) -> str:
    """The text in normal form C: an accented letter is one character, however it was typed."""
    return _normalised("NFC", text)


def compatible(text: str) -> str:
    """The text in normal form KC: full-width letters and digits, ligatures and odd spaces as their plain forms."""
    # What expands most is left as it is, or a text would grow eighteenfold.
    parts = _PARTS.split(text)
    return "".join(part if place % 2 else _normalised("NFKC", part) for place, part in enumerate(parts))


def _normalised(form: Literal["NFC", "NFKC"], text: str) -> str:
    if text.isascii():
        return text
    return unicodedata.normalize(form, _long_run().sub(lambda run: run[0][:LONGEST_RUN], text))


@cache
def _long_run() -> re.Pattern[str]:
    combining = [code for code in range(0x300, sys.maxunicode + 1) if unicodedata.combining(chr(code))]
    return re.compile(f"[{''.join(map(chr, combining))}]{{{LONGEST_RUN + 1},}}")
