"""Size and power of every test of criterion validity, by simulation with the null that its question asks.

    python benchmarks/validity_size.py --runs 400

Each line is a test, what was planted, and the share of runs in which p was .05 or less: about .05 where nothing of what
the test asks is planted, high where it is. Models stand in 6 families of 4 unless the line says otherwise; 99 draws.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from veridical.stats.partial_correlation import correlations, freedman_lane
from veridical.stats.permutation import permutation_p
from veridical.stats.ridge import leave_groups_out
from veridical.stats.sign_flip import exact_sign_flip_p
from veridical.validity.exchange import exchanged_differences, swaps_of
from veridical.validity.joint_gain import permuted_set_errors
from veridical.validity.leave_family_out import error_p
from veridical.validity.partial import Ranked
from veridical.validity.permuted_gain import permuted_errors
from veridical.validity.rho_exchange import rho_differences
from veridical.validity.specificity import (
    AxisTable,
    by_arrangements,
    differences,
    double_centred,
    without_common_factor,
)

DRAWS = 99
Rng = np.random.Generator
Found = dict[str, list[bool]]


def models(
    rng: Rng, families: int, each: int, slope_between: float
) -> tuple[np.ndarray, np.ndarray, Callable[[], np.ndarray]]:
    """Family codes, log sizes, and a maker of columns that go with size and differ between families."""
    codes = np.repeat(np.arange(families), each)
    typical = rng.uniform(0, 2, families)
    size = typical[codes] + 0.4 * rng.normal(size=len(codes))

    def column() -> np.ndarray:
        return size + (0.5 * rng.normal(size=families) + (slope_between - 1) * typical)[codes]

    return codes, size, column


def gain(rng: Rng, families: int, each: int, slope_between: float, effect: float) -> dict[str, bool]:
    codes, size, column = models(rng, families, each, slope_between)
    own = 0.5 * rng.normal(size=len(codes))
    x, y = column() + own, (column() + effect * own + 0.5 * rng.normal(size=len(codes)))[:, None]
    z = size[:, None]
    drawn = permuted_errors(z, x, y, codes, rng, DRAWS, DRAWS + 1)
    less = (
        np.abs(y - leave_groups_out(z, y, codes)[0])[:, 0]
        - np.abs(y - leave_groups_out(np.column_stack([z, x]), y, codes)[0])[:, 0]
    )
    by_family = np.bincount(codes, weights=less)
    flip = exact_sign_flip_p(by_family, rng, 999) <= 0.05
    influence = (by_family.sum() - by_family) / each / (families - 1)
    ranked = Ranked.of(z, np.column_stack([x, y]), codes)
    left = ranked.left()
    null = freedman_lane(left[:, :1], left[:, 1:], ranked.basis, rng, DRAWS)[:, 0, 0]
    rho = abs(float(correlations(left[:, :1], left[:, 1])[0]))
    return {
        "gain, MAE": error_p(drawn.absolute[:, 0]) <= 0.05,
        "gain, R²": error_p(drawn.squared[:, 0]) <= 0.05,
        "gain, ρ": permutation_p(float(drawn.rho[0, 0]), drawn.rho[1:, 0]) <= 0.05,
        "sign flip, better": bool(flip and less.sum() > 0),
        "sign flip, worse": bool(flip and less.sum() < 0),
        "influence: a gain with every family left out": bool(influence.min() > 0),
        "partial ρ (Freedman–Lane)": permutation_p(rho, np.abs(null)) <= 0.05,
    }


def exchange(rng: Rng, size_of_new: float, noise: float, by_family: float, outcomes: int = 3) -> dict[str, bool]:
    codes = np.repeat(np.arange(6), 4)
    size, skill = rng.uniform(0, 2, 24), rng.normal(size=24) + 0.5 * rng.normal(size=6)[codes]
    apart = by_family * rng.normal(size=(2, 6))[:, codes]
    pair = np.column_stack(
        [
            size_of_new * size + skill + noise * 0.6 * rng.normal(size=24) + apart[0],
            size + skill + 0.6 * rng.normal(size=24) + apart[1],
        ]
    )
    y = (size + skill)[:, None] + 0.6 * rng.normal(size=(24, outcomes))
    swaps, z = swaps_of(rng, DRAWS, 24), size[:, None]
    null = np.abs(exchanged_differences(z, pair, y, codes, swaps).mean(axis=1))
    rhos = np.abs(np.mean([one.null for one in rho_differences(z, *pair.T, y, codes, swaps, 0)], axis=0))
    return {
        "reworked, gain (exchange, pooled)": permutation_p(null[0], null[1:]) <= 0.05,
        "reworked, partial ρ (exchange, pooled)": permutation_p(rhos[0], rhos[1:]) <= 0.05,
    }


def axes(rng: Rng, planted: str) -> dict[str, bool]:
    own, of = np.array([0, 0, 1, 1, 1, 1]), np.array([0, 0, 0, 1, 1, 1, 1])
    ability, parts = rng.normal(size=(24, 1)), rng.normal(size=(24, 2))
    of_benchmarks = np.where(own == 1, 0.9, 0.5) if planted == "both" else np.full(6, 0.7)
    of_outcomes = np.where(of == 1, 0.9, 0.3) if planted in ("outcome", "both") else np.full(7, 0.6)
    x = ability * of_benchmarks + 0.5 * rng.normal(size=(24, 6))
    y = ability * of_outcomes + 0.5 * rng.normal(size=(24, 7))
    if planted == "interaction":
        x, y = x + 0.7 * parts[:, own], y + 0.7 * parts[:, of]
    if planted in ("share outcomes", "share both"):
        y = y + 0.7 * rng.normal(size=(24, 2))[:, of]
    if planted in ("share benchmarks", "share both"):
        x = x + 0.7 * rng.normal(size=(24, 2))[:, own]
    table = AxisTable(("a", "b"), np.corrcoef(x.T, y.T)[:6, 6:], own, of)
    centred = double_centred(table.values)
    strict = without_common_factor(table.values, centred)

    def called(values: np.ndarray) -> bool:
        return by_arrangements(lambda arranged: differences(values, own, arranged), of, rng, DRAWS, "").p <= 0.05

    return {
        "axes, as they are (before)": called(table.values),
        "axes, double-centred": called(centred),
        "axes, and one factor taken out": called(strict),
        "axes, both (what is said)": called(centred) and called(strict),
    }


def joint(rng: Rng, slope_between: float, effect: float) -> dict[str, bool]:
    codes, size, column = models(rng, 6, 4, slope_between)
    own = 0.5 * rng.normal(size=(24, 3))
    x = np.column_stack([column() for _ in range(3)]) + own
    y = (column() + effect * own[:, 0] + 0.5 * rng.normal(size=24))[:, None]
    others = np.column_stack([size, x[:, :2]])
    return {
        "set of 3": error_p(permuted_set_errors(size[:, None], x, y, codes, rng, DRAWS)[:, 0]) <= 0.05,
        "third of them, given two": error_p(permuted_errors(others, x[:, 2], y, codes, rng, DRAWS).absolute[:, 0])
        <= 0.05,
    }


PLANTED: dict[str, Callable[[Rng], dict[str, bool]]] = {
    "nothing within families": lambda rng: gain(rng, 6, 4, 1.0, 0.0),
    "nothing; slope between families −0.2, within 1": lambda rng: gain(rng, 6, 4, -0.2, 0.0),
    "nothing; the same, 10 families of 5": lambda rng: gain(rng, 10, 5, -0.2, 0.0),
    "outcome needs the benchmark": lambda rng: gain(rng, 6, 4, 1.0, 1.5),
    "versions alike": lambda rng: exchange(rng, 1.0, 1.0, 0.0),
    "versions alike, size explains one less": lambda rng: exchange(rng, 0.3, 1.0, 0.0),
    "versions alike, families differ in each": lambda rng: exchange(rng, 1.0, 1.0, 0.7),
    "reworked 4 times as noisy": lambda rng: exchange(rng, 1.0, 4.0, 0.0),
    "one common factor": lambda rng: axes(rng, "none"),
    "outcomes of one axis predicted better": lambda rng: axes(rng, "outcome"),
    "its benchmarks predict better too": lambda rng: axes(rng, "both"),
    "a factor for each axis": lambda rng: axes(rng, "interaction"),
    "a set that adds nothing": lambda rng: joint(rng, 1.0, 0.0),
    "a set that adds nothing; slope between −0.2": lambda rng: joint(rng, -0.2, 0.0),
    "outcome needs one of the set": lambda rng: joint(rng, 1.0, 2.0),
    "outcomes of an axis share a part, benchmarks none": lambda rng: axes(rng, "share outcomes"),
    "benchmarks of an axis share a part, outcomes none": lambda rng: axes(rng, "share benchmarks"),
    "both share parts, of two kinds": lambda rng: axes(rng, "share both"),
}


def lines(runs: int, seed: int, only: str) -> Iterator[dict[str, object]]:
    for place, (planted, once) in enumerate(PLANTED.items()):
        if only not in planted:
            continue
        rng = np.random.default_rng([seed, place])
        found: Found = {}
        for _ in range(runs):
            for test, rejected in once(rng).items():
                found.setdefault(test, []).append(rejected)
        for test, rejected in found.items():
            yield {"planted": planted, "test": test, "rejected": round(float(np.mean(rejected)), 3), "runs": runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="what was planted, or a part of it")
    parser.add_argument("--out", type=Path, help="a JSON file for the lines")
    given = parser.parse_args()
    found = []
    for line in lines(given.runs, given.seed, given.only):
        print(f"{line['planted']:48} {line['test']:46} {line['rejected']:.3f}", flush=True)
        found.append(line)
    if given.out:
        given.out.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
