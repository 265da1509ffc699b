"""The scores of the options in a table of predictions: a column an option, or one column of lists."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from veridical.errors import UserError
from veridical.files.missing_values import REPLY, is_missing
from veridical.files.tables import TableRow
from veridical.interop.imports.answer import number

MOSTLY = 0.8
"""Share of rows that must be probabilities where some have other numbers. Our choice."""
_TINY = 5e-324


class PredictionScores:
    """The scores of every row. `columns` has one an option, or one of lists, or none."""

    def __init__(self, rows: Sequence[TableRow], columns: Sequence[str], source: str) -> None:
        self.columns, self._n_rows = tuple(columns), len(rows)
        found = {row.line: self._read(row) for row in rows} if self.columns else {}
        lengths = Counter(len(own) for own in found.values() if own)
        self.length = max(lengths, key=lambda length: (lengths[length], length), default=0)
        """How many scores most rows have."""
        self._known = [own for own in found.values() if own and all(map(math.isfinite, own))]
        self._odd = (
            Counter(text for row in rows for text in self._texts_that_are_none(row)) if self.columns else Counter()
        )
        if found and not self._known:
            odd = next(((row.line, text) for row in rows for text in self._texts_that_are_none(row)), None)
            where = f", line {odd[0]}: {odd[1][:40]!r} is not the score of an option, and" if odd else ":"
            raise UserError(
                f"{source}{where} no row has a number for each option in {', '.join(self.columns)}; name other columns "
                "with --score-columns"
            )

    @cached_property
    def are_probabilities(self) -> bool:
        """Whether scores are probabilities that sum to 1: those of every row but a few that have a number outside
        [0, 1], which stands for a missing one."""
        inside = [own for own in self._known if _is_inside(own)]
        return len(inside) >= MOSTLY * len(self._known) > 0 and all(abs(sum(own) - 1) < 0.01 for own in inside)

    def of(self, row: TableRow, options: int) -> list[float]:
        """A score for each option, the logarithms of probabilities; NaN for every one where the row has not as many."""
        found = self._read(row) or []
        if len(found) != options:
            return [math.nan] * options
        if self.are_probabilities and all(map(math.isfinite, found)) and not _is_inside(found):
            return [math.nan] * options
        if self.are_probabilities and all(map(math.isfinite, found)):
            return [math.log(max(score, _TINY)) for score in found]
        return found

    def notes(self) -> Iterator[str]:
        """What must be known of the scores."""
        if self.are_probabilities:
            yield "scores are probabilities that sum to 1: their logarithms are kept, and label mass says nothing"
            if outside := Counter(score for own in self._known for score in own if not 0 <= score <= 1):
                rows = sum(not _is_inside(own) for own in self._known)
                shown = ", ".join(f"{score:.10g} ({n:,})" for score, n in outside.most_common(4))
                yield f"{rows:,} rows have scores that are no probabilities and count as not answered: {shown}"
        elif any(score > 0 for own in self._known for score in own):
            yield "scores above 0 are not log-likelihoods: the highest is the answer, and there is no label mass"
        if self._odd:
            yield (
                f"{self._odd.total():,} scores are no numbers, and their rows count as not answered: {self._shown()}"
            )

    def _shown(self) -> str:
        return ", ".join(f"{text[:40]!r} ({count})" for text, count in self._odd.most_common(4))

    def _cells(self, row: TableRow) -> list[str] | None:
        if len(self.columns) > 1:
            return [row.values.get(one, "") for one in self.columns]
        text = row.values.get(self.columns[0], "").strip()
        return None if is_missing(text, REPLY) else list_of(text)

    def _read(self, row: TableRow) -> list[float] | None:
        cells = self._cells(row)
        return None if cells is None else [math.nan if (found := number(one)) is None else found for one in cells]

    def _texts_that_are_none(self, row: TableRow) -> Iterator[str]:
        cells = self._cells(row)
        if cells is None:
            text = row.values.get(self.columns[0], "").strip()
            cells = [] if is_missing(text, REPLY) else [text]
        for one in cells:
            if not is_missing(one, REPLY) and number(one) is None:
                yield one.strip()


def _is_inside(own: Sequence[float]) -> bool:
    return min(own) >= 0 and max(own) <= 1


def list_of(text: str) -> list[str] | None:
    """A cell's list, in JSON or as `A|B|C`; None where it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = [part.strip() for part in re.split(r"[|;]", text)] if re.search(r"[|;]", text) else None
    if isinstance(found, dict):
        found = list(found.values())
    if not isinstance(found, list):
        return None
    return [one if isinstance(one, str) else json.dumps(one, ensure_ascii=False) for one in found]
