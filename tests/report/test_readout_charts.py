"""Charts of readouts: what they are drawn from."""

import numpy as np
import pytest

from veridical.report.readout_charts import BINS, bin_edges


@pytest.mark.parametrize("step", [1 / 162, 1 / 54, 1 / 1000])
@pytest.mark.parametrize("n_values", [2, 29, 31, 61, 62, 150])
def test_bins_of_a_flat_null_are_flat(step: float, n_values: int) -> None:
    """Every attainable value drawn five times: every bar is as high, but for a last one that is not full."""
    draws = np.repeat(0.1 + step * np.arange(n_values), 5)
    edges = bin_edges(draws)
    assert edges is not None
    counts, _ = np.histogram(draws, bins=edges)
    assert counts.sum() == len(draws)
    assert len(counts) <= BINS
    assert len(set(counts[:-1].tolist())) <= 1
    assert counts[-1] <= counts[0]


def test_draws_of_one_value_have_no_histogram() -> None:
    assert bin_edges(np.full(10, 0.5)) is None
