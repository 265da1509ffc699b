"""From the lexicon to items, and to the suite `imperfective`."""

from __future__ import annotations

from typing import Literal

from veridical.items import Grouping, Item, Member, Suite
from veridical.suites.imperfective.lexicon import Entry, Lexicon
from veridical.suites.imperfective.prompts import CHOICES, CLASSES, INPUTS, LABELS, PROMPTS
from veridical.suites.imperfective.sentences import progressive, sentence, simple_past

Group = Literal["A", "B", "C", "D", "completed"]

GOLD: dict[Group, str] = {"A": "False", "B": "True", "C": "Unknown", "D": "True", "completed": "True"}

CONDITION: dict[Group, str] = {
    "A": "interrupted",
    "B": "interrupted",
    "C": "ambiguous",
    "D": "ambiguous",
    "completed": "completed",
}


def make_item(premise: str, hypothesis: str, group: Group, name: str, **factors: str) -> Item:
    """An item of either imperfective suite; the group gives gold and condition, and `factors` the rest."""
    return Item(
        fields={"premise": premise, "hypothesis": hypothesis},
        choices=CHOICES,
        gold=(GOLD[group],),
        factors={
            "group": group,
            "condition": CONDITION[group],
            "n_words": len(premise.split()),
            **factors,
        },
        name=name,
    )


def entry_items(entry: Entry, interruption: str, verb_class: str, completion: str | None) -> dict[Group, Item]:
    """An entry's items by group: A, C and completed of a telic one, B and D of one without a completion."""
    process = progressive(entry.subject, entry.verb_phrase)
    additions: dict[Group, str] = (
        {"B": interruption, "D": ""}
        if completion is None
        else {"A": interruption, "C": "", "completed": f", {completion}"}
    )
    return {
        group: make_item(
            sentence(process, addition),
            sentence(simple_past(entry.subject, entry.verb_phrase)),
            group,
            f"{group}_{entry.verb}",
            telicity="atelic" if completion is None else "telic",
            verb_class=verb_class,
            verb=entry.verb,
            frame=entry.frame,
        )
        for group, addition in additions.items()
    }


def build_sets(lexicon: Lexicon) -> dict[str, dict[Group, Item]]:
    """Every verb's items by group, in the order of the lexicon."""
    telic = {e.verb: (e, str(e.verb_class), e.completion) for e in lexicon.telic}
    atelic = {e.verb: (e, "Activity", None) for e in lexicon.atelic}
    return {
        verb: entry_items(entry, lexicon.interruption(entry), verb_class, completion)
        for verb, (entry, verb_class, completion) in (telic | atelic).items()
    }


def build_suite(lexicon: Lexicon) -> Suite:
    """The suite `imperfective`: one set a verb, whose roles are the groups."""
    sets = build_sets(lexicon)
    return Suite(
        name="imperfective",
        version="1.3.0",
        title="The imperfective paradox: progressive premises, simple-past hypotheses",
        licence="Apache-2.0",
        citation="Design after arXiv 2601.09373; all text is our own.",
        labels=LABELS,
        measures="imperfective",
        prompts=PROMPTS,
        inputs=INPUTS,
        classes=CLASSES,
        groupings=(
            Grouping(
                name="verb",
                members=tuple(
                    Member(set=verb, item=item.id, role=group)
                    for verb, items in sets.items()
                    for group, item in items.items()
                ),
            ),
        ),
        items=tuple(item for items in sets.values() for item in items.values()),
    )
