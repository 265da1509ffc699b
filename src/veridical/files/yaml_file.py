"""YAML from a user's file, in which every scalar is the text that was written.

YAML 1.1 retypes plain scalars: `01172` becomes 634, `1:30` 90, `no` false, `2024-01-01` a date. Here nothing is
retyped: a reader that needs a number or a truth value converts the text by the rules of `veridical.files.scalars`.
Nothing, `~` and `null` outside quotation marks are the absence of a value. As an entry of a list that is refused, as
are a key that is given twice, a tag that asks for a type, and a key that is not text, with their line.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from veridical.errors import UserError
from veridical.files.text_file import read_text

MOST_NODES = 1_000_000
"""Nodes of a document with its aliases written out. A file of a few lines can hold more than memory does."""

_ABSENT = frozenset({"", "~", "null", "Null", "NULL"})
_FAULTS = {
    "ReaderError": "a character that no YAML file may hold",
    "ScannerError": "a colon, a tab, a quotation mark or another sign is out of place, here or just before",
    "ParserError": "the indentation is wrong, or a bracket or a comma missing, here or just before",
    "ComposerError": "an alias (*) without an anchor (&), an anchor given twice, or a second document",
}
"""PyYAML's classes of errors, and what they say of a file."""
_DEFAULT_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("str", "seq", "map")}


def read_yaml(path: Path) -> Any:
    """The value that the file holds: texts, lists, mappings with text keys; None where a key has no value.

    Raises UserError, with file and line, where the file cannot be read, is not valid YAML, or gives a key twice.
    """
    import yaml

    text = read_text(path)
    try:
        return _Values(path).value(yaml.compose(text, Loader=yaml.BaseLoader))
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}, column {mark.column + 1}" if mark else f"{path}"
        kinds = (words for name, words in _FAULTS.items() if name == type(error).__name__)
        raise UserError(f"{where}: not valid YAML: {next(kinds, 'it cannot be read')}") from error
    except (RecursionError, ValueError) as error:
        raise UserError(f"{path}: YAML that cannot be read: nested too deeply, or an odd character") from error


class _Values:
    """Turns the nodes of one document into values."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._room = MOST_NODES
        self._open: set[int] = set()

    def value(self, node: Any) -> Any:
        if node is None:
            return None
        self._room -= 1
        if self._room < 0:
            raise self._fault(node, "too many values; are aliases repeated within aliases?")
        if id(node) in self._open:
            raise self._fault(node, "a value that contains itself")
        if node.tag not in _DEFAULT_TAGS:
            raise self._fault(node, f"the tag {node.tag!r}: values are read as they are written; leave it out")
        if isinstance(node.value, str):
            return None if node.style is None and node.value in _ABSENT else node.value
        self._open.add(id(node))
        found = self._mapping(node) if node.id == "mapping" else [self._entry(inner) for inner in node.value]
        self._open.discard(id(node))
        return found

    def _entry(self, node: Any) -> Any:
        found = self.value(node)
        if found is None:
            raise self._fault(
                node, "an entry of a list without a value; a text such as ~ or null needs quotation marks"
            )
        return found

    def _mapping(self, node: Any) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, inner in node.value:
            if not isinstance(key.value, str):
                raise self._fault(key, "a key must be a text")
            if key.value == "<<" and key.style is None:
                raise self._fault(key, "'<<' (a merge of mappings) is not supported; write the keys out")
            if key.value in found:
                raise self._fault(key, f"{key.value!r} is named twice; name it once")
            found[key.value] = self.value(inner)
        return found

    def _fault(self, node: Any, message: str) -> UserError:
        return UserError(f"{self._path}, line {node.start_mark.line + 1}: {message}")
