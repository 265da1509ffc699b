"""What the items of `imperfective` keep, verb by verb: rules that the suite, and every variant of it, must pass.

Each rule returns findings: what was found, what is required, and whether it holds. `tools/suites/imperfective.py`
checks the whole suite with them; `variation` checks the variants of a verb's items.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from veridical.items import Item
from veridical.suites.imperfective.builder import Group

VerbSets = Mapping[str, Mapping[Group, Item]]
Verdict = Literal["holds", "fails", "skipped"]

GOLD = {"A": "False", "B": "True", "C": "Unknown", "D": "True", "completed": "True"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The outcome of one check."""

    check: str
    found: str
    required: str
    verdict: Verdict

    @property
    def fails(self) -> bool:
        """Whether the check fails (neither holds nor is skipped)."""
        return self.verdict == "fails"


def finding(check: str, found: object, required: str, holds: bool) -> Finding:
    """A finding that holds or fails; `found` is shown as text."""
    return Finding(check, str(found), required, "holds" if holds else "fails")


def none_of(check: str, faults: Sequence[str], kind: str) -> Finding:
    """Holds without faults; shows the first three."""
    shown = "; ".join(faults[:3]) + ("; …" if len(faults) > 3 else "")
    return finding(check, shown or f"no {kind}", f"no {kind}", not faults)


def prefixes(sets: VerbSets) -> Iterable[Finding]:
    """C and D without the full stop begin A, B and completed."""
    faults = []
    for verb, items in sets.items():
        start = items["C" if "C" in items else "D"].fields["premise"].removesuffix(".")
        faults += [
            f"{verb} {group}"
            for group, item in items.items()
            if group not in "CD" and not item.fields["premise"].startswith((f"{start} ", f"{start}, "))
        ]
    yield none_of("prefix property", faults, "premise that does not continue its C or D")


def hypotheses(sets: VerbSets) -> Iterable[Finding]:
    """All items of a verb have one hypothesis."""
    faults = [verb for verb, items in sets.items() if len({i.fields["hypothesis"] for i in items.values()}) > 1]
    yield none_of("one hypothesis a verb", faults, "verb with two hypotheses")


def golds(sets: VerbSets) -> Iterable[Finding]:
    """Every item has the gold label of its group."""
    faults = [
        f"{verb} {group}"
        for verb, items in sets.items()
        for group, item in items.items()
        if item.gold != (GOLD[group],) or item.factors["group"] != group
    ]
    yield none_of("gold by group", faults, "item with another group's gold")


def shapes(sets: VerbSets) -> Iterable[Finding]:
    """A telic verb has the items A, C and completed; an atelic verb B and D."""
    whole = ({"A", "C", "completed"}, {"B", "D"})
    faults = [verb for verb, items in sets.items() if set(items) not in whole]
    yield none_of("groups of a verb", faults, "verb without all of its items")


def duplicates(sets: VerbSets) -> Iterable[Finding]:
    """No premise occurs twice, whatever its capitals."""
    uses = Counter(item.fields["premise"].lower() for items in sets.values() for item in items.values())
    yield none_of("duplicates", [text for text, count in uses.items() if count > 1], "premise asked twice")


ITEM_RULES: tuple[Callable[[VerbSets], Iterable[Finding]], ...] = (shapes, prefixes, hypotheses, golds, duplicates)
"""The rules that hold for one verb's items as for all of them."""
