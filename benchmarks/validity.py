"""Criterion validity: the whole analysis timed, and partial correlations against a loop over pingouin.

    python benchmarks/validity.py

Three things: a table of 23 models x 19 columns with 10,000 draws; one of 2,000 models x 40 columns with the same
draws, and the memory that it takes; and the permutation p of partial correlations on the first table against a loop
that calls pingouin's `partial_corr` for the same permutations (a few of which are timed). Prints the ratio of the
last two times last.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time

os.environ.pop("OPENBLAS_CORETYPE", None)

import numpy as np
import pandas as pd
import pingouin
from harness import report

from veridical.stats.partial_correlation import column_space, correlations, freedman_lane, permutations, residuals
from veridical.stats.rank_correlation import average_ranks
from veridical.validity.analysis import analyse
from veridical.validity.roles import Roles
from veridical.validity.table import ScoreTable


def table(n: int, families: int, benchmarks: int, controls: int, outcomes: int, variants: int) -> ScoreTable:
    """Scores with a common ability that size and family drive; reworked versions are noisy copies."""
    rng = np.random.default_rng(0)
    codes = np.concatenate([np.arange(families), rng.integers(0, families, n - families)])
    log_size = rng.uniform(-0.5, 2, n)
    ability = log_size + 0.5 * rng.normal(size=families)[codes] + 0.5 * rng.normal(size=n)

    def scores(count: int) -> np.ndarray:
        noisy = ability[:, None] * rng.uniform(0.3, 1, count) + rng.normal(size=(n, count))
        return 1 / (1 + np.exp(-noisy))

    kinds = {"benchmark": benchmarks, "control": controls, "outcome": outcomes}
    columns = {f"{kind} {i}": column for kind, count in kinds.items() for i, column in enumerate(scores(count).T)}
    names = tuple(columns)
    axes = ("social", "event")
    roles = Roles(
        model="model",
        family="family",
        size="size",
        benchmarks=names[:benchmarks],
        controls=names[benchmarks : benchmarks + controls],
        outcomes={name: axes[i % 2] for i, name in enumerate(names[benchmarks + controls :])},
        axes={name: axes[i % 2] for i, name in enumerate(names[:benchmarks])},
        variants={names[variants + i]: names[i] for i in range(variants)},
        items=dict.fromkeys(names[:benchmarks], 1_000),
    )
    return ScoreTable(
        source="synthetic",
        models=tuple(f"model {i}" for i in range(n)),
        families=tuple(f"family {code}" for code in codes),
        size=10**log_size,
        names=names,
        scores=np.stack(list(columns.values()), axis=1),
        roles=roles,
    )


TABLES = {
    "small": {"n": 23, "families": 6, "benchmarks": 8, "controls": 3, "outcomes": 8, "variants": 4},
    "large": {"n": 2_000, "families": 30, "benchmarks": 22, "controls": 3, "outcomes": 12, "variants": 5},
}
"""With model, family and size, 22 and 40 columns; 19 and 37 of them are scores."""


def whole(which: str, draws: int) -> dict[str, float]:
    """One analysis in an interpreter of its own, for its memory."""
    done = subprocess.run(
        [sys.executable, __file__, "--only", which, "--draws", str(draws)], capture_output=True, text=True, check=True
    )
    timed: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return timed


def only(which: str, draws: int) -> None:
    made = table(**TABLES[which])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began, busy = time.perf_counter(), time.process_time()
    analyse(made, draws=draws)
    seconds, processor = time.perf_counter() - began, time.process_time() - busy
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    timed = {"seconds": round(seconds, 2), "processor_seconds": round(processor, 2)}
    print(json.dumps(timed | {"peak_mib": peak // 1024, "before_mib": before // 1024}))


def against_pingouin(draws: int, plain: int) -> tuple[float, float]:
    """Seconds for all permutations of one benchmark and outcome: ours, and pingouin's extrapolated from `plain`.

    Both take the same permutations, and the values are compared.
    """
    made = table(**TABLES["small"])
    x, y = average_ranks(made.scores[:, 0]), average_ranks(made.scores[:, -1])
    indicators = (made.family_codes[:, None] == np.arange(1, len(made.family_names))).astype(float)
    covariates = np.column_stack([average_ranks(made.log_size), average_ranks(made.controls.mean(axis=1)), indicators])
    began = time.perf_counter()
    basis = column_space(covariates)
    left = residuals(np.column_stack([x, y]), basis)
    null = freedman_lane(left[:, :1], left[:, 1:], basis, np.random.default_rng(0), draws)[:, 0, 0]
    ours = time.perf_counter() - began
    orders = permutations(len(x), draws, np.random.default_rng(0))[:plain]
    names = [f"z{i}" for i in range(covariates.shape[1])]
    frame = pd.DataFrame(covariates, columns=names).assign(x=x)
    fitted = y - left[:, 1]
    began = time.perf_counter()
    theirs = []
    for order in orders:
        frame["y"] = fitted + left[order, 1]
        theirs.append(pingouin.partial_corr(frame, x="x", y="y", covar=names)["r"].iloc[0])
    loop = (time.perf_counter() - began) / plain * draws
    assert correlations(left[:, :1], left[:, 1]).shape == (1,)
    np.testing.assert_allclose(null[:plain], np.array(theirs), atol=1e-8)
    return ours, loop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--plain", type=int, default=200, help="permutations of the loop over pingouin")
    parser.add_argument("--only", choices=tuple(TABLES), help=argparse.SUPPRESS)
    parser.add_argument("--small", action="store_true", help="leave the large table out")
    given = parser.parse_args()
    if given.only:
        only(given.only, given.draws)
        return
    what: dict[str, object] = {"draws": given.draws}
    for which in ("small",) if given.small else TABLES:
        what[which] = TABLES[which] | whole(which, given.draws)
        print(which, what[which], file=sys.stderr)
    ours, loop = against_pingouin(given.draws, given.plain)
    what |= {"veridical_s": round(ours, 4), "pingouin_s_extrapolated": round(loop, 1), "values_compared": given.plain}
    report("validity", what, loop / ours, "time of a loop over pingouin's partial_corr, over veridical's")


if __name__ == "__main__":
    main()
