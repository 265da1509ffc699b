"""How the sentences of a validity analysis word amounts, p-values and lists, and what counts as shown."""

from __future__ import annotations

from collections.abc import Sequence

from veridical.validity.inference import Tested
from veridical.wording import MINUS, p_value

ALPHA = 0.05
OVER = {"size": "model size", "size + controls": "model size and controls"}
SIGNED = {"negative": " (negatively)", "mixed": " (with no one sign)", "positive": "", "none": ""}
"""Behind an outcome: the sign of a benchmark's relation with it, where it is not the one that a reader expects."""
NAMED = 4
"""Benchmarks that the first sentence names, and names in any list."""


def count_of(n: int, noun: str) -> str:
    """`1 model`, `3 models`: the number with its noun."""
    return f"{n} {noun}{'' if n == 1 else 's'}"


def listed(names: Sequence[str]) -> str:
    """`a, b, c`; of many, the first few and how many more."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more


def possible(test: Tested | None) -> bool:
    """Whether the smallest p that the test can give, after correction, is at most the threshold."""
    return test is not None and test.least * test.tests <= ALPHA


def passes(test: Tested | None) -> bool:
    """Whether p after Holm is at most the threshold."""
    return test is not None and (test.p if test.holm is None else test.holm) <= ALPHA


def p_phrase(test: Tested) -> str:
    """`p .003, Holm .012`."""
    holm = "" if test.holm is None or test.tests < 2 else f", Holm {p_value(test.holm)}"
    return f"p {p_value(test.p)}{holm}"


def amount(value: float, *, percent: bool = False) -> str:
    """A signed amount in two significant digits: `+.021`, `−1.3`, `+12 %`."""
    if percent:
        rounded = f"{abs(100 * value):.0f} %"
        return rounded if rounded == "0 %" else f"{MINUS if value < 0 else '+'}{rounded}"
    if value == 0:
        return "0"
    if abs(value) >= 100:
        return f"{MINUS if value < 0 else '+'}{abs(value):,.0f}"
    digits = f"{abs(value):.2g}" if abs(value) >= 1e-4 else f"{abs(value):.0e}"
    return f"{MINUS if value < 0 else '+'}{digits.replace('0.', '.', 1) if digits.startswith('0.') else digits}"


def magnitude(value: float) -> str:
    """An amount without a sign: `.0213`, `1.25`, `12,346`; in three significant digits below 1,000."""
    if value == 0 or 1e-4 <= abs(value) < 999.5:
        return f"{value:.3g}"
    return f"{value:,.0f}" if abs(value) < 1e7 and abs(value) >= 1 else f"{value:.2e}"
