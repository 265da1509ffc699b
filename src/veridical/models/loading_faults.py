"""Why the files of a local model cannot be loaded: which file and field, and what to do, not the library's words."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from veridical.errors import excerpt
from veridical.files.json_text import JsonPath, place

CONFIG = "config.json"
_AGAIN = "copy it again from where the model comes from"
_FIELD = re.compile(r"Validation error for field '([^']{1,80})'")


def why_not_loaded(folder: Path, error: Exception) -> str:
    """What is at fault in a model's folder that a library could not load because of `error`."""
    if (damaged := _damaged_weights(folder)) is not None:
        return f"its weights in {damaged} are cut off or damaged: {_AGAIN}"
    text = " ".join(str(error).split())
    config = _config(folder)
    if config is None:
        return f"its {CONFIG} is not a JSON object: {_AGAIN}"
    if named := _FIELD.search(text):
        given = config.get(named[1])
        shown = "" if given is None else f" {excerpt(json.dumps(given), 60)}"
        return f"the value{shown} cannot stand in field {named[1]!r} of its {CONFIG}: {_AGAIN}, or correct the field"
    if isinstance(error, KeyError) and error.args and (path := next(_paths(config, error.args[0]), None)) is not None:
        value = excerpt(str(error.args[0]), 60)
        return (
            f"transformers knows no {value!r}, which its {CONFIG} has in field {place(path)!r}: correct the field, or "
            "install the version of transformers that the model was made with"
        )
    if "tokenizer" in text.lower() and not any(folder.glob("tokenizer*")):
        return (
            "it has no tokenizer (tokenizer.json, or tokenizer.model): copy the tokenizer's files into the folder from "
            "where the model comes from"
        )
    if "backend tokenizer" in text:
        return (
            "its tokenizer cannot be made from the files that are there: copy tokenizer.json and tokenizer_config.json "
            "again from where the model comes from"
        )
    return (
        f"its files are damaged, incomplete, or of a kind that the installed transformers does not load: {_AGAIN}, or "
        "install the version of transformers that the model was made with"
    )


def _damaged_weights(folder: Path) -> str | None:
    """The first file of weights that is not whole."""
    from safetensors import SafetensorError, safe_open

    for file in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(file, framework="numpy"):
                pass
        except (SafetensorError, OSError, ValueError):
            return file.name
    return None


def _config(folder: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((folder / CONFIG).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _paths(value: Any, wanted: object, path: JsonPath = ()) -> Iterator[JsonPath]:
    """Where in a document a text stands."""
    if isinstance(value, str) and value == wanted:
        yield path
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _paths(part, wanted, (*path, name))
    elif isinstance(value, list):
        for position, part in enumerate(value):
            yield from _paths(part, wanted, (*path, position))
