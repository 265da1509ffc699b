"""lemminflect, imported without spaCy.

Where spaCy is installed, `import lemminflect` loads it (and with it PyTorch, seconds of work) to register extensions of
its tokens. Nothing here uses those, and every run of a suite that inflects a verb would wait for them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Hidden(MetaPathFinder):
    """Says of spaCy that it is not installed."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name == "spacy":
            raise ModuleNotFoundError("spaCy is not looked for here", name=name)
        return None


@cache
def lemminflect() -> ModuleType:
    """The module `lemminflect`. Raises ModuleNotFoundError where it is not installed."""
    hidden = _Hidden()
    sys.meta_path.insert(0, hidden)
    try:
        return import_module("lemminflect")
    finally:
        sys.meta_path.remove(hidden)
