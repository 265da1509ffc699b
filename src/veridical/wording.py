"""How numbers and intervals are rounded, the same in tables, pages and sentences.

Two decimals, and as many more as it takes for the two ends of an interval to differ: an interval always has a width,
and what is written of it has one too. Percentages are the same decimals, so that a table and a sentence agree.
"""

from __future__ import annotations

MISSING = "–"
MINUS = "−"
DECIMALS = 2
MOST_DECIMALS = 6


def number(value: float | None, decimals: int = DECIMALS) -> str:
    """Decimals without the leading zero (`.47`, `1.00`, `−.05`); a dash where nothing is estimable."""
    if value is None:
        return MISSING
    digits = f"{abs(value):.{decimals}f}"
    sign = MINUS if value < 0 and float(digits) > 0 else ""
    return sign + (digits[1:] if digits.startswith("0.") else digits)


def counted(n: int, singular: str, plural: str = "") -> str:
    """`1 item`, `2,000 items`: a count with its noun (and what else has two forms: `answer is`, `answers are`)."""
    return f"{n:,} {singular if n == 1 else plural or f'{singular}s'}"


def signed(value: float | None, decimals: int = DECIMALS) -> str:
    """Like `number`, with a plus before what is above zero: for differences."""
    text = number(value, decimals)
    return f"+{text}" if value is not None and value > 0 and float(text) > 0 else text


def decimals_of(low: float | None, high: float | None, *, difference: bool = False) -> int:
    """How many decimals an interval needs so that its ends differ.

    The interval of a `difference` that excludes 0 does not read as if it began there either.
    """
    if low is None or high is None:
        return DECIMALS
    ends = [low, high] if difference and (low > 0 or high < 0) else []
    for decimals in range(DECIMALS, MOST_DECIMALS):
        lost = [end for end in ends if float(f"{end:.{decimals}f}") == 0]
        if f"{low:.{decimals}f}" != f"{high:.{decimals}f}" and not lost:
            return decimals
    return MOST_DECIMALS


def span(low: float | None, high: float | None, decimals: int | None = None) -> str:
    """`[.38, .57]`, or nothing where there is no interval; `[.996, .999]` where two decimals would be one number."""
    if low is None or high is None or low == high:
        return ""
    decimals = decimals_of(low, high) if decimals is None else decimals
    return f"[{number(low, decimals)}, {number(high, decimals)}]"


def percent(value: float, decimals: int = DECIMALS) -> str:
    """`97 %`, the decimals of `number`; 0 and 100 only where they are exact."""
    digits = percentage(value, decimals)
    if decimals == DECIMALS and digits == "0" and value > 0:
        return "under 1 %"
    if decimals == DECIMALS and digits == "100" and value < 1:
        return "over 99 %"
    return f"{digits} %"


def percentage(value: float, decimals: int = DECIMALS) -> str:
    """`97`, `99.6`: a share in percent with two decimals fewer, rounded as `number` rounds it."""
    whole, _, part = f"{abs(value):.{decimals}f}".partition(".")
    digits = (whole + part[:2]).lstrip("0") or "0"
    sign = MINUS if value < 0 and float(f"{value:.{decimals}f}") != 0 else ""
    return sign + digits + (f".{part[2:]}" if part[2:] else "")


def p_value(p: float | None) -> str:
    """`.031`, or `< .001`."""
    if p is None:
        return ""
    return "< .001" if p < 0.001 else "1" if p >= 0.9995 else f"{p:.3f}".lstrip("0")


def spaced(name: str) -> str:
    """A name as prose: `Change_of_State` → `Change of State`."""
    return name.replace("_", " ")
