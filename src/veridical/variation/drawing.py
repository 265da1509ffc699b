"""Which variants of a productive seed are kept: in turn from its word classes, and there from its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, zip_longest
from typing import TypeVar

from veridical.digests import digest
from veridical.variation.nouns import Variant

T = TypeVar("T")


def draw(variants: Sequence[Variant], most: int, seed: int, own: Sequence[str]) -> list[Variant]:
    """At most `most` of a seed's variants, in the order in which they were given.

    They are taken in turn: from every word class, within a class from every word replaced, so that nouns, which are
    most of the words, are not most of the sample. Of the variants of one word those come first that judge and proposer
    like best together (`Variant.rank`), where a judge was asked. What is equal in this is drawn by a hash of `seed`, of
    the ids of the seed's items (`own`) and of the words: it does not depend on any other seed.
    """

    def drawn(*names: str) -> str:
        return digest([seed, list(own), *names], length=32)

    def of_word(same: Sequence[Variant]) -> list[Variant]:
        return sorted(same, key=lambda v: (-v.rank, drawn(v.target.form, v.replacement)))

    def of_class(same: Sequence[Variant]) -> list[Variant]:
        by_word = _grouped(same, lambda v: v.target.form)
        return _in_turn([of_word(by_word[word]) for word in sorted(by_word, key=drawn)])

    by_class = _grouped(variants, lambda v: v.target.word_class)
    order = _in_turn([of_class(by_class[name]) for name in sorted(by_class, key=drawn)])
    taken = {str(variant) for variant in order[:most]}
    return [variant for variant in variants if str(variant) in taken]


def _grouped(variants: Sequence[Variant], key: Callable[[Variant], str]) -> dict[str, list[Variant]]:
    groups: dict[str, list[Variant]] = {}
    for variant in variants:
        groups.setdefault(key(variant), []).append(variant)
    return groups


def _in_turn(rows: Sequence[Sequence[T]]) -> list[T]:
    """The first of every row, then the second of every row that has one, and so on."""
    return [found for found in chain.from_iterable(zip_longest(*rows)) if found is not None]
