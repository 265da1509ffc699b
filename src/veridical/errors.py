"""Errors in the user's input, reported in one line, and text made safe to print."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

# C0 and DEL, C1, line and paragraph separators, what overrides or isolates the direction of text, lone surrogates.
_UNPRINTABLE = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0x2028,
    0x2029,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
    *range(0xD800, 0xE000),
)
_ESCAPES = {code: repr(chr(code))[1:-1] for code in _UNPRINTABLE}


def printable(text: str) -> str:
    r"""The text in one line that a terminal shows as it stands: control characters become `\x1b`, `\n`, `\u202e`.

    For every name that comes from a file or from a model: an escape sequence in it would be obeyed.
    """
    return text.translate(_ESCAPES)


class UserError(Exception):
    """The input is at fault. The message is one printable line: what, where, and what to do about it.

    The command line prints it and exits with status 2; a library caller may catch it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(printable(" ".join(message.split())))


def unknown(kind: str, given: str, known: Iterable[str]) -> UserError:
    """An error for a name that is none of the known ones, with the nearest as a suggestion."""
    names = sorted(known)
    nearest = get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f": did you mean {nearest[0]!r}?" if nearest else ";"
    return UserError(f"unknown {kind} {given!r}{hint} known: {', '.join(names) or 'none'}")
