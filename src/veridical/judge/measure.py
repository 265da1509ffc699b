"""One record of what was measured: the row of `measures.json`, of `--json` and of every table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from veridical.items import Factor, Frozen
from veridical.stats.interval import Reason

# Strict JSON has no NaN: a value that cannot be estimated is null.
Finite = Annotated[float, Field(allow_inf_nan=False)]


Test = Literal["mcnemar_exact", "fisher_exact", "sign_flip", "bootstrap_inverted", "permutation"]
"""How a p-value was computed."""


class Measure(Frozen):
    """An estimate with its interval and its bounds.

    `slice` narrows the measure (`{"group": "C", "verb_class": "Creation"}`); empty means everything.
    `low` and `high` are the interval at `level` by the method that `interval` names; `bound_low` and
    `bound_high` are the least and greatest value over every label that responses which are not `ok` could
    have had. A contrast names the other side in `against` (the key fields that differ) and says whether the
    two sides saw the same sets. `p` is a p-value and `null` names its null hypothesis,
    `test` the test, and `adjusted` the method where the p is adjusted over several tests. `reason` says why there is no
    interval, `withheld` in words why there is no value; `tied` are the ends of a tie, of which the value is the upper.
    """

    suite: str
    model: str
    answerer: str = "model"
    input: str = "full"
    prompt: str
    mode: str
    measure: str
    slice: Mapping[str, Factor] = Field(default_factory=dict)
    value: Finite | None
    low: Finite | None = None
    high: Finite | None = None
    level: Finite | None = None
    interval: str | None = None
    bound_low: Finite | None = None
    bound_high: Finite | None = None
    n_sets: int = 0
    n_items: int = 0
    statuses: Mapping[str, int] = Field(default_factory=dict)
    against: Mapping[str, Factor] | None = None
    paired: bool | None = None
    p: Finite | None = None
    null: str | None = None
    reason: Reason | None = None
    withheld: str | None = None
    tied: tuple[Finite, Finite] | None = None
    test: Test | None = None
    adjusted: Literal["holm"] | None = None
