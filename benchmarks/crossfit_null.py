"""Size and power of the permutation null of cross-fitted readouts.

    python benchmarks/crossfit_null.py

Two designs of 20 sets: every set holds all four labels (as quadruples do), and half of the sets hold one label twice
(as the activities of a suite between verbs do). Rows of a set share a random direction, so that rows are no sample of
their own. Prints how often p is at most .05 and .10 where the features know nothing of the labels, and how often it is
at most .05 where one label is moved along an axis by `--strength` standard deviations.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np

from veridical.items import Choice, Grouping, Item, Member, Suite
from veridical.prompts.template import Prompt
from veridical.readouts.crossfit import cross_fitted, from_states, permuted_labels
from veridical.readouts.rows import Rows
from veridical.readouts.selection import balanced_accuracy
from veridical.stats.permutation import permutation_p
from veridical.stats.units import Floats

LABELS = ("a", "b", "c", "d")
DESIGNS = {
    "all labels in every set": lambda number: LABELS,
    "labels differ between sets": lambda number: ("a", "a") if number % 2 else ("b", "c"),
}


def rows_of(n_sets: int, design: str) -> Rows:
    """The rows of a suite of that design."""
    items, members = [], []
    for number in range(n_sets):
        for place, gold in enumerate(DESIGNS[design](number)):
            text = f"{number} {place}"
            choices = tuple(Choice(label=label, continuation=label) for label in LABELS)
            item = Item(fields={"text": text}, choices=choices, gold=(gold,), name=text)
            items.append(item)
            members.append(Member(set=str(number), item=item.id))
    return Rows.of(
        Suite(
            name="simulated",
            version="1",
            labels=LABELS,
            measures="accuracy",
            prompts=(Prompt(name="ask", user="{{ text }}"),),
            items=tuple(items),
            groupings=(Grouping(name="sets", members=tuple(members)),),
        )
    )


def p_of(rows: Rows, states: Floats, draws: int, seed: int) -> float:
    """The p-value of one readout of these states (n, width)."""
    labels = np.vstack([rows.labels, permuted_labels(rows, draws, seed)])
    reached = balanced_accuracy(cross_fitted(rows, from_states(rows, states), labels), labels, len(rows.names))
    return permutation_p(float(reached[0]), reached[1:])


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--draws", type=int, default=39)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--width", type=int, default=4)
    parser.add_argument("--strength", type=float, default=1.5)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(argv)
    rng = np.random.default_rng(given.seed)
    for design in DESIGNS:
        rows = rows_of(given.sets, design)
        found = []
        for sample in range(given.samples):
            shared = rng.normal(size=(given.sets, given.width))[rows.group_codes]
            noise = rng.normal(size=(len(rows), given.width)) + shared
            moved = noise.copy()
            moved[:, 0] += given.strength * (rows.labels == 0)
            found.append([p_of(rows, states, given.draws, sample) for states in (noise, moved)])
        null, planted = np.array(found).T
        sizes = ", ".join(f"{(null <= alpha + 1e-9).mean():.3f} at {alpha:.2f}" for alpha in (0.05, 0.10))
        print(f"{design}: size {sizes}; power {(planted <= 0.05 + 1e-9).mean():.3f} at 0.05", flush=True)


if __name__ == "__main__":
    main()
