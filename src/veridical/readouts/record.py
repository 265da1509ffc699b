"""What a run keeps of a readout in addition to its answers: `readouts/SUITE.PROMPT.json`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import polars as pl
from pydantic import ConfigDict, Field

from veridical.items import Frozen
from veridical.judge.measure import Finite, Measure

NullMeasure = Literal["balanced_accuracy", "pair_recovery"]
NULL = "labels permuted within their groups, the whole selection done again ({draws:,} draws)"
CROSSED_NULL = "labels permuted within and between sets, the whole selection done again ({draws:,} draws)"


class NullResult(Frozen):
    """One number of one readout with its null: the null's mean and its central 95 %, and p from `draws` draws.

    `observed`, `mean`, `low` and `high` are shares. The draws themselves are in the study's `nulls/*.npz`.
    """

    answerer: str
    input: str
    measure: NullMeasure
    observed: Finite
    mean: Finite
    low: Finite
    high: Finite
    p: Finite
    draws: int


class LayerResult(Frozen):
    """A readout at one layer: judged, and in validation on the fitted set (mean over folds)."""

    layer: int
    balanced_accuracy: Finite
    pair_recovery: Finite | None = None
    validation: Finite
    null_mean: Finite | None = None


class Selectivity(Frozen):
    """Balanced accuracy of the readout less that of the same readout on control labels: mean, and central 95 %.

    `n_sets` and `n_items` are those of the judged set.
    """

    real: Finite
    control: Finite
    control_low: Finite
    control_high: Finite
    draws: int
    n_sets: int = 0
    n_items: int = 0

    @property
    def value(self) -> float:
        """The readout's score less the mean score on control tasks."""
        return self.real - self.control


class ReadoutRecord(Frozen):
    """A readout of one suite under one prompt: how it was made, its nulls and its controls."""

    model_config = ConfigDict(**Frozen.model_config, populate_by_name=True, serialize_by_alias=True)

    schema_version: Annotated[Literal["veridical.readout/1"], Field(alias="schema")] = "veridical.readout/1"
    suite: str
    fitted_on: str
    prompt: str
    layer: int
    n_blocks: int
    folds: int
    seed: int
    against: Literal["loglikelihood", "generate"] = "loglikelihood"
    """The mode whose answers the readout is set against."""
    penalty: Finite | None = None
    nulls: tuple[NullResult, ...] = ()
    layers: tuple[LayerResult, ...] = ()
    best_layer: int | None = None
    nested: Finite | None = None
    selectivity: Selectivity | None = None
    representation: tuple[Representation, ...] = ()
    draws_sha256: str = ""
    """Checksum of the file in the study's `nulls` that holds the draws."""

    @property
    def null_text(self) -> str:
        """How labels were permuted, for `draws` draws."""
        return CROSSED_NULL if self.fitted_on == self.suite else NULL

    def tested(self, measure: Measure) -> Measure:
        """The measure with its permutation p, where it is one that has a null."""
        if measure.suite != self.suite or measure.prompt != self.prompt or measure.slice or measure.against is not None:
            return measure
        for null in self.nulls:
            # With sets of another kind the value is another, and its null was not drawn.
            same = measure.value is not None and abs(measure.value - null.observed) < 1e-9
            if same and (null.answerer, null.input, null.measure) == (measure.answerer, measure.input, measure.measure):
                text = self.null_text.format(draws=null.draws)
                return measure.model_copy(update={"p": null.p, "null": text, "test": "permutation"})
        return measure

    def own_measures(self, model: str) -> list[Measure]:
        """What has no responses of its own to be measured from: selectivity."""
        if self.selectivity is None:
            return []
        found = self.selectivity
        return [
            Measure(
                suite=self.suite,
                model=model,
                answerer="readout",
                prompt=self.prompt,
                mode="readout",
                measure="selectivity",
                value=found.value,
                low=found.real - found.control_high,
                high=found.real - found.control_low,
                level=0.95,
                interval=f"central 95 % of {found.draws} control tasks",
                n_sets=found.n_sets,
                n_items=found.n_items,
            )
        ]


class Representation(Frozen):
    """Mean cosine of progressive and simple past at a layer, by verb class, and how it goes with bias.

    `cosine` and `tbr` are by class. `r` is Pearson's correlation over the classes with its n and p; `rho` is Spearman's
    over items, between cosine and answering True.
    """

    layer: int
    cosine: dict[str, Finite]
    tbr: dict[str, Finite]
    r: Finite | None
    n: int
    p: Finite | None
    rho: Finite | None
    rho_n: int
    rho_p: Finite | None
    prompt: str = ""


ReadoutRecord.model_rebuild()


@dataclass(frozen=True)
class StoredReadout:
    """A readout of a run: its record, and its answers in the columns of `veridical.judge.frame.SCHEMA`."""

    record: ReadoutRecord
    answers: pl.DataFrame
