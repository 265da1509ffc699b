"""Proves what `evidence` and `evidence-development` promise, and measures what their surface gives away.

`python -m tools.suites.evidence` prints the findings and the figures; it exits with status 1 where a
promise is broken.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from veridical.readouts.rows import Rows
from veridical.readouts.text import VECTORIZERS, prepared_text
from veridical.readouts.transfer import TransferTask, fit
from veridical.stats.permutation import permutation_p
from veridical.suites.evidence.builder import build_development, build_evidence
from veridical.suites.evidence.prompts import LABELS
from veridical.suites.evidence.surface import LABEL_WORD, RULES, rule_accuracy
from veridical.suites.evidence.text import DIFFERENCES, KINDS, CategoryText, EvidencePair, read_text

PAIRS_PER_KIND = 3
SCENARIOS, ENDPOINTS_PER_SCENARIO = 18, 8
FEWEST_PER_DIMENSION = 2
FEWEST_FIELDS = 10
CHANCE = (0.4, 0.6)
"""Share of pairs in which a surface rule may be right."""
FIELDS = ("background", "evidence", "target", "condition")


def six_pairs_a_category(text: Sequence[CategoryText]) -> Iterator[str]:
    """Every category has three pairs of each kind."""
    for category in text:
        kinds = Counter(pair.kind for pair in category.pair)
        if kinds != {"Favors": PAIRS_PER_KIND, "Challenges": PAIRS_PER_KIND}:
            yield f"{category.category}: pairs by kind are {dict(kinds)}"


def all_labels_in_every_scenario(text: Sequence[CategoryText]) -> Iterator[str]:
    """There are 18 scenarios, and each target of a scenario has every label once."""
    scenarios = [scenario for category in text for scenario in category.scenario]
    if len(scenarios) != SCENARIOS:
        yield f"{len(scenarios)} scenarios, not {SCENARIOS}"
    for scenario in scenarios:
        labels = Counter(reading.label for statement in scenario.evidence for reading in statement.about)
        if labels != dict.fromkeys(LABELS, ENDPOINTS_PER_SCENARIO // len(LABELS)):
            yield f"{scenario.id}: labels are {dict(labels)}"
        for target in scenario.targets:
            own = [r.label for s in scenario.evidence for r in s.about if r.target == target]
            if sorted(own) != sorted(LABELS):
                yield f"{scenario.id}: target {target!r} has the labels {own}, not each once"


def backgrounds_are_distinct(text: Sequence[CategoryText]) -> Iterator[str]:
    """No background and no id occurs twice."""
    owners: dict[str, list[str]] = {}
    for category in text:
        for name, background in _studies(category):
            owners.setdefault(background, []).append(name)
    for shared in owners.values():
        if len(shared) > 1:
            yield f"one background for {', '.join(shared)}"
    ids = Counter(name for category in text for name, _ in _studies(category))
    yield from (f"id {name} occurs {n} times" for name, n in ids.items() if n > 1)


def _studies(category: CategoryText) -> list[tuple[str, str]]:
    """Id and background of every pair and scenario."""
    pairs = [(pair.id, pair.background) for pair in category.pair]
    return pairs + [(scenario.id, scenario.background) for scenario in category.scenario]


def evidence_is_verbatim(text: Sequence[CategoryText]) -> Iterator[str]:
    """In the suite as built, both endpoints of a pair hold one and the same evidence, and differ in their target."""
    suite = build_evidence(text)
    for name, members in suite.grouping("pair").sets().items():
        fields = [suite.by_id[member.item].fields for member in members]
        if len(fields) != 2 or len({field["evidence"] for field in fields}) != 1:
            yield f"{name}: the evidence differs between the endpoints"
        if len({field["condition"] for field in fields}) != 2:
            yield f"{name}: the endpoints have one condition"
        if len({suite.by_id[member.item].labels for member in members}) != 1:
            yield f"{name}: the endpoints name the labels in two orders"


def no_text_holds_a_label(text: Sequence[CategoryText]) -> Iterator[str]:
    """No text that a model reads has a word of a label."""
    for suite in (build_evidence(text), build_development(text)):
        for item in suite.items:
            for field in FIELDS:
                if found := LABEL_WORD.search(item.fields[field]):
                    yield f"{item.name}, {field}: {found[0]!r}"


def differences_are_covered(text: Sequence[CategoryText]) -> Iterator[str]:
    """Every kind of difference occurs, every dimension at least twice."""
    kinds = Counter(pair.differs for pair in _pairs(text))
    yield from (f"no pair differs in {kind!r}" for kind in KINDS if not kinds[kind])
    for dimension in DIFFERENCES:
        n = sum(count for kind, count in kinds.items() if kind.split(":")[0] == dimension)
        if n < FEWEST_PER_DIMENSION:
            yield f"{n} pairs differ in {dimension!r}, not {FEWEST_PER_DIMENSION} or more"


def fields_are_many(text: Sequence[CategoryText]) -> Iterator[str]:
    """The pairs are from at least ten fields of research."""
    fields = {pair.field for pair in _pairs(text)}
    if len(fields) < FEWEST_FIELDS:
        yield f"{len(fields)} fields, not {FEWEST_FIELDS} or more"


def surface_rules_are_at_chance(text: Sequence[CategoryText]) -> Iterator[str]:
    """No surface rule finds the addressed endpoint much more or less often than chance."""
    for name, rule in RULES.items():
        share = rule_accuracy(_pairs(text), rule)
        if not CHANCE[0] <= share <= CHANCE[1]:
            yield f"{name} is the addressed one in {share:.0%} of pairs"


CHECKS: tuple[Callable[[Sequence[CategoryText]], Iterator[str]], ...] = (
    six_pairs_a_category,
    all_labels_in_every_scenario,
    backgrounds_are_distinct,
    evidence_is_verbatim,
    no_text_holds_a_label,
    differences_are_covered,
    fields_are_many,
    surface_rules_are_at_chance,
)


def _pairs(text: Sequence[CategoryText]) -> list[EvidencePair]:
    return [pair for category in text for pair in category.pair]


@dataclass(frozen=True, slots=True)
class TextReadout:
    """What a text baseline recovers, and what it recovers with development labels permuted within scenario."""

    answerer: str
    pairs: int
    null_mean: float
    null_high: float
    p: float

    @property
    def inside(self) -> bool:
        """Whether the number of pairs is within the central 95 % of its null from above."""
        return self.pairs <= self.null_high


def text_readout(text: Sequence[CategoryText], answerer: str, draws: int = 1_000, seed: int = 0) -> TextReadout:
    """Fit a text baseline on the development set, answer the pairs, and again `draws` times on permuted labels."""
    task = TransferTask(Rows.of(build_development(text)), Rows.of(build_evidence(text)))
    prepared = prepared_text(answerer, task.fitted.texts(), task.fitted.groups, task.judged.texts())
    outcome = fit(task, prepared, draws, seed)
    assert outcome.null is not None
    null = outcome.null.pairs.astype(np.float64)
    observed = int(outcome.observed.pairs)
    return TextReadout(
        answerer, observed, float(null.mean()), float(np.quantile(null, 0.975)), permutation_p(observed, null)
    )


def main() -> int:
    """Print rules, text readouts and faults. Returns 1 where there is a fault."""
    text = read_text()
    findings = [f"{check.__name__}: {finding}" for check in CHECKS for finding in check(text)]
    console = Console()
    for name, rule in RULES.items():
        console.print(f"{name} is the addressed one in {rule_accuracy(_pairs(text), rule):.0%} of pairs")
    table = Table(
        "text readout", "pairs recovered", "null mean", "null 97.5 %", "p", title="Development fits, pairs judge"
    )
    for answerer in VECTORIZERS:
        found = text_readout(text, answerer)
        table.add_row(answerer, str(found.pairs), f"{found.null_mean:.1f}", f"{found.null_high:.0f}", f"{found.p:.3f}")
        if not found.inside:
            findings.append(f"{answerer} recovers {found.pairs} pairs, outside its null")
    console.print(table)
    for finding in findings:
        console.print(finding, markup=False)
    console.print(f"{len(_pairs(text))} pairs; {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
