"""From a suite to blinded sheets and the key to them.

A row has an id of its own on each rater's sheet, and the texts. What the suite holds on an item (gold, name, factors,
role, set) does not reach a sheet, nor does it move the order of its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from veridical.digests import digest
from veridical.errors import UserError
from veridical.items import FULL, Item, Member, Suite
from veridical.limits import take_sets
from veridical.review.key import RatedItem, ReviewKey
from veridical.review.questions import SEED, Question, ReviewKind, kind_of

_LETTERS = tuple("bcdfghjkmnpqrstvwxz")
"""No vowels, so that an id is not a word; no digits, so that a spreadsheet program takes none for a number or a
date."""
_ID_LENGTH = 6

SheetTexts = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class SheetRow:
    """A row as a rater sees it: texts with their headings."""

    id: str
    texts: SheetTexts


@dataclass(frozen=True, slots=True)
class Sheet:
    """What one rater gets. `rater` counts from 1; `fingerprint` only distinguishes this sheet from others."""

    rater: int
    fingerprint: str
    instructions: str
    questions: tuple[Question, ...]
    rows: tuple[SheetRow, ...]


def blinded(suite: Suite, raters: int, sample: int | None = None, seed: int = 0) -> tuple[ReviewKey, tuple[Sheet, ...]]:
    """The key, and a sheet for each rater: the same items, each time in another order and under other ids.

    `sample` is how many items are rated (all where None): items taken from the sets in turn, or as many whole sets as
    fit where sets are judged together. Raises UserError where a number is too small, and for a suite of variants
    that lacks a seed or has no variants.
    """
    if raters < 1:
        raise UserError(f"--raters {raters}: give a number of raters, 1 or more")
    if sample is not None and sample < 1:
        raise UserError(f"--sample {sample}: give a number of items, 1 or more")
    kind = kind_of(suite)
    questions = kind.questions(suite)
    items = tuple(_rated(suite, kind, sample, seed))
    shown = digest([[item.texts for item in items], [question.model_dump() for question in questions]])
    ids: dict[str, tuple[int, int]] = {}
    sheets = []
    for rater in range(1, raters + 1):
        rng = np.random.default_rng([seed, rater, int(shown, 16)])
        rows = []
        for position in _order([item.set for item in items], rng):
            row = _new_id(ids, rng)
            ids[row] = (rater, position)
            rows.append(SheetRow(row, items[position].texts))
        fingerprint = digest([row.id for row in rows])
        sheets.append(Sheet(rater, fingerprint, kind.instructions, questions, tuple(rows)))
    key = ReviewKey(
        suite=suite.name,
        version=suite.version,
        content_hash=suite.content_hash,
        seed=seed,
        raters=raters,
        questions=questions,
        items=items,
        ids=ids,
    )
    return key, tuple(sheets)


def _new_id(taken: Mapping[str, object], rng: np.random.Generator) -> str:
    while (drawn := "".join(rng.choice(_LETTERS, _ID_LENGTH))) in taken:
        pass
    return drawn


def _order(sets: Sequence[str], rng: np.random.Generator) -> list[int]:
    """Positions in a random order in which the items of a set stand as far apart as they can.

    One item of every set comes before a second of any, so that nobody judges an item by the one next to it.
    """
    waiting: dict[str, list[int]] = {}
    for position in rng.permutation(len(sets)):
        waiting.setdefault(sets[position], []).append(int(position))
    order: list[int] = []
    while waiting:
        names = [list(waiting)[place] for place in rng.permutation(len(waiting))]
        if order and len(names) > 1 and sets[order[-1]] == names[0]:
            names.append(names.pop(0))
        order += [waiting[name].pop() for name in names]
        waiting = {name: left for name, left in waiting.items() if left}
    return order


def _rated(suite: Suite, kind: ReviewKind, sample: int | None, seed: int) -> Iterator[RatedItem]:
    """The items to be rated, in the suite's order: a variant once with each of its seeds, any other item once."""
    members: dict[str, list[Member]] = {}
    for member in suite.grouping().members:
        members.setdefault(member.item, []).append(member)
    seeds: dict[str, Item] = {}
    places: list[Member] = []
    for item in suite.items:
        found = members.get(item.id, [Member(set=item.id, item=item.id)])
        if kind.variants:
            seeds |= {member.set: item for member in found if member.role == SEED}
            places += [member for member in found if member.role != SEED]
        else:
            places.append(found[0])
    if not places:
        raise UserError(f"suite {suite.name} has seeds and no variants: there is nothing to rate")
    lacking = next((place.set for place in places if kind.variants and place.set not in seeds), None)
    if lacking is not None:
        raise UserError(
            f"suite {suite.name}: set {lacking!r} has no member with the role {SEED!r}, with which its variants are "
            "shown; mark it in the suite file"
        )
    taken = set(_sampled(suite, places, kind, sample, seed))
    for place in places:
        if place in taken:
            item = suite.by_id[place.item]
            yield RatedItem(
                item=item.id,
                name=item.name,
                set=place.set,
                role=place.role,
                cluster=place.cluster or place.set,
                expected=kind.expected(item),
                texts=_texts(suite, item, seeds.get(place.set)),
            )


def _sampled(
    suite: Suite, places: Sequence[Member], kind: ReviewKind, sample: int | None, seed: int
) -> Iterator[Member]:
    if sample is None:
        yield from places
        return
    sets: dict[str, list[Member]] = {}
    for place in places:
        sets.setdefault(place.set, []).append(place)
    grouping = suite.grouping()
    known = [name for name in take_sets(grouping, len(grouping.members), seed) if name in sets]
    names = [*known, *sorted(set(sets) - set(known))]
    if kind.whole_sets:
        if sample < len(sets[names[0]]):
            raise UserError(
                f"--sample {sample}: the sets of {suite.name} are judged whole, and the first has "
                f"{len(sets[names[0]])} items; give at least as many"
            )
        room = sample
        for name in names:
            if (room := room - len(sets[name])) < 0:
                return
            yield from sets[name]
        return
    ranked = [sorted(sets[name], key=lambda place: digest([seed, place.item])) for name in names]
    turns = (group[turn] for turn in range(max(map(len, ranked))) for group in ranked if turn < len(group))
    yield from islice(turns, sample)


def _texts(suite: Suite, item: Item, seed: Item | None) -> SheetTexts:
    """What a rater reads: the fields, in the order in which the suite shows them, and choices that say more than their
    labels; before those of a variant, those of its seed."""
    if seed is not None:
        shown = (("original", seed), ("variant", item))
        return tuple((f"{which} {heading}", text) for which, one in shown for heading, text in _texts(suite, one, None))
    order = (*suite.inputs.get(FULL, ()), *item.fields)
    fields = tuple((name, item.fields[name]) for name in dict.fromkeys(order) if name in item.fields)
    bare = all(choice.context is None and choice.continuation.strip() == choice.label for choice in item.choices)
    if bare:
        return fields
    # In the labels' order: an item's own order may give away which is right.
    choices = sorted(item.choices, key=lambda choice: choice.label)
    return (*fields, *((f"answer {c.label}", f"{c.context or ''}{c.continuation}") for c in choices))
