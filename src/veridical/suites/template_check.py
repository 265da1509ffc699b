"""Whether the prompts of a suite can be rendered for its items: looked at when a suite file is read."""

from __future__ import annotations

from veridical.items import FULL, Item, Suite, shown_fields


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
