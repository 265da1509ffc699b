"""Examples before a question: which an item is shown, and that it is never shown itself."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from veridical.errors import UserError
from veridical.items import Item, Suite
from veridical.prompts.template import Context, PlainText

BETWEEN = "\n\n"
"""What stands between two examples, and between the last and the question: what lm-eval puts there."""


def shown_examples(suite: Suite, item: Item) -> list[str]:
    """The suite's first `shots` examples that may be shown to an item.

    The same for every item but for those that are withheld from it, so that items share the beginning of their
    prompts. Raises UserError where there are too few.
    """
    shown = [example.text for example in suite.examples if item.id not in example.withheld][: suite.shots]
    if len(shown) < suite.shots:
        raise UserError(
            f"--shots {suite.shots}: suite {suite.name!r} has {len(shown)} examples that item {item.name or item.id!r} "
            "may see; give fewer, or data with a training split"
        )
    return shown


def with_examples(suite: Suite, item: Item, contexts: Sequence[Context]) -> tuple[Context, ...]:
    """The contexts (one, or one a choice) of an item with the suite's examples before each.

    Raises UserError where the examples would hold the item itself: its question with any of its answers.
    """
    plain = [context for context in contexts if isinstance(context, PlainText)]
    if len(plain) < len(contexts):
        raise UserError(f"--shots {suite.shots}: suite {suite.name!r} is asked in turns, which take no examples here")
    before = "".join(f"{example}{BETWEEN}" for example in shown_examples(suite, item))
    each = plain if len(plain) > 1 else plain * len(item.choices)
    for context, choice in zip(each, item.choices, strict=True):
        if " ".join(f"{context.text} {choice.continuation}".split()) in _squeezed(before):
            raise UserError(
                f"suite {suite.name!r}: the examples hold the item that is asked ({item.name or item.id}): "
                "the training split repeats what is evaluated; take those rows out of it"
            )
    return tuple(PlainText(before + context.text) for context in plain)


@lru_cache(maxsize=64)
def _squeezed(text: str) -> str:
    return " ".join(text.split())
