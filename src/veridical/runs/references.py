"""Whether the tables of a run belong together: questions with their items, answers with their questions."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from veridical.errors import UserError
from veridical.runs.imported import SCORES_NAME
from veridical.runs.manifest import Manifest
from veridical.runs.parts import again, checked, names, read_table, read_tables
from veridical.runs.store import ITEMS_NAME

_KEY = pl.Schema({"key": pl.String()})
_ITEM = pl.Schema({"suite": pl.String(), "kind": pl.String(), "id": pl.String()})


def check_references(run: Path, manifest: Manifest, asks: pl.DataFrame) -> None:
    """Raise UserError where a table of a run refers to rows that are not there, or holds a row twice.

    `asks` are the questions, with the columns `key`, `suite` and `item`. Checksums find what changed in a file; this
    finds a file that was lost before the run was sealed, or that is of another run.
    """
    if manifest.imported is not None:
        checked(run, SCORES_NAME)  # what it was judged by, or what it is compared with
    items = read_table(run, ITEMS_NAME, _ITEM)
    if twice := items.height - items.unique().height:
        raise UserError(f"{run / ITEMS_NAME} holds {twice:,} items twice; {again(run, manifest)}")
    named = items.filter(kind="item").select("suite", item="id")
    if (n := asks.select("suite", "item").unique().join(named, on=["suite", "item"], how="anti").height) > 0:
        raise UserError(f"{run / ITEMS_NAME} lacks {n:,} items that questions were asked of; {again(run, manifest)}")
    answered = read_tables(run, "responses", _KEY).unique()
    asked = asks.select("key").unique()
    if answered.join(asked, on="key", how="anti").height:
        # Of a question that was asked again under another key, `asks` has the last alone.
        asked = read_tables(run, "requests", _KEY).unique()
    if (n := answered.join(asked, on="key", how="anti").height) > 0:
        raise UserError(
            f"{run}: {n:,} answers are to questions that are not stored: a file in {run / 'requests'} is gone, or "
            f"answers of another run are among its own{_strangers(run, manifest)}; {again(run, manifest)}"
        )
    if manifest.imported is not None and (n := asked.join(answered, on="key", how="anti").height) > 0:
        raise UserError(
            f"{run}: {n:,} of {asked.height:,} imported answers are gone: a file in {run / 'responses'} is missing; "
            f"{again(run, manifest)}"
        )


def _strangers(run: Path, manifest: Manifest) -> str:
    """The files of answers that the manifest does not list, as advice."""
    known = manifest.listed()
    unlisted = [name for name in names(run, "responses", manifest=manifest) if name not in known]
    return f" (not listed: {', '.join(unlisted[:2])}: move it away)" if manifest.parts is not None and unlisted else ""
