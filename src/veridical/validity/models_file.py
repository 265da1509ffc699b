"""A file of models with their families and sizes, which the user has put right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from veridical.errors import UserError
from veridical.files.csv_text import csv_text
from veridical.files.writing import make_folder
from veridical.files.writing import replace as write_file
from veridical.validity.cells import size_in_name
from veridical.validity.reading import Raw, read_raw
from veridical.validity.roles import found_column


def models_file(file: Path, models: Sequence[str], n_parameters: Mapping[str, float | None]) -> Raw:
    """The table of models in a file, with a row for each of these.

    Where the file is not there it is written, with families and sizes guessed from names as suggestions, and UserError
    says so: nothing is computed on a guess. `n_parameters` are sizes that are known. Raises UserError where the file
    lacks a model or names one twice.
    """
    if not file.is_file():
        _write(file, models, n_parameters)
        guessed = "; ".join(f"{model}: {family_in_name(model)}" for model in models[:4])
        more = "; …" if len(models) > 4 else ""
        raise UserError(
            f"{file} is written: families and sizes are suggestions from names ({guessed}{more}); "
            "put them right, add columns of outcomes if you like, and run again"
        )
    raw = read_raw(file)
    if "model" not in raw.frame.columns:
        raise UserError(f"{file}: no column 'model'")
    named = raw.texts("model")
    lacking = [model for model in models if model not in named]
    if lacking:
        more = f" and {len(lacking) - 4} more" if len(lacking) > 4 else ""
        raise UserError(f"{file}: no row for {', '.join(lacking[:4])}{more}; add one for every model")
    if twice := next((model for place, model in enumerate(named) if model in named[:place]), None):
        raise UserError(f"{file}: model {twice!r} has two rows; keep one")
    return replace(raw, frame=raw.frame.with_columns(pl.Series("model", named)))


def _write(file: Path, models: Sequence[str], n_parameters: Mapping[str, float | None]) -> None:
    sizes = [n_parameters.get(model) or size_in_name(model) for model in models]
    rows = [
        (model, family_in_name(model), None if size is None else round(size))
        for model, size in zip(models, sizes, strict=True)
    ]
    make_folder(file.parent)
    write_file(file, csv_text([("model", "family", "size"), *rows]).encode())


def with_models(raw: Raw, model: str, file: Path) -> Raw:
    """A table with the columns of a file of models joined to it, which replace those of the same names.

    Raises UserError as `models_file` does, and where no column of the table names models.
    """
    column = found_column("model", model, raw.frame.columns, raw.source)
    if not column:
        known = ", ".join(raw.frame.columns)
        raise UserError(f"{raw.source}: which column names the models? give --model COL; known: {known}")
    named = raw.texts(column)
    facts = models_file(file, list(dict.fromkeys(filter(None, named))), {}).frame
    places = {name: place for place, name in enumerate(facts["model"].to_list())}
    rows = [places.get(name) for name in named]
    added = [
        pl.Series(name, [None if row is None else values[row] for row in rows], facts[name].dtype)
        for name in facts.columns
        if name != "model"
        for values in [facts[name].to_list()]
    ]
    return replace(raw, frame=raw.frame.with_columns(added))


def family_in_name(model: str) -> str:
    """The family that a model's name seems to say: `meta-llama/Llama-2-7b-hf` → `Llama`. A guess."""
    name = model.rpartition("/")[2]
    letters = ""
    for letter in name:
        if not letter.isalpha():
            break
        letters += letter
    return letters or name
