"""The key: what the ids on blinded sheets stand for. It stays with whoever made the sheets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from veridical.errors import UserError
from veridical.files.decoding import DecodingError, decode
from veridical.files.json_text import JSONContentError, parse_json, place, schema_fault
from veridical.files.links import real_path
from veridical.files.syntax_faults import json_fault
from veridical.files.text_file import read_text
from veridical.files.writing import json_bytes, replace
from veridical.items import Frozen, Name
from veridical.review.questions import Question

SCHEMA = "veridical.review/1"
NAME = "key.json"


class RatedItem(Frozen):
    """An item that raters were shown: its place in the suite, what the suite expects of each question, its texts."""

    item: Name
    name: str = ""
    set: Name
    role: str = ""
    cluster: Name
    expected: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)
    texts: tuple[tuple[str, str], ...]


class ReviewKey(Frozen):
    """What was asked, of which items. `ids` maps a row's id to its rater (from 1) and its item's position."""

    suite: Name
    version: Name
    content_hash: Name
    seed: int
    raters: int = Field(ge=1, le=10_000)
    questions: tuple[Question, ...] = Field(min_length=1)
    items: tuple[RatedItem, ...] = Field(min_length=1)
    ids: Mapping[str, tuple[int, int]]

    @model_validator(mode="after")
    def _ids_lead_somewhere(self) -> Self:
        for row, (rater, position) in self.ids.items():
            if not (1 <= rater <= self.raters and 0 <= position < len(self.items)):
                raise ValueError(f"id {row!r} stands for rater {rater} and item {position}, which do not exist")
        return self


def write_key(path: Path, key: ReviewKey) -> None:
    """Write the key to a file, whole or not at all."""
    replace(path, json_bytes({"schema": SCHEMA, **key.model_dump(mode="json")}))


def read_key(path: Path) -> ReviewKey:
    """The key in a file. Raises UserError, naming file and field, where it is not one."""
    try:
        document = parse_json(read_text(path))
    except json.JSONDecodeError as error:
        raise UserError(f"{path}, line {error.lineno}: not JSON: {json_fault(error)}; is the file complete?") from error
    except JSONContentError as error:
        raise UserError(f"{path}, field {place(error.path)!r}: {error}") from error
    if fault := schema_fault(document, SCHEMA):
        raise UserError(
            f"{path}: not the key of review sheets: {fault}; name the {NAME} that 'veridical review sheet' wrote, with "
            "--key FILE"
        )
    del document["schema"]
    try:
        return decode(ReviewKey, document)
    except DecodingError as error:
        named = f", field {place(error.path)!r}" if error.path else ""
        raise UserError(f"{path}{named}: {error}; make the sheets again") from error


def find_key(sheets: list[Path]) -> Path:
    """The key in the folder of the sheets or in the one above. Raises UserError where there is none, or several."""
    folders = dict.fromkeys(folder for sheet in sheets for folder in (sheet.parent, real_path(sheet).parent.parent))
    keys = {real_path(folder / NAME): folder / NAME for folder in folders if (folder / NAME).is_file()}
    if not keys:
        raise UserError(
            f"no {NAME} next to {sheets[0]} or in the folder above: name the one that 'veridical review sheet' wrote, "
            "with --key FILE"
        )
    if len(keys) > 1:
        raise UserError(
            f"there are several keys for the sheets ({', '.join(map(str, keys.values()))}): name one with --key"
        )
    return next(iter(keys.values()))
