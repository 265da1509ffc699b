"""The one grouping behind an estimate and its interval.

Rows (answers) stand in sets, sets in clusters. Both the estimate and every interval read the same `Units`, so
they cannot be grouped by different keys.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def distinct(codes: Ints) -> Ints:
    """The codes, sorted, each once: `numpy.unique` of an array of integers, which NumPy now hashes and not sorts."""
    ordered = np.sort(codes)
    first = np.ones(len(ordered), dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    result: Ints = ordered[first]
    return result


@dataclass(frozen=True, eq=False)
class Units:
    """The set and the cluster of every row, as integer codes (any, not only 0, 1, 2, ...), shape (rows,).

    A cluster is what is resampled: the set itself, or what stands above it. Two `Units` made from one table
    of codes can be matched: equal codes mean the same set or cluster.
    """

    sets: Ints
    clusters: Ints

    def __post_init__(self) -> None:
        if self.sets.shape != self.clusters.shape or self.sets.ndim != 1:
            raise ValueError(f"one code a row: sets {self.sets.shape}, clusters {self.clusters.shape}")

    @classmethod
    def of_sets(cls, sets: Sequence[int] | Ints) -> Self:
        """Sets with nothing above them."""
        codes = np.asarray(sets, dtype=np.int64)
        return cls(codes, codes)

    def __len__(self) -> int:
        return len(self.sets)

    @cached_property
    def n_sets(self) -> int:
        """Number of distinct item sets."""
        return len(distinct(self.sets))

    @cached_property
    def n_clusters(self) -> int:
        """Number of distinct clusters, the units that are resampled."""
        return len(distinct(self.clusters))

    @property
    def independent(self) -> bool:
        """Whether every row is a cluster of its own, so that rows are independent draws."""
        return self.n_clusters == len(self)

    @property
    def nested(self) -> bool:
        """Whether some cluster holds several sets."""
        return self.n_clusters < self.n_sets


def align(units: Sequence[Units]) -> tuple[Ints, list[Ints]]:
    """Cluster codes that occur in any of `units`, sorted, and for each of them its rows' positions there."""
    codes = distinct(np.concatenate([u.clusters for u in units]))
    return codes, [np.searchsorted(codes, u.clusters).astype(np.int64) for u in units]
