"""Which marks of a missing value count where: a score takes them all, a reply some, a right answer two, a name none."""

from __future__ import annotations

import pytest

from veridical.files.missing_values import GOLD, REPLY, SCORE, is_missing

#      mark            gold   reply  score
KNOWN = {
    "": (True, True, True),
    " NaN ": (True, True, True),
    "null": (True, True, True),
    "NA": (False, True, True),
    "n/a": (False, True, True),
    "None": (False, True, True),
    "#N/A": (False, False, True),
    "unknown": (False, False, True),
    "?": (False, False, True),
    "-": (False, False, True),
    "\N{EM DASH}": (False, False, True),
    "0": (False, False, False),
    "no": (False, False, False),
}


@pytest.mark.parametrize("mark", KNOWN)
def test_a_mark_counts_where_a_cell_can_mean_nothing_else(mark: str) -> None:
    assert tuple(is_missing(mark, marks) for marks in (GOLD, REPLY, SCORE)) == KNOWN[mark]


def test_what_counts_in_a_narrower_kind_counts_in_a_wider_one() -> None:
    assert GOLD < REPLY < SCORE
