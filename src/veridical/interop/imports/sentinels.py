"""Numbers that stand for a missing score: -1, -999, 9999. They are named, and taken as missing where that is asked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from veridical.errors import UserError
from veridical.interop.imports.answer import Answer, number
from veridical.status import Status
from veridical.wording import counted

FLOAT_MAX, DOUBLE_MAX = 3.4028234663852886e38, 1.7976931348623157e308
_EITHER_SIGN = (99.0, 999.0, 9999.0, 99999.0, 999999.0, 9999999.0, 1e6, 1e9, 1e10, 1e20, 1e30, 2147483647.0)
_BELOW = (-1.0, -9.0, -100.0, -1e4, -1e5, -1e8, -1e12, -2147483648.0)
SUSPECTS = frozenset(
    (*(sign * value for value in (*_EITHER_SIGN, FLOAT_MAX, DOUBLE_MAX) for sign in (1.0, -1.0)), *_BELOW)
)
SUSPECT_LIKELIHOODS = SUSPECTS - {-1.0, -9.0, -100.0}
"""Those that stand for a missing log-likelihood: the others may be one."""
MISSING = "the log has {value:g} for a score, which --missing takes as none"


class Sentinels:
    """What of a task's scores looks like a mark of a missing one, and what is taken as such (`missing`).

    -1 is a mark where a metric is otherwise 0 or more; among log-likelihoods it is one as any other.
    """

    def __init__(self, missing: Iterable[float] = ()) -> None:
        self.missing = frozenset(missing)
        self.taken: Counter[float] = Counter()
        self._seen: dict[str, Counter[float]] = {}
        self._negative: Counter[str] = Counter()

    def clean(self, answer: Answer) -> None:
        """Count what looks like a mark in an answer; take what is one as missing."""
        mark: float | None = None
        for metric, value in answer.metrics.items():
            found = number(value)
            if found is None:
                continue
            if found in self.missing:
                self.taken[found] += 1
                answer.metrics = {**answer.metrics, metric: None}
                answer.recomputed.pop(metric, None)
                mark = found
            elif found in SUSPECTS:
                self._seen.setdefault(metric, Counter())[found] += 1
            elif found < 0:
                self._negative[metric] += 1
        graded = any(number(value) is not None for value in answer.metrics.values())
        if mark is not None and not graded and not answer.scores and answer.status is Status.OK:
            # An answer without a grade is none, also where a letter of it could be read.
            answer.status, answer.label, answer.detail = Status.NON_FINITE, None, MISSING.format(value=mark)
            answer.recomputed = {}
        marks = [score for score in answer.scores if score in self.missing]
        if marks:
            self.taken[marks[0]] += 1
            answer.scores = [math.nan if score in self.missing else score for score in answer.scores]
            answer.recomputed, answer.by_scores = {}, None
            if answer.status is Status.OK:
                answer.status, answer.detail = Status.NON_FINITE, MISSING.format(value=marks[0])
        for score in answer.scores:
            if score in SUSPECT_LIKELIHOODS:
                self._seen.setdefault("the log-likelihoods", Counter())[score] += 1

    def notices(self) -> Iterator[str]:
        """Lines on what looks like a mark, and on what was taken as one."""
        for what, counts in self._seen.items():
            if self._negative[what]:
                for small in (-1.0, -9.0):
                    counts.pop(small, None)
            for value, n in counts.most_common(4):
                yield (
                    f"{what} {'are' if what.startswith('the ') else 'is'} {value:.10g} in {counted(n, 'place')}, which "
                    f"often stands for a score that is missing: --missing={value:.10g} takes it so"
                )
        if self.taken:
            shown = ", ".join(f"{value:.10g} ({n:,})" for value, n in self.taken.most_common(6))
            yield f"taken as missing scores, as --missing asks: {shown}; their answers count as not answered"


def sentinel_values(texts: Sequence[str]) -> tuple[float, ...]:
    """The numbers in what `--missing` was given, separated by commas or not. Raises UserError for anything else."""
    found: list[float] = []
    for text in (part.strip() for one in texts for part in one.split(",") if part.strip()):
        value = number(text)
        if value is None or not math.isfinite(value):
            raise UserError(f"--missing {text}: give a number that stands for a missing score, such as -999")
        found.append(value)
    return tuple(found)
