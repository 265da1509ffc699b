"""A recipe's step `validity`: what the analysis needs to know of columns and models, as far as the recipe gives it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from veridical.files.csv_text import csv_text
from veridical.files.writing import make_folder, replace
from veridical.studies.recipe import Model, ValidityStep
from veridical.studies.study import open_study


def prepare_validity(study: Path, step: ValidityStep, models: Sequence[Model]) -> str:
    """Write `validity/roles.yaml` and `validity/models.csv` in a study's folder; gives the line that names the command.

    A table of models that exists is left as it is: the user may have corrected it. It holds those `models` that have
    a family and a size and were asked here.
    """
    import yaml

    folder = study / "validity"
    make_folder(folder)
    asked = {suite.name for suite in open_study(study).judgement.suites}
    roles = {
        "benchmarks": _among(asked, step.benchmarks),
        "outcomes": _among(asked, step.outcomes),
        "controls": [column for column in step.controls if _suite_of(column) in asked],
        "variants": {a: b for a, b in _among(asked, step.variants).items() if _suite_of(b) in asked},
    }
    replace(folder / "roles.yaml", yaml.safe_dump(roles, sort_keys=False, allow_unicode=True).encode())
    described = [model for model in models if model.family and model.billions and not model.api]
    if described and not (folder / "models.csv").exists():
        replace(folder / "models.csv", _models_csv(described))
    command = ["veridical", "validity", str(study), "--roles", str(folder / "roles.yaml")]
    return f"next, once families and sizes are right: {shlex.join(command)}"


def _suite_of(column: str) -> str:
    return column.partition("/")[0]


def _among(asked: set[str], columns: Mapping[str, str]) -> dict[str, str]:
    return {column: text for column, text in columns.items() if _suite_of(column) in asked}


def _models_csv(models: Sequence[Model]) -> bytes:
    rows = [(model.name, model.family, round((model.billions or 0) * 1e9)) for model in models]
    return csv_text([("model", "family", "size"), *rows]).encode()
