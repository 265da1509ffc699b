"""Seeds: problems of which variants are made, and what their suite keeps of where they come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from veridical.errors import UserError
from veridical.items import Suite
from veridical.variation.designs import Design, design_of
from veridical.variation.nouns import Seed
from veridical.variation.stages import Stages

SEED_GROUPING = "seed"
"""The grouping of a seed and its variants in a suite of variants."""


@dataclass(frozen=True, slots=True)
class Seeds:
    """Where seeds come from. `read` gives them in order, counts what it skips, and may be called again.

    `frame` has what their suite of variants keeps: labels, prompts, inputs, classes; its items are not looked at.
    `grouping` names the grouping that binds the items of a seed, where there is one. `notes` are for the user.
    """

    source: str
    design: Design
    frame: Suite
    read: Callable[[Stages], Iterator[Seed]]
    grouping: str = ""
    notes: tuple[str, ...] = ()


def suite_seeds(suite: Suite) -> Seeds:
    """The items of a suite as seeds, bound as its design says.

    Raises UserError for a suite of variants, and for one whose items lack the texts that a word must stand in.
    """
    if suite.measures == "merge" and any(
        member.role == "variant" for grouping in suite.groupings for member in grouping.members
    ):
        raise UserError(f"suite {suite.name!r} holds variants already; give the seeds they were made from")
    design = design_of(suite)
    needed = {field for side in design.sides for field in side}
    for item in suite.items:
        if missing := sorted(needed - set(item.fields)):
            raise UserError(
                f"suite {suite.name!r}, item {item.name or item.id!r}: no field {', '.join(map(repr, missing))}; a "
                f"word to replace is taken from {' and from '.join(map(' or '.join, design.sides))}"
            )
    names = [grouping.name for grouping in suite.groupings]
    binding = next((name for name in design.bound_by if name in names), "")

    def read(stages: Stages) -> Iterator[Seed]:
        if not binding:
            for item in suite.items:
                yield Seed(item.name or item.id, (item,))
            return
        for name, members in suite.grouping(binding).sets().items():
            yield Seed(name, tuple(suite.by_id[member.item] for member in members), members)

    return Seeds(suite.name, design, suite, read, binding)
