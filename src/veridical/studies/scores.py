"""A folder of runs as a table of scores: models x measures, with a table of models that the user can edit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from veridical.errors import UserError
from veridical.items import Factor, Suite
from veridical.judge.measure import Measure
from veridical.stats.units import Floats
from veridical.studies.judged import Judgement
from veridical.validity.models_file import models_file
from veridical.validity.reading import Raw
from veridical.validity.results import Note
from veridical.validity.roles import Roles
from veridical.validity.table import LEAST_MODELS

MODELS = Path("validity") / "models.csv"
MEASURE_BY_ITEM = {
    "pair_recovery": "accuracy",
    "set_accuracy": "accuracy",
    "pair_consistency": "accuracy",
    "worst_of_set": "accuracy",
    "aspectual_awareness_gap": "accuracy",
    "seed_variant_accuracy": "variant_accuracy",
}
"""Measures of sets, and the measure of the same answers by item with which it is compared."""
SLICED: Mapping[str, Mapping[str, tuple[Factor, ...]]] = {
    "pair_consistency": {"pair": ()},
    "seed_variant_accuracy": {"ct": (0.5, 1.0)},
}
"""Measures that are given by slice alone, with the slices that are columns (all, where none is named). Of SV's
thresholds, half and all of the variants are the ones at which models are compared."""
NO_BENCHMARKS = ("label_mass", "order_sensitivity", "set_accuracy_reference", "pair_recovery_reference")
"""Measures of the manner of answers, and references for other measures: not benchmarks, unless named."""
_DRAWS = 99
"""For intervals of the measures, which are not looked at here."""

ScoreKey = tuple[str, str, str, str]


@dataclass(frozen=True, eq=False)
class StudyScores:
    """Scores of a study: `measures` are the columns of `raw` that were measured.

    `answers` are shares right of the sets behind an accuracy, (models, sets), by column; `notes` say where models
    answered different items.
    """

    raw: Raw
    measures: tuple[str, ...]
    answers: Mapping[str, Floats]
    notes: tuple[Note, ...] = ()

    def roles(self, given: Roles) -> Roles:
        """The roles given. Where no benchmark is named, every measure of how well models answer is one; where
        no variant is named, each measure of sets is a variant of the one by item of the same answers."""
        used = {*given.outcomes, *given.controls}
        free = [name for name in self.measures if name not in used]
        benchmarks = given.benchmarks or tuple(n for n in free if n.rpartition("/")[2] not in NO_BENCHMARKS)
        by_items = {}
        for name in free:
            suite, _, measure = name.rpartition("/")
            by_item = f"{suite}/{MEASURE_BY_ITEM.get(measure.partition('[')[0], '')}"
            if by_item in free:
                by_items[name] = by_item
        return replace(given, benchmarks=benchmarks, variants=given.variants or by_items)


def read_study(path: Path) -> StudyScores:
    """The measures of the runs in a folder, joined to `validity/models.csv` in it.

    Where that table is not there it is written, with families and sizes guessed from names as suggestions, and
    UserError says so: nothing is computed on a guess. Further columns of that table are scores like any other.
    """
    from veridical.runs.load import open_runs

    judgement = Judgement(tuple(open_runs([path])), draws=_DRAWS)
    models = list(dict.fromkeys(run.name for run in judgement.runs))
    if len(models) < LEAST_MODELS:
        raise UserError(f"{path}: runs of {len(models)} models; at least {LEAST_MODELS} are needed to say anything")
    counted = {run.name: run.manifest.model.n_parameters for run in judgement.runs}
    described = models_file(path / MODELS, models, counted)
    measures = [measure for measure in judgement.records if _is_score(measure)]
    names = _column_names(measures)
    scores: dict[str, dict[str, str]] = {}
    items: dict[str, dict[str, int]] = {}
    for measure in measures:
        name = names[_key(measure)]
        scores.setdefault(name, {})[measure.model] = repr(measure.value)
        items.setdefault(name, {})[measure.model] = measure.n_items
    columns = {name: [of_model.get(model, "") for model in models] for name, of_model in scores.items()}
    table = pl.DataFrame({"model": models, **columns}, schema=dict.fromkeys(("model", *columns), pl.String()))
    shared = set(table.columns) & set(described.frame.columns) - {"model"}
    if shared:
        raise UserError(f"{described.source}: column {min(shared)!r} has the name of a measure; rename it")
    joined = table.join(described.frame, on="model", how="left", maintain_order="left")
    answers = {
        name: found
        for key, name in names.items()
        if key[-1] == "accuracy" and (found := _answers(judgement, key, models)) is not None
    }
    return StudyScores(Raw(str(path), joined), tuple(scores), answers, tuple(_uneven(items)))


def _is_score(measure: Measure) -> bool:
    """A model's own measure of all items of whole questions, or one of the slices that are columns."""
    whole = measure.against is None and measure.input == "full" and measure.answerer == "model"
    wanted = SLICED.get(measure.measure, {})
    sliced = set(measure.slice) == set(wanted) and all(
        not wanted[key] or value in wanted[key] for key, value in measure.slice.items()
    )
    return whole and sliced and measure.value is not None and bool(measure.model)


def _key(measure: Measure) -> ScoreKey:
    """Suite, prompt, mode and measure, a slice in brackets: `seed_variant_accuracy[ct=0.5]`."""
    where = ",".join(f"{key}={value}" for key, value in measure.slice.items())
    return measure.suite, measure.prompt, measure.mode, f"{measure.measure}[{where}]" if where else measure.measure


def _uneven(items: Mapping[str, Mapping[str, int]]) -> Iterator[Note]:
    """Columns whose scores rest on different numbers of items: they are not of one test."""
    for name, of_model in items.items():
        least, most = (choose(of_model, key=of_model.__getitem__) for choose in (min, max))
        if of_model[least] < of_model[most]:
            message = (
                f"{name}: {least} was asked {of_model[least]} items and {most} {of_model[most]}: not one test for all"
            )
            yield Note(kind="items", where=(name,), message=message)


def _column_names(measures: list[Measure]) -> dict[ScoreKey, str]:
    """`suite/measure`, with the prompt and the mode between where there are several of them."""
    keys = list(dict.fromkeys(_key(measure) for measure in measures))
    prompts: dict[str, set[str]] = {}
    modes: dict[str, set[str]] = {}
    for suite, prompt, mode, _ in keys:
        prompts.setdefault(suite, set()).add(prompt)
        modes.setdefault(suite, set()).add(mode)
    names = {}
    for suite, prompt, mode, measure in keys:
        between = (*((prompt,) if len(prompts[suite]) > 1 else ()), *((mode,) if len(modes[suite]) > 1 else ()))
        names[suite, prompt, mode, measure] = "/".join((suite, *between, measure))
    return names


def _answers(judgement: Judgement, key: ScoreKey, models: list[str]) -> Floats | None:
    """Shares right of each set, (models, sets); None unless every model answered the same items."""
    name, prompt, mode, _ = key
    suite = next(suite for suite in judgement.suites if suite.name == name)
    frame = judgement.responses.filter(
        suite=name, prompt=prompt, mode=mode, answerer="model", input="full", order=0, repeat=0
    )
    of_item = _sets(suite)
    sets = list(dict.fromkeys(of_item.values()))
    right, counts = np.zeros((len(models), len(sets))), np.zeros((len(models), len(sets)))
    places = {one: place for place, one in enumerate(sets)}
    for model, item, label in frame.select("model", "item", "label").iter_rows():
        if model in models and item in of_item:
            at = models.index(model), places[of_item[item]]
            counts[at] += 1
            right[at] += label in suite.by_id[item].gold
    if len(sets) < 2 or (counts == 0).any() or (counts != counts[0]).any():
        return None
    return right / counts


def _sets(suite: Suite) -> dict[str, str]:
    return {member.item: member.set for member in suite.grouping().members}
