"""Suites by name.

A built-in suite is built when it is first asked for, a benchmark from the user's copy of its data each time. Whatever
is a path, or looks like one, is a suite file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from veridical.errors import UserError, unknown
from veridical.items import Suite
from veridical.judge.names import register
from veridical.suites.files import read_suite
from veridical.suites.tables.builder import suite_from_table
from veridical.suites.tables.options import WELL_KNOWN, TableOptions
from veridical.suites.tables.reading import COLUMNAR, DELIMITED, SPREADSHEETS, is_table

if TYPE_CHECKING:
    from veridical.suites.commonsense.task import Task


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
    """A suite of the package.

    `measures` is where the measure set is that bears the suite's name, where it has one of its own. `read_data` reads
    the published data that stands in for our own, where there is any.
    """

    name: str
    build: Callable[[], Suite]
    measures: str = ""
    read_data: Callable[[Path], Suite] | None = None


BUILT_IN = {
    suite.name: suite
    for suite in (
        BuiltIn(
            "imperfective",
            _imperfective,
            "veridical.suites.imperfective.measures:BETWEEN_SETS",
            _published_imperfective,
        ),
        BuiltIn("imperfective-quads", _imperfective_quads, "veridical.suites.imperfective.measures:WITHIN_SETS"),
        BuiltIn("evidence", _evidence, "veridical.suites.evidence.measures:MEASURE_SET"),
        BuiltIn("evidence-development", _evidence_development),
    )
}

SHARED_MEASURES = {
    "benchmark": "veridical.suites.commonsense.measures:MEASURE_SET",
    "merge": "veridical.suites.merge.measures:MEASURE_SET",
}
"""Measure sets of suites that are made from the user's data."""

for _name, _where in (*SHARED_MEASURES.items(), *((s.name, s.measures) for s in BUILT_IN.values() if s.measures)):
    register(_name, _where)


def benchmarks() -> Mapping[str, Task]:
    """The definitions of benchmarks, whose data are the user's copy; a look-up imports the one that is asked for."""
    from veridical.suites.commonsense.catalogue import TASKS

    return TASKS


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    """A line of the list of suites. `items` and `sets` (of the first grouping) are counts, None for a benchmark.

    `groupings` names the sets; `data` says where the items come from.
    """

    name: str
    title: str
    version: str
    items: int | None
    sets: int | None
    groupings: tuple[str, ...]
    prompts: tuple[str, ...]
    licence: str
    data: str = "in the package"


@dataclass(frozen=True, slots=True)
class Data:
    """What the user gives for a suite's items: a file of published data, or a folder of them; `shots` examples before
    each item, drawn by `seed`. With `few`, few sets of the suite are asked: items are made when they are asked for.
    `table` names the columns of a table."""

    file: Path | None = None
    folder: Path | None = None
    shots: int = 0
    seed: int = 0
    few: bool = False
    table: TableOptions = WELL_KNOWN


@cache
def _built(name: str) -> Suite:
    return BUILT_IN[name].build()


def load(name_or_path: str | Path, data: Path | None = None) -> Suite:
    """The suite of that name, or the one in that file; with `data`, the named suite over published data.

    Raises UserError for a name that is neither, for a file at fault, and for a suite that reads no data.
    """
    return read(name_or_path, Data(file=data))[0]


def read(name_or_path: str | Path, data: Data) -> tuple[Suite, tuple[str, ...]]:
    """The suite that `load` returns, and notes for the user on how it was read."""
    name = str(name_or_path)
    task = benchmarks().get(name)
    in_table = task is None and name not in BUILT_IN and _looks_like_path(name) and is_table(Path(name))
    if data.table.given and not in_table:
        raise UserError(
            f"{name}: --text-column, --label-column, --choices, --set-column and --role-column go with a table"
        )
    if in_table and data.file is None and not data.shots:
        return suite_from_table(Path(name), data.table)
    if task is not None:
        from veridical.suites.commonsense.benchmark import benchmark
        from veridical.suites.commonsense.copies import Copy

        built = benchmark(task, Copy(data.file, data.folder), shots=data.shots, seed=data.seed, drafted=data.few)
        return built.suite, built.notes
    if data.shots:
        raise UserError(f"--shots {data.shots}: suite {name!r} has no examples to show; benchmarks do")
    return _own(name_or_path, data.file), ()


def _own(name_or_path: str | Path, data: Path | None) -> Suite:
    """A suite of the package's or of a file."""
    name = str(name_or_path)
    built_in = BUILT_IN.get(name)
    if data is not None:
        if built_in is None or built_in.read_data is None:
            readers = ", ".join((*(suite.name for suite in BUILT_IN.values() if suite.read_data), *benchmarks()))
            raise UserError(f"--data {data}: suite {name!r} reads no published data; these do: {readers}")
        return built_in.read_data(data)
    if built_in is not None:
        return _built(name)
    if isinstance(name_or_path, Path) or _looks_like_path(name):
        return read_suite(Path(name_or_path))
    raise unknown("suite", name, (*BUILT_IN, *benchmarks()))


def _looks_like_path(name: str) -> bool:
    separators = [separator for separator in (os.sep, os.altsep) if separator]
    return (
        name.lower().endswith((".jsonl", *DELIMITED, *COLUMNAR, *SPREADSHEETS))
        or any(s in name for s in separators)
        or (bool(name) and Path(name).exists())
    )


def list_suites() -> tuple[SuiteSummary, ...]:
    """What can be asked by name, in the order in which it is documented."""
    return (*(_summary(_built(name)) for name in BUILT_IN), *map(_benchmark_summary, benchmarks().values()))


def _summary(suite: Suite) -> SuiteSummary:
    return SuiteSummary(
        name=suite.name,
        title=suite.title,
        version=suite.version,
        items=len(suite.items),
        sets=len(suite.grouping().sets()),
        groupings=tuple(grouping.name for grouping in suite.groupings),
        prompts=tuple(prompt.name for prompt in suite.prompts),
        licence=suite.licence,
    )


def _benchmark_summary(task: Task) -> SuiteSummary:
    from veridical.suites.commonsense.build import prompt_of

    return SuiteSummary(
        name=task.name,
        title=task.title,
        version=task.version,
        items=None,
        sets=None,
        groupings=tuple(sets.name for sets in task.sets if sets.set is not None),
        prompts=(prompt_of(task).name,),
        licence=task.licence,
        data="needs your copy",
    )
