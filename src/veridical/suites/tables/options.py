"""What the user says of a table's columns."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Names of columns; what is empty is looked for under well-known names.

    `choices` are either columns, one an option, or one column of lists, or the labels themselves.
    """

    text: tuple[str, ...] = ()
    label: str = ""
    choices: tuple[str, ...] = ()
    set: str = ""
    role: str = ""

    @property
    def given(self) -> bool:
        """Whether anything is named."""
        return self != WELL_KNOWN


WELL_KNOWN = TableOptions()
"""Every column is looked for under its well-known names."""


def named_choices(written: str | None) -> tuple[str, ...]:
    """The names in a value of `--choices`, which commas separate."""
    return tuple(name.strip() for name in (written or "").split(",") if name.strip())
