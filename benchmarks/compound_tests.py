"""Size and power of tests of a difference of gaps: gains in one sample of sets against costs in another.

    python benchmarks/compound_tests.py

Prints, for several sizes, how often each test rejects at .05: the inverted bootstrap that is used, and the sign flip
that it replaced, whose null holds gains and costs as noise. Size: equal gains and costs of several rates; power: gains
of .95 and costs of .75, a difference of .20.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from veridical.stats.bootstrap import Term, bootstrap_test
from veridical.stats.permutation import cluster_contributions, sign_flip_p
from veridical.stats.units import Units

CASES = (("size .10", 0.10, 0.10), ("size .50", 0.50, 0.50), ("size .85", 0.85, 0.85), ("power .95 - .75", 0.95, 0.75))


def rejected(n: int, gain: float, cost: float, samples: int, rng: np.random.Generator) -> tuple[float, float]:
    """How often the bootstrap and the sign flip reject over so many samples of n sets of either kind."""
    sets = np.arange(2 * n)
    found = np.zeros((samples, 2))
    for sample in range(samples):
        gains, costs = (rng.random((2, n)) < np.array([[gain], [cost]])).astype(float)
        terms = [Term(gains, Units.of_sets(sets[:n])), Term(costs, Units.of_sets(sets[n:]), -1.0)]
        flips = sign_flip_p(cluster_contributions(terms), rng, 1_000)
        _, inverted = bootstrap_test(terms, rng, 1_000)
        found[sample] = (flips if inverted is None else inverted) < 0.05, flips < 0.05
    bootstrap, flip = found.mean(axis=0)
    return float(bootstrap), float(flip)


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(argv)
    rng = np.random.default_rng(given.seed)
    for n in (5, 10, 20, 50, 100):
        for name, gain, cost in CASES:
            bootstrap, flip = rejected(n, gain, cost, given.samples, rng)
            print(f"{n:4d} sets, {name:16s} bootstrap inverted {bootstrap:.3f}, sign flip {flip:.3f}")


if __name__ == "__main__":
    main()
