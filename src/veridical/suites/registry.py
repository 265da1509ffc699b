"""Suites by name.

A built-in suite is built when it is first asked for. Whatever is a path, or looks like one, is a suite file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from veridical.errors import UserError, unknown
from veridical.items import Suite
from veridical.suites.files import read_suite


def _imperfective() -> Suite:
    from veridical.suites.imperfective.builder import build_suite
    from veridical.suites.imperfective.lexicon import read_lexicon

    return build_suite(read_lexicon())


def _imperfective_quads() -> Suite:
    from veridical.suites.imperfective.quads import load_quads

    return load_quads()


def _evidence() -> Suite:
    from veridical.suites.evidence.builder import build_evidence
    from veridical.suites.evidence.text import read_text

    return build_evidence(read_text())


def _evidence_development() -> Suite:
    from veridical.suites.evidence.builder import build_development
    from veridical.suites.evidence.text import read_text

    return build_development(read_text())


def _published_imperfective(path: Path) -> Suite:
    from veridical.suites.imperfective.published import read_published

    return read_published(path)


@dataclass(frozen=True, slots=True)
class BuiltIn:
    """A suite of the package. `read_data` reads the published data that stands in for our own, where there is any."""

    name: str
    build: Callable[[], Suite]
    read_data: Callable[[Path], Suite] | None = None


BUILT_IN = {
    suite.name: suite
    for suite in (
        BuiltIn("imperfective", _imperfective, _published_imperfective),
        BuiltIn("imperfective-quads", _imperfective_quads),
        BuiltIn("evidence", _evidence),
        BuiltIn("evidence-development", _evidence_development),
    )
}


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """A line of the list of suites. `items` and `sets` (of the first grouping) are counts."""

    name: str
    title: str
    version: str
    items: int
    sets: int
    prompts: tuple[str, ...]
    licence: str


@cache
def _built(name: str) -> Suite:
    return BUILT_IN[name].build()


def load(name_or_path: str | Path, data: Path | None = None) -> Suite:
    """The suite of that name, or the one in that file; with `data`, the named suite over published data.

    Raises UserError for a name that is neither, for a file at fault, and for a suite that reads no data.
    """
    name = str(name_or_path)
    built_in = BUILT_IN.get(name)
    if data is not None:
        if built_in is None or built_in.read_data is None:
            readers = ", ".join(suite.name for suite in BUILT_IN.values() if suite.read_data)
            raise UserError(f"--data {data}: suite {name!r} reads no published data; these do: {readers}")
        return built_in.read_data(data)
    if built_in is not None:
        return _built(name)
    if isinstance(name_or_path, Path) or _looks_like_path(name):
        return read_suite(Path(name_or_path))
    raise unknown("suite", name, BUILT_IN)


def _looks_like_path(name: str) -> bool:
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    return name.endswith(".jsonl") or any(s in name for s in separators) or (bool(name) and Path(name).exists())


def list_suites() -> tuple[SuiteSummary, ...]:
    """What the package brings, in the order in which it is documented."""
    return tuple(_summary(_built(name)) for name in BUILT_IN)


def _summary(suite: Suite) -> SuiteSummary:
    return SuiteSummary(
        name=suite.name,
        title=suite.title,
        version=suite.version,
        items=len(suite.items),
        sets=len(suite.grouping().sets()),
        prompts=tuple(prompt.name for prompt in suite.prompts),
        licence=suite.licence,
    )
