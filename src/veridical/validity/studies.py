"""A folder of runs as a table of scores: models x measures, with a table of models that the user can edit."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import polars as pl

from veridical.errors import UserError
from veridical.items import Suite
from veridical.judge.measure import Measure
from veridical.runs.files import make_folder
from veridical.runs.files import replace as write_file
from veridical.runs.judgement import Judgement
from veridical.stats.units import Floats
from veridical.validity.reading import Raw, read_raw, size_in_name
from veridical.validity.roles import Roles
from veridical.validity.table import family_in_name

MODELS = Path("validity") / "models.csv"
OF_SETS = ("pair_recovery", "set_accuracy", "pair_consistency", "worst_of_set", "aspectual_awareness_gap")
"""Measures of sets, which stand beside the accuracy of the same answers."""


@dataclass(frozen=True, eq=False)
class StudyScores:
    """Scores of a study. `answers` are shares right of the sets behind an accuracy, (models, sets), by column."""

    raw: Raw
    answers: Mapping[str, Floats]

    def roles(self, given: Roles) -> Roles:
        """The roles given, with each measure of sets beside the accuracy of the same answers."""
        names = self.raw.frame.columns
        beside = {
            name: accuracy
            for name in names
            if name.rpartition("/")[2] in OF_SETS and (accuracy := f"{name.rpartition('/')[0]}/accuracy") in names
        }
        return replace(given, variants=beside)


def read_study(path: Path) -> StudyScores:
    """The measures of the runs in a folder, joined to `validity/models.csv` in it.

    Where that table is not there it is written, with families and sizes guessed from names as suggestions, and
    UserError says so: nothing is computed on a guess. Further columns of that table are scores like any other.
    """
    from veridical.runs.load import open_runs

    judgement = Judgement(tuple(open_runs([path])))
    measures = [m for m in judgement.records if _is_score(m)]
    names = _column_names(measures)
    models = list(dict.fromkeys(m.model for m in measures))
    scores: dict[str, dict[str, str]] = {}
    for measure in measures:
        scores.setdefault(names[_key(measure)], {})[measure.model] = repr(measure.value)
    described = _described(path, models, judgement)
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
    return StudyScores(Raw(str(path), joined), answers)


def _is_score(measure: Measure) -> bool:
    """A model's own measure of all items of whole questions."""
    whole = not measure.slice and measure.against is None and measure.input == "full"
    return whole and measure.answerer == "model" and measure.value is not None and bool(measure.model)


def _key(measure: Measure) -> tuple[str, str, str, str]:
    return measure.suite, measure.prompt, measure.mode, measure.measure


def _column_names(measures: list[Measure]) -> dict[tuple[str, str, str, str], str]:
    """`suite/measure`, with the prompt and the mode between where there are several of them."""
    keys = list(dict.fromkeys(_key(measure) for measure in measures))
    prompts: dict[str, set[str]] = {}
    modes: dict[str, set[str]] = {}
    for suite, prompt, mode, _ in keys:
        prompts.setdefault(suite, set()).add(prompt)
        modes.setdefault(suite, set()).add(mode)
    return {
        (suite, prompt, mode, measure): "/".join(
            (
                suite,
                *((prompt,) if len(prompts[suite]) > 1 else ()),
                *((mode,) if len(modes[suite]) > 1 else ()),
                measure,
            )
        )
        for suite, prompt, mode, measure in keys
    }


def _described(path: Path, models: list[str], judgement: Judgement) -> Raw:
    """The table of models in the study. Raises UserError where it had to be written, or lacks a model."""
    file = path / MODELS
    if not file.is_file():
        counted = {run.name: run.manifest.model.n_parameters for run in judgement.runs}
        buffer = io.StringIO()
        rows = csv.writer(buffer, lineterminator="\n")
        rows.writerow(("model", "family", "size"))
        for model in models:
            size = counted.get(model) or size_in_name(model)
            rows.writerow((model, family_in_name(model), "" if size is None else f"{size:.0f}"))
        make_folder(file.parent)
        write_file(file, buffer.getvalue().encode())
        guessed = "; ".join(f"{model}: {family_in_name(model)}" for model in models[:4])
        more = "; …" if len(models) > 4 else ""
        raise UserError(
            f"{file} is written: families and sizes are suggestions from names ({guessed}{more}); "
            "put them right, add columns of outcomes if you like, and run again"
        )
    raw = read_raw(file)
    if "model" not in raw.frame.columns:
        raise UserError(f"{file}: no column 'model'")
    lacking = [model for model in models if model not in set(raw.frame["model"].to_list())]
    if lacking:
        raise UserError(f"{file}: no row for {', '.join(lacking[:4])}; add one for every model")
    if raw.frame["model"].n_unique() < raw.frame.height:
        raise UserError(f"{file}: a model stands in two rows; keep one")
    return raw


def _answers(judgement: Judgement, key: tuple[str, str, str, str], models: list[str]) -> Floats | None:
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
