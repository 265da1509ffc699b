"""Runs judged together: the measures of each and the contrasts between them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, reduce
from itertools import chain
from pathlib import Path
from typing import Protocol

import polars as pl

from veridical.errors import UserError, unknown
from veridical.items import Grouping, Item, Member, Suite
from veridical.judge import contrasts, judge, judge_baselines
from veridical.judge.answering import by_key, only
from veridical.judge.chance import chance_levels
from veridical.judge.estimate import JudgeSettings
from veridical.judge.frame import KEY, SCHEMA
from veridical.judge.measure import Measure
from veridical.judge.registry import measure_set
from veridical.judge.verdict import verdicts
from veridical.runs.load import Run, place
from veridical.runs.stored import StoredSuite
from veridical.status import Status
from veridical.studies.common_items import common_items
from veridical.studies.common_names import CommonNames, common_names
from veridical.studies.paired_sets import SetPairs, set_pairs
from veridical.studies.remarks import remarks
from veridical.unicode_text import composed


class Measuring(Protocol):
    """`judge` and `contrasts`."""

    def __call__(self, suite: Suite, frame: pl.DataFrame, /, *, level: float, draws: int, seed: int) -> list[Measure]:
        """The measures of a suite's answers, with intervals of this level from so many bootstrap draws."""


LEVEL = 0.95
DRAWS = 10_000

_ASKED = ("order", "repeat", "item")


def merged(suites: Iterable[Suite]) -> Suite:
    """One suite over the items of several narrowings of it."""
    # The largest first: where it holds all items, their order is that of one run alone.
    first, *rest = sorted(suites, key=lambda suite: -len(suite.items))
    if set(chain.from_iterable(suite.columns.ids for suite in rest)) <= set(first.columns.ids) and all(
        suite.groupings == first.groupings == () for suite in rest
    ):
        return first
    items = {item.id: item for suite in (first, *rest) for item in suite.items}
    groupings = tuple(
        Grouping(
            name=grouping.name,
            members=tuple(dict.fromkeys(m for suite in (first, *rest) for m in suite.grouping(grouping.name).members)),
        )
        for grouping in first.groupings
    )
    parts = {name: getattr(first, name) for name in Suite.model_fields}
    return Suite(**{**parts, "items": tuple(items.values()), "groupings": groupings})


def regrouped(suite: Suite, field: str) -> Suite:
    """The suite with the sets that `field` makes as its first grouping.

    `field` is the name of another grouping, of an item field or of a factor: items with one value are one
    set, and keep the role that they had. Raises UserError where no item has it.
    """
    if isinstance(suite, StoredSuite):
        return suite.by_field(field)
    roles = {member.item: member.role for member in suite.grouping().members}
    named = {grouping.name: grouping for grouping in suite.groupings}
    if field in named:
        grouping = named.pop(field)
    else:
        values = {item.id: _value(item, field) for item in suite.items}
        members = tuple(
            Member(set=value, item=item, role=roles.get(item, "")) for item, value in values.items() if value
        )
        if not members:
            raise unknown(f"field of suite {suite.name} to make sets of:", field, fields_of(suite))
        grouping = Grouping(name=field, members=members)
    parts = {name: getattr(suite, name) for name in Suite.model_fields}
    return Suite(**{**parts, "groupings": (grouping, *named.values())})


def fields_of(suite: Suite) -> set[str]:
    """What item sets of a suite can be made of: its groupings, and the fields and factors of its items."""
    named = {grouping.name for grouping in suite.groupings}
    if isinstance(suite, StoredSuite):
        return named | suite.items.names()
    return named | {name for item in suite.items for name in (*item.fields, *item.factors)}


def _value(item: Item, field: str) -> str:
    return composed(str(item.factors.get(field, item.fields.get(field, ""))))


@dataclass(frozen=True)
class Judgement:
    """Runs and what is measured of them. Nothing is computed before it is asked for."""

    runs: tuple[Run, ...]
    sets: str | None = None
    level: float = LEVEL
    draws: int = DRAWS

    @property
    def seed(self) -> int:
        """The seed of every draw: the first run's."""
        return self.runs[0].manifest.settings.seed

    @property
    def _bases(self) -> dict[str, str]:
        """By a model's name, what it was fine-tuned from."""
        return {run.name: run.manifest.model.base for run in self.runs if run.manifest.model.base}

    @cached_property
    def suites(self) -> tuple[Suite, ...]:
        """Every suite that a run asked, over the items that any of them asked."""
        narrowed: dict[str, list[Suite]] = {}
        for run in self.runs:
            for name, suite in run.suites.items():
                narrowed.setdefault(self._names.of(run, name), []).append(suite)
        return tuple(self._with_sets([merged(suites).named(name) for name, suites in narrowed.items()]))

    @cached_property
    def _names(self) -> CommonNames:
        return common_names(self.runs)

    @cached_property
    def responses(self) -> pl.DataFrame:
        """The responses of all runs, in the columns of `veridical.judge.frame.SCHEMA`.

        A question that one model answered in several folders counts once, by the first folder with an answer.
        """
        frame = pl.concat([pl.DataFrame(schema=SCHEMA), *map(self._answers, self.runs)])
        if len({run.name for run in self.runs}) == len(self.runs):
            return frame
        unanswered = pl.col("status") == Status.ERROR.value
        once = frame.with_row_index("n").sort(unanswered, "n").unique([*KEY, *_ASKED], keep="first").drop("n")
        suites = {suite.name: suite for suite in self.suites}
        names = [run.name for run in self.runs]
        rows = sorted(once.iter_rows(named=True), key=lambda row: (names.index(row["model"]), place(suites, row)))
        return pl.DataFrame(rows, schema=SCHEMA)

    def _answers(self, run: Run) -> pl.DataFrame:
        """A run's answers, its suites under the names under which they are judged."""
        names = self._names.names.get(run.path)
        return run.answers.with_columns(pl.col("suite").replace(names)) if names else run.answers

    @cached_property
    def by_run(self) -> dict[Path, tuple[Measure, ...]]:
        """The measures of each run by itself, contrasts between its prompts among them."""
        found: dict[Path, tuple[Measure, ...]] = {}
        for run in self.runs:
            suites = self.suites if len(self.runs) == 1 else self._with_sets(list(run.suites.values()))
            found[run.path] = tuple(self._judge(suites, run.answers, (run,)))
        return found

    @cached_property
    def records(self) -> tuple[Measure, ...]:
        """Everything measured: of each run, of their baselines, and between runs."""
        if len(self.runs) == 1:
            return self.by_run[self.runs[0].path]
        return tuple(self._judge(self.suites, self.responses, self.runs))

    @property
    def notices(self) -> tuple[str, ...]:
        """What must be read before the numbers of imported runs: where they differ from what a harness reported."""
        several = len(self.runs) > 1
        return tuple(
            f"{run.name}: {notice}" if several else notice
            for run in self.runs
            if run.manifest.imported is not None
            for notice in run.manifest.imported.notices
        )

    @cached_property
    def verdicts(self) -> tuple[str, ...]:
        """In plain words, what the numbers mean: a sentence for each way in which a model was asked."""
        sentences = verdicts(self.records, {suite.name: measure_set(suite.measures).rules for suite in self.suites})
        if any(run.readouts for run in self.runs):
            from veridical.readouts.verdict import readout_verdicts

            sentences += readout_verdicts(self.suites, self.records, self._set_against)
        return (*sentences, *self._remarks(), *remarks(self.runs))

    @property
    def _set_against(self) -> dict[tuple[str, str, str], str]:
        """The mode whose answers each readout is set against, by suite, model and prompt."""
        return {
            (readout.record.suite, run.name, readout.record.prompt): readout.record.against
            for run in self.runs
            for readout in run.readouts
        }

    def _remarks(self) -> Iterator[str]:
        """What the numbers leave out: suites and items without the field, and runs that have nothing in common."""
        pairs = self._set_pairs(self.suites, self.responses)
        yield from pairs.remarks()
        yield from self._names.remarks
        for suite in self.suites:
            n = len(suite.columns.ids)
            lacking = n - len(set(suite.places.items)) if self.sets else 0
            if lacking:
                yield (
                    f"{suite.name}: {lacking:,} of {n:,} items have no {self.sets}: they are in no set, and "
                    "each stands for itself where items are counted."
                )
            if len(self.runs) > 1 and suite.name not in pairs.suites:
                yield from common_items(suite.name, only(self.responses, pl.col("suite") == suite.name))
        held = {suite.name for suite in self.suites}
        for name in dict.fromkeys(self._names.of(run, name) for run in self.runs for name in run.suites):
            if name not in held:
                yield f"{name}: no item has a field {self.sets}: it is left out."

    def _with_sets(self, suites: Sequence[Suite]) -> list[Suite]:
        """The suites with the sets asked for; those that have nothing to make them of are left out, unless all are."""
        if self.sets is None:
            return list(suites)
        found: list[Suite] = []
        refused: list[UserError] = []
        for suite in suites:
            try:
                found.append(regrouped(suite, self.sets))
            except UserError as error:
                refused.append(error)
        if not found and refused:
            names = {name for suite in suites for name in fields_of(suite)}
            where = f"suite {suites[0].name}" if len(suites) == 1 else f"{len(suites)} suites"
            raise unknown(f"field of {where} to make sets of:", self.sets, names)
        return found

    def _judge(self, suites: Sequence[Suite], responses: pl.DataFrame, runs: Sequence[Run]) -> Iterator[Measure]:
        records = [(run.name, readout.record) for run in runs for readout in run.readouts]
        for measure in self._of_answers(suites, responses, read_out=bool(records)):
            own = (record for name, record in records if name == measure.model)
            yield reduce(lambda measure, record: record.tested(measure), own, measure)
        for name, record in records:
            yield from record.own_measures(name)
        yield from self._set_pairs(suites, responses).measures(JudgeSettings(self.level, self.draws, self.seed))

    def _set_pairs(self, suites: Sequence[Suite], responses: pl.DataFrame) -> SetPairs:
        """What is compared by the sets that were asked for, since it has no items in common."""
        # A suite with measures of its own says itself what is compared.
        own = [suite for suite in suites if self.sets and not measure_set(suite.measures).presentation]
        return set_pairs(own, responses, self.sets or "", {run.name: run.manifest.model.name for run in self.runs})

    def _of_answers(self, suites: Sequence[Suite], responses: pl.DataFrame, *, read_out: bool) -> Iterator[Measure]:
        for suite in suites:
            frame = only(responses, pl.col("suite") == suite.name)
            coverage = _coverage(frame)
            for items, part in coverage.items():
                yield from self._measures(partial(judge, bases=self._bases), suite.narrowed(items), part)
            if not measure_set(suite.measures).graded:
                yield from judge_baselines(suite, level=self.level, draws=self.draws, seed=self.seed)
            yield from chance_levels(suite)
            # What was asked of some only (a run extended with another --limit) has nothing to be compared with.
            if coverage:
                asked = suite.narrowed(frozenset().union(*coverage))
                yield from self._measures(partial(contrasts, over_common_items=len(coverage) > 1), asked, frame)
            if read_out:
                yield from self._read_out(suite, frame)

    def _read_out(self, suite: Suite, frame: pl.DataFrame) -> Iterator[Measure]:
        """Readouts set against what else answered, over the items that all answers of a model's prompt are to."""
        from veridical.readouts.measured import readout_measures

        settings = JudgeSettings(self.level, self.draws, self.seed)
        against = {key[1:]: mode for key, mode in self._set_against.items() if key[0] == suite.name}
        for part in frame.partition_by("model", "prompt", maintain_order=True):
            if shared := frozenset.intersection(*_coverage(part)):
                own = only(part, pl.col("item").is_in(shared))
                yield from readout_measures(suite.narrowed(shared), own, settings, against)

    def _measures(self, measure: Measuring, suite: Suite, frame: pl.DataFrame) -> list[Measure]:
        return measure(suite, frame, level=self.level, draws=self.draws, seed=self.seed)


def _coverage(frame: pl.DataFrame) -> dict[frozenset[str], pl.DataFrame]:
    """The answerings of a frame by the items that they were asked, as they differ where a run was extended."""
    parts: dict[frozenset[str], list[pl.DataFrame]] = {}
    for part in by_key(frame):
        parts.setdefault(frozenset(part["item"]), []).append(part)
    return {items: found[0] if len(found) == 1 else pl.concat(found) for items, found in parts.items()}
