"""Veridical: does a language model's score mean what it claims?

    import veridical as vd
    run = vd.run("imperfective", model="smollm2")
    run.measures          # a Polars frame

Names are imported when they are first used, so that `import veridical` costs nothing.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

# Intel's MKL, with which PyTorch multiplies matrices on a processor, rounds by where in memory an operand happens to
# lie unless it is asked for reproducible results ("Obtaining Numerically Reproducible Results" in the oneMKL developer
# guide). It reads this once, at its first call. No slower on the AMD processor it was measured on.
os.environ.setdefault("MKL_CBWR", "AUTO")

if TYPE_CHECKING:
    __version__: str
    from veridical.errors import UserError
    from veridical.items import Choice, Grouping, Item, Member, Response, Suite
    from veridical.judge.measure import Measure
    from veridical.prompts.template import Prompt
    from veridical.status import Status
    from veridical.studies.elsewhere import judge_responses
    from veridical.studies.readout import readout
    from veridical.studies.run import run
    from veridical.studies.study import Study, open_study
    from veridical.suites.registry import list_suites
    from veridical.suites.registry import load as load_suite

__all__ = [
    "Choice",
    "Grouping",
    "Item",
    "Measure",
    "Member",
    "Prompt",
    "Response",
    "Status",
    "Study",
    "Suite",
    "UserError",
    "judge_responses",
    "list_suites",
    "load_suite",
    "open_study",
    "readout",
    "run",
]

_HOMES = {
    "veridical.errors": ("UserError",),
    "veridical.items": ("Choice", "Grouping", "Item", "Member", "Response", "Status", "Suite"),
    "veridical.judge.measure": ("Measure",),
    "veridical.prompts.template": ("Prompt",),
    "veridical.studies.elsewhere": ("judge_responses",),
    "veridical.studies.readout": ("readout",),
    "veridical.studies.run": ("run",),
    "veridical.studies.study": ("Study", "open_study"),
    "veridical.suites.registry": ("list_suites", ("load_suite", "load")),
}

_NAMES = {
    name if isinstance(name, str) else name[0]: (home, name if isinstance(name, str) else name[1])
    for home, names in _HOMES.items()
    for name in names
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from importlib.metadata import version

        return version("veridical")
    if name not in _NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home, attribute = _NAMES[name]
    value = getattr(import_module(home), attribute)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
