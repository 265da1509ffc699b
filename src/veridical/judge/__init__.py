"""From responses to measures: set policies, accuracy, bounds, comparisons.

Names are imported when first used: reading a `Measure` needs neither NumPy nor SciPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from veridical.judge.baselines import baseline_frame
    from veridical.judge.comparison import contrasts
    from veridical.judge.judgement import judge, judge_baselines
    from veridical.judge.names import MEASURE_SETS, register

_HOMES = {
    "MEASURE_SETS": "names",
    "baseline_frame": "baselines",
    "contrasts": "comparison",
    "judge": "judgement",
    "judge_baselines": "judgement",
    "register": "names",
}

__all__ = ["MEASURE_SETS", "baseline_frame", "contrasts", "judge", "judge_baselines", "register"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
