"""Examples for few-shot prompts: solved items of a training split, or of the data themselves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Sequence

from veridical.digests import digest
from veridical.errors import UserError
from veridical.items import Example, Item
from veridical.prompts.template import PlainText, Prompt
from veridical.suites.commonsense.build import Asked


def examples(
    prompt: Prompt, asked: Sequence[Asked], pool: Sequence[Asked], shots: int, seed: int
) -> tuple[Example, ...]:
    """Enough of a pool, in a seeded order, for every item to have `shots` examples that are not withheld from it.

    Withheld from an item are the item itself and whatever shares a set or a cluster with it, in any grouping. The
    order depends on the seed and on the items, not on the file's. Raises UserError where the pool is too small.
    """
    by_unit: defaultdict[Hashable, list[str]] = defaultdict(list)
    for one in asked:
        for unit in _units(one):
            by_unit[unit].append(one.draft.id)
    taken: list[Example] = []
    lacking: Counter[str] = Counter()
    distinct = {one.draft.id: one for one in pool if one.draft.gold}
    for one in sorted(distinct.values(), key=lambda one: digest([seed, one.draft.id])):
        withheld = dict.fromkeys(item for unit in _units(one) for item in by_unit[unit])
        taken.append(Example(text=_solved(prompt, one.item), withheld=tuple(withheld)))
        lacking.update(list(withheld))
        if len(taken) - max(lacking.values(), default=0) >= shots:
            return tuple(taken)
    raise UserError(
        f"--shots {shots}: of {len(distinct)} examples some item may see only "
        f"{len(distinct) - max(lacking.values(), default=0)}; give fewer, or data with a training split"
    )


def _units(one: Asked) -> Iterator[Hashable]:
    yield one.draft.id
    for grouping, places in enumerate(one.places):
        for name, _, cluster in places:
            yield grouping, "set", name
            if cluster:
                yield grouping, "cluster", cluster


def _solved(prompt: Prompt, item: Item) -> str:
    """An item's question with its (first) right answer."""
    choice = next(choice for choice in item.choices if choice.label == item.gold[0])
    context = prompt.render(item.fields, item.labels) if choice.context is None else PlainText(choice.context)
    assert isinstance(context, PlainText)
    return f"{context.text}{prompt.delimiter or ''}{choice.continuation}"
