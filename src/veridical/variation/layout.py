"""What a file of variants holds: its header, its items with their places in sets, and the factors that are added to
items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from veridical.items import Factor, Item, Suite
from veridical.suites.file_writer import Membership
from veridical.variation.nouns import Seed, Variant
from veridical.variation.seeds import SEED_GROUPING, Seeds
from veridical.variation.settings import VariationSettings


def with_factors(item: Item, factors: Mapping[str, Factor]) -> Item:
    """A copy of the item with these factors added."""
    # The id is of fields, choices and gold, so that a copy may keep it.
    return item.model_copy(update={"factors": {**item.factors, **factors}})


def proposed_by(variant: Variant, names: Sequence[str]) -> Variant:
    """The variant with the names of its proposers among its factors.

    A variant of one proposer has the factor `proposer`. One of several has `proposers` instead, so that it does not
    count for one of them and not for the others.
    """
    added: dict[str, Factor] = {"proposer": names[0]} if len(names) == 1 else {"proposers": ", ".join(names)}
    return replace(variant, items=tuple(with_factors(item, added) for item in variant.items))


def with_gain(variant: Variant) -> Variant:
    """The variant with the factor `judge_gain` (change of log-likelihood, nats), where a judge scored it."""
    if variant.gain is None:
        return variant
    return replace(variant, items=tuple(with_factors(item, {"judge_gain": variant.gain}) for item in variant.items))


def lines(seed: Seed, variants: Sequence[Variant], grouping: str) -> Iterator[tuple[Item, list[Membership]]]:
    """Every item with its places: with its seed, and in its copy of the set that binds it.

    The seed's items are sets of their own; those that are bound are one cluster.
    """
    cluster = seed.name if len(seed.items) > 1 else ""

    def places(position: int, role: str, copy: str) -> list[Membership]:
        own = Membership(grouping=SEED_GROUPING, set=seed.items[position].id, role=role, cluster=cluster)
        if not grouping:
            return [own]
        member = seed.members[position]
        return [
            own,
            Membership(
                grouping=grouping, set=f"{member.set}{copy}", role=member.role, cluster=member.cluster or cluster
            ),
        ]

    for position, item in enumerate(seed.items):
        yield item, places(position, "seed", "")
    for variant in variants:
        for position, item in enumerate(variant.items):
            yield item, places(position, "variant", f": {variant.target.form} > {variant.replacement}")


def frame(seeds: Seeds, proposers: Sequence[str], settings: VariationSettings) -> Suite:
    """The suite of variants without its items: what the seeds' suite asks, judged as seeds and variants."""
    frame = seeds.frame
    credit = "Variants after MERE (arXiv 2510.24295)."
    loosened = "" if settings.min_ratio == 1 else f", where P(r) > {settings.min_ratio:g} P(o)"
    return frame.model_copy(
        update={
            "name": f"{frame.name}-variants",
            "title": f"Minimal variants of {frame.name}, proposed by {' and '.join(proposers)}{loosened}",
            "citation": f"{frame.citation} {credit}".strip(),
            "measures": "merge",
        }
    )
