"""What a linear readout of hidden states recovers, against nulls, baselines and restricted inputs.

`LinearReadout` is the readout as a scikit-learn estimator. It is imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from veridical.readouts.estimator import LinearReadout

__all__ = ["LinearReadout"]


def __getattr__(name: str) -> object:
    if name == "LinearReadout":
        from veridical.readouts.estimator import LinearReadout

        return LinearReadout
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
