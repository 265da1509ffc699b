"""The benchmarks by name, in the order in which they are documented."""

from __future__ import annotations

from veridical.suites.commonsense.task import Task
from veridical.suites.commonsense.tasks import (
    blimp,
    cei,
    false_beliefs,
    gpqa,
    hellaswag,
    imppres,
    indirect_requests,
    mmlu_redux,
    piqa,
    sarc7,
    social_iqa,
    timedial,
    trip,
    winogrande,
)

MODULES = (
    winogrande,
    hellaswag,
    social_iqa,
    piqa,
    blimp,
    gpqa,
    mmlu_redux,
    cei,
    sarc7,
    false_beliefs,
    imppres,
    indirect_requests,
    timedial,
    trip,
)

TASKS: dict[str, Task] = {task.name: task for module in MODULES for task in module.TASKS}
