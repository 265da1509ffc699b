"""What became of a question."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What became of a question. Never folded into correctness."""

    OK = "ok"
    UNPARSED = "unparsed"
    AMBIGUOUS = "ambiguous"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    TIED = "tied"
    NON_FINITE = "non_finite"
    TOO_LONG = "too_long"
    FILTERED = "filtered"
    BELOW_K = "below_k"
    ERROR = "error"
