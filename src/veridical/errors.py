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


LONGEST = 900
"""Characters of a message: a screen of 80 columns holds as many in a dozen lines."""
LONGEST_NAME = 120
"""Characters of a name or a value of the user's within a message."""
LONGEST_PATH = 300
_MOST_NAMES = 40


def excerpt(text: object, longest: int = LONGEST_NAME) -> str:
    """A text of at most so many characters: of a longer one its beginning and its end."""
    text = str(text)
    half = (longest - 3) // 2
    return text if len(text) <= longest else f"{text[:half]} … {text[-half:]}"


def shown_path(path: object) -> str:
    """A path in quotes: whole, but for one that is longer than any that a person gives."""
    return repr(excerpt(path, LONGEST_PATH))


def printable(text: str) -> str:
    r"""The text in one line that a terminal shows as it stands: control characters become `\x1b`, `\n`, `\u202e`.

    For every name that comes from a file or from a model: an escape sequence in it would be obeyed.
    """
    return text.translate(_ESCAPES)


class UserError(Exception):
    """The input is at fault. The message is one printable line: what, where, and what to do about it.

    Of a message of more than `LONGEST` characters beginning and end are kept.

    The command line prints it and exits with status 2; a library caller may catch it. `where` stands before the
    message, and `reason` is the message without it, for what names the file itself.
    """

    def __init__(self, reason: str, *, where: object = "") -> None:
        self.reason = _in_a_line(reason)
        super().__init__(_in_a_line(f"{where}: {reason}" if where else reason))


def _in_a_line(message: str) -> str:
    # A message may quote a whole file: what is far beyond its length is cut before anything is done to it.
    return excerpt(printable(" ".join(excerpt(message, 4 * LONGEST).split())), LONGEST)


def unknown(kind: str, given: str, known: Iterable[str]) -> UserError:
    """An error for a name that is none of the known ones, with the nearest as a suggestion."""
    names = sorted(known)
    nearest = get_close_matches(given[:1000], names, n=1, cutoff=0.5)
    hint = f": did you mean {excerpt(nearest[0])!r}?" if nearest else ";"
    return UserError(f"unknown {kind} {excerpt(given)!r}{hint} known: {listed(names)}")


def listed(names: Iterable[str], most: int = _MOST_NAMES) -> str:
    """Names in a message, the first of them where there are many; `none` where there is none."""
    shown = [excerpt(name, 60) for name in names]
    more = f" and {len(shown) - most} more" if len(shown) > most else ""
    return f"{', '.join(shown[:most])}{more}" if shown else "none"
