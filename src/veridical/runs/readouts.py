"""Readouts on disk: their answers and their record in the run, the draws of their nulls in the study."""

from __future__ import annotations

import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt
import polars as pl
from pydantic import ValidationError

from veridical.digests import digest
from veridical.errors import UserError
from veridical.files import checksum
from veridical.files.decoding import first_fault
from veridical.files.json_text import place
from veridical.files.writing import json_bytes, make_folder, replace, slug
from veridical.judge.frame import LENGTHS, SCHEMA
from veridical.readouts.record import ReadoutRecord, Representation, StoredReadout
from veridical.runs.editing import editing
from veridical.runs.parts import checked, names, read_table

FOLDER = "readouts"
COSINES = pl.Schema({"item": pl.String(), "layer": pl.Int64(), "cosine": pl.Float64()})
_STORED = pl.Schema({name: kind for name, kind in SCHEMA.items() if name not in LENGTHS})
_AGAIN = "move it away and run 'veridical readout' again"

Draws = Mapping[str, npt.NDArray[np.float64]]
"""`answerer/input/measure` to the values of a null's draws."""


def _stem(suite: str, prompt: str) -> str:
    """A file's name without its ending; the digest distinguishes names that look alike as part of it."""
    return f"{slug(suite)}.{slug(prompt)}.{digest([suite, prompt], 8)}"


def write_readout(run: Path, stored: StoredReadout, draws: Draws) -> None:
    """Write answers, record and draws, over those of an earlier readout of the suite and prompt."""
    nulls = run.parent / "nulls"
    make_folder(nulls)
    stem = _stem(stored.record.suite, stored.record.prompt)
    buffer = io.BytesIO()
    arrays: dict[str, Any] = dict(draws)
    np.savez_compressed(buffer, **arrays)
    record = stored.record.model_copy(update={"draws_sha256": checksum.of_bytes(buffer.getvalue())})
    with editing(run) as edit:
        # An earlier record goes first and the new one comes last: a readout counts as there once its record is.
        edit.remove(f"{FOLDER}/{stem}.json")
        replace(nulls / f"{run.name}.{stem}.npz", buffer.getvalue(), follow=False)
        edit.put_table(f"{FOLDER}/{stem}.parquet", stored.answers)
        edit.put(f"{FOLDER}/{stem}.json", json_bytes(record.model_dump(mode="json")))


def read_readouts(run: Path, name: str) -> tuple[StoredReadout, ...]:
    """The readouts of a run, whose model goes by `name`. Raises UserError for a file that cannot be read."""
    found = []
    for name_of in names(run, FOLDER, ".json"):
        path = checked(run, name_of)
        if path is None:
            continue
        try:
            record = ReadoutRecord.model_validate_json(path.read_bytes())
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}; {_AGAIN}") from error
        except ValidationError as error:
            fault = first_fault(ReadoutRecord, error)
            named = f", field {place(fault.path)!r}" if fault.path else ""
            raise UserError(f"{path}{named}: {fault}; {_AGAIN}") from error
        answers = read_table(run, name_of.removesuffix(".json") + ".parquet", _STORED)
        whole = pl.concat([pl.DataFrame(schema=SCHEMA), answers.with_columns(model=pl.lit(name))], how="diagonal")
        found.append(StoredReadout(record, whole))
    return tuple(found)


def read_draws(run: Path, record: ReadoutRecord) -> dict[str, npt.NDArray[np.float64]]:
    """The draws of a record's nulls; empty where the study does not keep them."""
    path = run.parent / "nulls" / f"{run.name}.{_stem(record.suite, record.prompt)}.npz"
    if not path.is_file():
        return {}
    try:
        if record.draws_sha256 and checksum.of_file(path) != record.draws_sha256:
            raise UserError(f"{path} is damaged, or of another readout: {_AGAIN}")
        with np.load(path, allow_pickle=False) as file:
            return {name: np.asarray(file[name], dtype=np.float64) for name in file.files}
    except (OSError, ValueError, EOFError, BadZipFile, zlib.error, NotImplementedError, RuntimeError) as error:
        raise UserError(f"cannot read {path}: {error or type(error).__name__}; {_AGAIN}") from error


def add_representation(run: Path, suite: str, prompt: str, found: Sequence[Representation]) -> None:
    """Put the comparison of phrases into the record of a stored readout."""
    name = f"{FOLDER}/{_stem(suite, prompt)}.json"
    with editing(run) as edit:
        path = checked(run, name)
        if path is None:
            raise UserError(f"{run / name} is missing; run 'veridical readout' again")
        record = ReadoutRecord.model_validate_json(path.read_bytes())
        record = record.model_copy(update={"representation": tuple(found)})
        edit.put(name, json_bytes(record.model_dump(mode="json")))


def phrases_part(suite: str) -> str:
    """The part of a run that keeps the cosines of a suite's phrases: one row an item and layer."""
    return f"{FOLDER}/{slug(suite)}.{digest(suite, 8)}.phrases.parquet"


def write_cosines(run: Path, suite: str, items: Sequence[str], values: npt.NDArray[np.float64]) -> None:
    """Keep `values` [items, layers] of a suite's phrases."""
    layers = range(values.shape[1])
    rows = [
        (item, layer, float(value))
        for item, row in zip(items, values, strict=True)
        for layer, value in zip(layers, row, strict=True)
    ]
    with editing(run) as edit:
        edit.put_table(phrases_part(suite), pl.DataFrame(rows, schema=COSINES, orient="row"))


def read_cosines(run: Path, suite: str, items: Sequence[str]) -> npt.NDArray[np.float64] | None:
    """The cosines of these items, [items, layers]; None where one is not stored."""
    if checked(run, phrases_part(suite)) is None:
        return None
    wide = read_table(run, phrases_part(suite), COSINES).pivot("layer", index="item", values="cosine")
    place = {item: row for row, item in enumerate(wide["item"])}
    if not set(items) <= set(place):
        return None
    return wide.drop("item").to_numpy()[[place[item] for item in items]].astype(np.float64)
