"""The benchmarks by name, in the order in which they are documented.

Names are known at once; a benchmark's module is imported when its definition is first asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from veridical.suites.commonsense.task import Task

MODULES: Mapping[str, tuple[str, ...]] = {
    "winogrande": ("winogrande", "winowhat", "winowhat-pairs"),
    "hellaswag": ("hellaswag", "goldenswag"),
    "social_iqa": ("social-iqa", "social-iqa-filtered"),
    "piqa": ("piqa", "piqa-rup", "piqa-pairs"),
    "blimp": ("blimp",),
    "gpqa": ("gpqa-diamond",),
    "mmlu_redux": ("mmlu-redux",),
    "cei": ("cei",),
    "sarc7": ("sarc7",),
    "false_beliefs": ("false-beliefs",),
    "imppres": ("implicature", "presupposition"),
    "indirect_requests": ("indirect-requests",),
    "timedial": ("timedial",),
    "trip": ("trip",),
}
"""The modules of `commonsense.tasks`, with the benchmarks that each defines in its `TASKS`."""


class Catalogue(Mapping[str, "Task"]):
    """Definitions by name. Iterating, counting and `in` import nothing; a look-up imports the one module it needs."""

    def __init__(self, modules: Mapping[str, tuple[str, ...]]) -> None:
        self._module_of = {name: module for module, names in modules.items() for name in names}

    def __getitem__(self, name: str) -> Task:
        module = import_module(f"veridical.suites.commonsense.tasks.{self._module_of[name]}")
        tasks: tuple[Task, ...] = module.TASKS
        return next(task for task in tasks if task.name == name)

    def __contains__(self, name: object) -> bool:
        return name in self._module_of

    def __iter__(self) -> Iterator[str]:
        return iter(self._module_of)

    def __len__(self) -> int:
        return len(self._module_of)


TASKS = Catalogue(MODULES)
