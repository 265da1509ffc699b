"""Comparisons: prompts within a model, models under a prompt, slices within one answering."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import combinations

import polars as pl

from veridical.items import Suite
from veridical.judge.agreement import agreement
from veridical.judge.answering import Answering, answerings, by_key, only
from veridical.judge.baselines import is_baseline
from veridical.judge.estimate import JudgeSettings, contrast, slice_contrast
from veridical.judge.frame import KEY
from veridical.judge.measure import Measure
from veridical.judge.registry import MeasureSet, measure_set
from veridical.judge.table import SuiteTable, table_of
from veridical.stats.multiple import holm

AnsweringPair = tuple[Answering, Answering]


def contrasts(
    suite: Suite,
    frame: pl.DataFrame,
    *,
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
    over_common_items: bool = False,
) -> list[Measure]:
    """Differences with their intervals and tests, each record the side of its key less the side in `against`.

    Every prompt against the suite's first (within a model), every two models (under a prompt), both paired by
    set; then how often every two models agree, and the slices that the suite's measure set compares. Baselines
    are not compared. Arguments as for `judge`; with `over_common_items` an item without a response was not asked, and
    every two answerings are compared over the items that both were asked, whatever a third was. Each record with a
    raw p is followed by the same one with p adjusted by Holm's method, whose `null` says so and over how many
    contrasts: prompts, models and slices are a family each.
    """
    measures = measure_set(suite.measures)
    settings = JudgeSettings(level, draws, seed)
    found = [a for a in answerings(table_of(suite), frame) if not is_baseline(a.key["answerer"])]
    prompts, models, own = _prompt_pairs(suite, found), _model_pairs(found), iter(found)
    if over_common_items:
        asked = _Asked(suite, frame)
        prompts, models, own = asked.pairs(prompts), asked.pairs(models), asked.alone(found)
    between_models = list(models)
    families = (
        list(_between(prompts, "prompt", measures, settings)),
        list(_between(between_models, "model", measures, settings)),
        [] if measures.graded else [agreement(one, other, settings) for one, other in between_models],
        [slice_contrast(s.one, s.other, s.against, settings) for a in own for s in measures.slices(a)],
    )
    return [record for family in families for record in with_holm(family)]


class _Asked:
    """Answerings of a suite over the items that they were asked, and pairs of them over those that both were."""

    def __init__(self, suite: Suite, frame: pl.DataFrame) -> None:
        self.suite = suite
        own = only(frame, pl.col("suite") == suite.name)
        self.rows = {tuple(part.select(KEY).row(0)): part for part in by_key(own)}
        self.items = {key: frozenset(part["item"]) for key, part in self.rows.items()}
        self._tables: dict[frozenset[str], SuiteTable] = {}
        self._known: dict[tuple[tuple[str, ...], frozenset[str]], Answering] = {}

    def pairs(self, found: Iterable[AnsweringPair]) -> Iterator[AnsweringPair]:
        """The pairs that have items in common, over those."""
        for one, other in found:
            if common := self.items[_key(one)] & self.items[_key(other)]:
                yield self._over(one, common), self._over(other, common)

    def alone(self, found: Iterable[Answering]) -> Iterator[Answering]:
        """Each over its own items."""
        return (self._over(answering, self.items[_key(answering)]) for answering in found)

    def _over(self, answering: Answering, items: frozenset[str]) -> Answering:
        key = _key(answering)
        if items not in self._tables:
            self._tables[items] = table_of(self.suite.narrowed(items))
        if (key, items) not in self._known:
            (self._known[key, items],) = answerings(self._tables[items], self.rows[key])
        return self._known[key, items]


def _key(answering: Answering) -> tuple[str, ...]:
    return tuple(answering.key[name] for name in KEY)


def with_holm(family: Sequence[Measure]) -> list[Measure]:
    """The family's records, each that has a p followed by itself with p adjusted over the family."""
    tested = [record for record in family if record.p is not None]
    adjusted = dict(zip(map(id, tested), holm([r.p for r in tested if r.p is not None]), strict=True))
    result: list[Measure] = []
    for record in family:
        result.append(record)
        if id(record) in adjusted:
            null = f"{record.null} (Holm over {len(tested)} contrasts)"
            result.append(record.model_copy(update={"p": adjusted[id(record)], "null": null, "adjusted": "holm"}))
    return result


def _between(
    pairs: Iterable[AnsweringPair], field: str, measures: MeasureSet, settings: JudgeSettings
) -> Iterator[Measure]:
    for one, other in pairs:
        for mine, theirs in zip(measures.compared(one), measures.compared(other), strict=True):
            yield contrast(mine, theirs, {field: other.key[field]}, settings)


def _prompt_pairs(suite: Suite, found: Sequence[Answering]) -> Iterator[AnsweringPair]:
    rank = {prompt.name: position for position, prompt in enumerate(suite.prompts)}
    for group in _grouped(found, lambda a: tuple(v for k, v in a.key.items() if k != "prompt")):
        first, *others = sorted(group, key=lambda a: rank.get(a.key["prompt"], len(rank)))
        yield from ((other, first) for other in others)


def _model_pairs(found: Sequence[Answering]) -> Iterator[AnsweringPair]:
    for group in _grouped(found, lambda a: tuple(v for k, v in a.key.items() if k != "model")):
        yield from combinations(group, 2)


def _grouped(found: Sequence[Answering], key: Callable[[Answering], Hashable]) -> list[list[Answering]]:
    groups: dict[Hashable, list[Answering]] = {}
    for answering in found:
        groups.setdefault(key(answering), []).append(answering)
    return list(groups.values())
