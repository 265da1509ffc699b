"""From the text to two suites: `evidence`, the pairs that are judged, and `evidence-development`, for fitting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from veridical.items import Choice, Factor, Grouping, Item, Member, Suite
from veridical.prompts.template import rotations
from veridical.suites.evidence.prompts import INPUTS, LABELS, PROMPTS
from veridical.suites.evidence.text import CategoryText, EvidenceTarget, Label

VERSION = "1.0.0"


def _choices(rotation: int) -> tuple[Choice, ...]:
    """The labels, beginning at the `rotation`-th: the order in which an item names them first."""
    labels = rotations(LABELS, 0)[rotation % len(LABELS)]
    return tuple(Choice(label=label, continuation=label) for label in labels)


def _item(
    background: str,
    evidence: str,
    target: EvidenceTarget,
    label: Label,
    rotation: int,
    name: str,
    factors: dict[str, Factor],
) -> Item:
    return Item(
        fields={
            "background": f"{background} {target.detail}".strip(),
            "evidence": evidence,
            "target": target.claim,
            "condition": target.condition,
        },
        choices=_choices(rotation),
        gold=(label,),
        factors=factors,
        name=name,
    )


def _primary(categories: Sequence[CategoryText]) -> Iterator[tuple[Member, Item]]:
    """The endpoints of every pair, both in one order of the labels; orders take turns over a category's pairs."""
    for offset, category in enumerate(categories):
        for place, pair in enumerate(category.pair):
            for role, endpoint, label in pair.endpoints:
                factors: dict[str, Factor] = {
                    "category": category.category,
                    "kind": pair.kind,
                    "endpoint": role,
                    "differs": pair.differs,
                    "field": pair.field,
                    "reasoning": endpoint.reasoning,
                }
                name = f"{pair.id}/{role}"
                item = _item(pair.background, pair.evidence, endpoint.as_target, label, place + offset, name, factors)
                yield Member(set=pair.id, item=item.id, role=role), item


def _development(categories: Sequence[CategoryText]) -> Iterator[tuple[Member, Member, Item]]:
    """The endpoints of every scenario, with their place in the scenario and among those that share the evidence."""
    for offset, category in enumerate(categories):
        for scenario in category.scenario:
            for number, statement in enumerate(scenario.evidence, start=1):
                shared = f"{scenario.id}/{number}"
                for reading in statement.about:
                    factors: dict[str, Factor] = {
                        "category": category.category,
                        "scenario": scenario.id,
                        "field": scenario.field,
                        "reasoning": reading.reasoning,
                    }
                    target = scenario.targets[reading.target]
                    name = f"{shared}/{reading.target}"
                    item = _item(
                        scenario.background, statement.text, target, reading.label, number + offset, name, factors
                    )
                    role = f"{reading.target}: {reading.label}"
                    yield (
                        Member(set=scenario.id, item=item.id, role=role),
                        Member(set=shared, item=item.id, role=reading.label, cluster=scenario.id),
                        item,
                    )


def _suite(name: str, title: str, groupings: tuple[Grouping, ...], items: Iterable[Item]) -> Suite:
    """What both suites share: labels, prompts, inputs and measures."""
    return Suite(
        name=name,
        version=VERSION,
        title=f"Same evidence, different targets: {title}",
        licence="Apache-2.0",
        citation="Design after arXiv 2607.26929; all text is our own.",
        labels=LABELS,
        measures="evidence",
        prompts=PROMPTS,
        inputs=INPUTS,
        groupings=groupings,
        items=tuple(items),
    )


def build_evidence(categories: Sequence[CategoryText]) -> Suite:
    """The primary set: pairs of endpoints with the evidence verbatim in both. Nothing is fitted on it."""
    found = list(_primary(categories))
    pairs = Grouping(name="pair", members=tuple(member for member, _ in found))
    return _suite("evidence", "one diagnostic result under two causal claims", (pairs,), (item for _, item in found))


def build_development(categories: Sequence[CategoryText]) -> Suite:
    """The development set: scenarios with all four labels, on which readouts are selected and fitted."""
    found = list(_development(categories))
    groupings = (
        Grouping(name="scenario", members=tuple(scenario for scenario, _, _ in found)),
        Grouping(name="evidence", members=tuple(shared for _, shared, _ in found)),
    )
    title = "the scenarios on which readouts are fitted"
    return _suite("evidence-development", title, groupings, (item for _, _, item in found))
