"""One name for the tasks of several runs that are one task by their items.

Tasks are compared by name. A table of predictions without a column of tasks has no name but its file's, which says
nothing of what was asked: tables that hold the same items are one task, whatever the files are called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path

from veridical.items import Suite
from veridical.runs.load import Run

ALIKE = 0.95
"""Of the documents that two tables name alike, the share that must be the same item. Tables that hold nothing but ids
and right answers agree by chance in many. Our choice."""
NOTABLE = 0.5
"""Share of the smaller task's items from which on tasks of different names are said to have them in common."""


@dataclass(frozen=True)
class CommonNames:
    """`names` of suites by a run's folder, where another run's name stands for them, and what to say of it."""

    names: Mapping[Path, Mapping[str, str]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def of(self, run: Run, suite: str) -> str:
        """The name under which a run's suite is judged."""
        return self.names.get(run.path, {}).get(suite, suite)


def common_names(runs: Sequence[Run]) -> CommonNames:
    """The names under which the suites of these runs are judged together."""
    if len({name for run in runs for name in run.suites}) < 2:
        return CommonNames()
    tables = [(run, suite) for run in runs if (suite := _named_by_file(run)) is not None]
    contents = [_Content.of(suite) for _, suite in tables]
    # The place of the first table of the same task; tables may hold parts of it that only others join.
    first = list(range(len(tables)))
    for later, earlier in ((b, a) for a, b in combinations(range(len(tables)), 2)):
        if first[later] != first[earlier] and contents[later].is_of_one_task_with(contents[earlier]):
            least, gone = sorted((first[later], first[earlier]))
            first = [least if place == gone else place for place in first]
    names: dict[Path, dict[str, str]] = {}
    merged: dict[str, list[str]] = {}
    for (run, suite), place in zip(tables, first, strict=True):
        leader = tables[place][1].name
        if suite.name != leader:
            names[run.path] = {suite.name: leader}
            merged.setdefault(leader, []).append(suite.name)
    remarks = [
        f"{leader} and {', '.join(dict.fromkeys(others))} hold the same items and are one task here, {leader}: the "
        "name of each is only its file's."
        for leader, others in merged.items()
    ]
    found = CommonNames(names)
    return CommonNames(names, (*remarks, *_apart(runs, found)))


def _named_by_file(run: Run) -> Suite | None:
    """The suite of a table of predictions that has no name but its file's."""
    imported = run.manifest.imported
    if imported is None or imported.harness != "predictions" or len(imported.tasks) != 1:
        return None
    name = imported.tasks[0].suite
    return run.suites.get(name) if name in {Path(file.name).stem for file in imported.files} else None


@dataclass(frozen=True)
class _Content:
    """A table's items, by the names of its documents."""

    name: str
    items: Mapping[str, str]

    @classmethod
    def of(cls, suite: Suite) -> _Content:
        return cls(suite.name, {item.name: item.id for item in suite.items})

    def is_of_one_task_with(self, other: _Content) -> bool:
        """Whether both have a name, or documents they name alike that are the same items."""
        both = self.items.keys() & other.items.keys()
        same = sum(self.items[name] == other.items[name] for name in both)
        return self.name == other.name or bool(same and same >= ALIKE * len(both))


def _apart(runs: Sequence[Run], names: CommonNames) -> Iterator[str]:
    """Remarks on suites that have items in common and are not compared, since each is in one run alone."""
    holders: dict[str, list[Run]] = {}
    ids: dict[str, frozenset[str]] = {}
    for run in runs:
        for name, suite in run.suites.items():
            judged = names.of(run, name)
            holders.setdefault(judged, []).append(run)
            ids[judged] = ids.get(judged, frozenset()) | frozenset(suite.columns.ids)
    for one, other in combinations(holders, 2):
        n = len(ids[one] & ids[other])
        apart = not {run.path for run in holders[one]} & {run.path for run in holders[other]}
        if apart and n and n >= NOTABLE * min(len(ids[one]), len(ids[other])):
            yield (
                f"{one} (of {holders[one][0].name}) and {other} (of {holders[other][0].name}) have {n:,} items in "
                "common and are not compared, since tasks are compared by name: import both under one (of predictions, "
                "with --task-column, or from files of one name)."
            )
