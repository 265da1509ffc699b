"""YAML from a user's file, strictly: a key that is given twice is refused, and a fault is told with its line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.suites.files import read_text


def read_yaml(path: Path) -> Any:
    """The value that the file holds. Raises UserError where it cannot be read, is no YAML, or names a key twice."""
    import yaml

    text = read_text(path)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        _refuse_repeated(path, node)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
        where = f"{path}, line {mark.line + 1}" if mark else f"{path}"
        raise UserError(f"{where}: no YAML: {problem or error}") from error
    except (RecursionError, ValueError) as error:
        raise UserError(f"{path}: no YAML that can be read: {error}") from error


def _refuse_repeated(path: Path, node: Any) -> None:
    """Raise UserError where a mapping names a key twice: of two values, YAML keeps the last without a word."""
    pending, seen = [node], set()
    while pending:
        found = pending.pop()
        if id(found) in seen:
            continue
        seen.add(id(found))
        children = getattr(found, "value", None)
        if not isinstance(children, list):
            continue
        keys: set[str] = set()
        for child in children:
            if not isinstance(child, tuple):
                pending.append(child)
                continue
            key, value = child
            pending += (key, value)
            if isinstance(key.value, str):
                if key.value in keys:
                    line = key.start_mark.line + 1
                    raise UserError(f"{path}, line {line}: {key.value!r} is named twice; name a column once")
                keys.add(key.value)
