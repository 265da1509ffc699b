"""How often the bootstrap's 95 % interval of a mean over few sets covers the truth.

Run as `python benchmarks/few_sets.py`. Sets have four items; right answers have the rate `p`, and within a set the
correlation `rho`. The seed is fixed; an interval without a width is not counted.
"""

from __future__ import annotations

import numpy as np

from veridical.stats.units import Floats

SETS = (4, 5, 6, 8, 10, 12, 15, 20, 30, 50)
RATES = ((0.5, 0.0), (0.8, 0.0), (0.8, 0.3), (0.9, 0.3), (0.5, 0.3))
ITEMS, SAMPLES, DRAWS = 4, 600, 1_000


def coverage(n_sets: int, rate: float, correlation: float, rng: np.random.Generator) -> float:
    """Share of samples whose percentile interval holds the rate."""
    covered = counted = 0
    for _ in range(SAMPLES):
        shares = rng.binomial(ITEMS, _rates(n_sets, rate, correlation, rng)) / ITEMS
        means = shares[rng.integers(0, n_sets, size=(DRAWS, n_sets))].mean(axis=1)
        low, high = np.quantile(means, [0.025, 0.975])
        counted += high > low
        covered += bool(high > low and low <= rate <= high)
    return covered / counted


def _rates(n_sets: int, rate: float, correlation: float, rng: np.random.Generator) -> Floats:
    if correlation == 0:
        return np.full(n_sets, rate)
    size = (1 - correlation) / correlation
    drawn: Floats = rng.beta(rate * size, (1 - rate) * size, size=n_sets)
    return drawn


if __name__ == "__main__":
    generator = np.random.default_rng(0)
    print("rate  rho   " + "  ".join(f"{n:>4}" for n in SETS) + "   sets")
    for p, rho in RATES:
        print(f"{p:.1f}   {rho:.1f}   " + "  ".join(f"{coverage(n, p, rho, generator):.2f}" for n in SETS))
