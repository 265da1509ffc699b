"""Whether the prompts of a suite can be rendered for its items: looked at when a suite file is read."""

from __future__ import annotations

from itertools import islice

from veridical.errors import listed
from veridical.items import FULL, Item, Suite, shown_fields

_TRIED = 50
"""Items that a prompt is tried on to see whether any two of them read differently."""


def template_fault(suite: Suite) -> tuple[Item, str] | None:
    """The first item for which a prompt cannot be rendered in full, and why; None where all can.

    Whether a template of names and conditions alone can be rendered depends on which fields an item has: it is tried
    for one item of each kind. A template that computes is tried for every item.
    """
    for prompt in suite.prompts:
        tried: set[frozenset[str]] = set()
        for item in suite.items:
            fields = shown_fields(suite, item, FULL)
            kind = frozenset(fields)
            if kind in tried and not prompt.computes:
                continue
            tried.add(kind)
            try:
                prompt.render(fields, item.labels)
            except ValueError as error:
                return item, str(error)
    return None


def hidden_items(suite: Suite) -> str | None:
    """Why a prompt does not ask of the items: it reads the same for all, as do their choices; None where it asks.

    Prompts must render (`template_fault`). Fifty items are looked at.
    """
    items = list(islice(suite.items, _TRIED))
    shown = [shown_fields(suite, item, FULL) for item in items]
    if all(fields == shown[0] for fields in shown) or any(item.choices != items[0].choices for item in items):
        return None
    for prompt in suite.prompts:
        read = [prompt.render(fields, item.labels) for item, fields in zip(items, shown, strict=True)]
        if all(text == read[0] for text in read):
            names = sorted({name for fields in shown for name in fields})
            return (
                f"prompt {prompt.name!r} reads the same for every item, though the items differ: put a field in it, as "
                f"{{{{ {names[0]} }}}} (there are {listed(names)})"
            )
    return None
