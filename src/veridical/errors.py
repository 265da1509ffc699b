"""What goes wrong through the user's input, told in one line."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class UserError(Exception):
    """The input is at fault. The message is one line: what, where, and what to do about it.

    The command line prints it and exits with status 2; a library caller may catch it.
    """

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.split()))


def unknown(kind: str, given: str, known: Iterable[str]) -> UserError:
    """An error for a name that is none of the known ones, with the nearest as a suggestion."""
    names = sorted(known)
    nearest = get_close_matches(given, names, n=1, cutoff=0.5)
    hint = f"did you mean {nearest[0]!r}? " if nearest else ""
    return UserError(f"unknown {kind} {given!r}: {hint}known: {', '.join(names) or 'none'}")
