"""The harness's index of tasks, with one-line errors where a task cannot be loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lm_eval.tasks import TaskManager

from veridical.errors import UserError


class Tasks(TaskManager):  # type: ignore[misc]  # the harness has no types
    """The tasks to ask: those of some folders and, with `own`, the harness's. `names` are what `prepare` was given.

    They are loaded before a model is, so that a fault in them shows first; that loading serves the first model.
    """

    names: Sequence[str] = ()

    def __init__(self, include_paths: Sequence[Path] = (), *, own: bool = True) -> None:
        super().__init__(include_path=[str(path) for path in include_paths] or None, include_defaults=own)
        self.include_paths = tuple(include_paths)
        self._ready: dict[str, Any] | None = None
        self._unsafe: list[str] = []
        self._examples: dict[str, int] = {}

    def prepare(self, names: Sequence[str]) -> None:
        """Load the tasks. Raises UserError where one cannot be."""
        self.names = list(names)
        self._ready = self.load(list(names))
        loaded = self._ready["tasks"].items()
        self._unsafe = [name for name, task in loaded if getattr(task, "UNSAFE_CODE", False)]
        self._examples = {name: _n_examples(task) for name, task in loaded if task.get_config("num_fewshot") != 0}

    def load(self, task_list: Any) -> dict[str, Any]:
        """As the harness loads them; once what `prepare` loaded."""
        ready, self._ready = self._ready, None
        if ready is not None:
            return ready
        try:
            loaded: dict[str, Any] = super().load(task_list)
        except Exception as error:  # a task is code and data of anybody's, which may fail in any way
            shown = ", ".join(str(name) for name in task_list[:3])
            raise UserError(
                f"the harness cannot load {shown}{', ...' if len(task_list) > 3 else ''} ({type(error).__name__}); "
                "are the task's files whole, and its data at hand? VERIDICAL_DEBUG=1 shows the details"
            ) from error
        return loaded

    def check_shots(self, shots: int) -> None:
        """Raise UserError where a task has fewer examples; one that is fixed at none is given none."""
        for name, count in self._examples.items():
            if shots > count:
                raise UserError(f"--num-fewshot {shots}: task {name!r} has {count} examples; give fewer")

    def check_safe(self, *, allowed: bool) -> None:
        """Raise UserError for a task that runs what a model wrote, unless that is allowed."""
        if self._unsafe and not allowed:
            raise UserError(
                f"task {self._unsafe[0]!r} runs code that the model writes: give --confirm-run-unsafe-code, in a place "
                "where that does no harm"
            )


def _n_examples(task: Any) -> int:
    """How many examples a document can be given: one fewer where it is one of them itself."""
    sampler = getattr(task, "sampler", None)
    if sampler is None:
        return 0
    same_split = bool(task.fewshot_cfg.split == task.config.test_split)
    return len(list(sampler.fewshot_docs())) - same_split
