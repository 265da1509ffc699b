"""A readout of a run as the page takes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from veridical.readouts.record import ReadoutRecord


@dataclass(frozen=True)
class ShownReadout:
    """A readout of a run: its record, the draws of its nulls by `answerer/input/measure`, and what it answered."""

    model: str
    record: ReadoutRecord
    draws: Mapping[str, npt.NDArray[np.float64]]
    answers: pl.DataFrame
