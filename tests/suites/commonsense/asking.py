"""What a benchmark puts to a model, as pairs of texts."""

from __future__ import annotations

from pathlib import Path

from veridical.items import Item, Suite
from veridical.prompts.template import PlainText
from veridical.runs.plan import AskOptions, plan, query

PUBLISHED = Path(__file__).with_name("published")


def requests(suite: Suite) -> list[tuple[Item, list[tuple[str, str]]]]:
    """Each item with, for each of its choices, the context and what is scored after it."""
    found = []
    for ask in plan(suite, AskOptions()).asks:
        put = query(suite, ask)
        texts = [context.text for context in put.contexts if isinstance(context, PlainText)]
        assert len(texts) == len(put.contexts)
        contexts = texts if len(texts) > 1 else texts * len(put.continuations)
        pairs = [(c, f"{put.delimiter}{text}") for c, text in zip(contexts, put.continuations, strict=True)]
        found.append((suite.by_id[ask.item], pairs))
    return found
