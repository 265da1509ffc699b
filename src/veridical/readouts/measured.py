"""What is measured of readouts together with everything else that answered the same questions.

Every readout is compared, paired by set, with what the model itself answers and with the baselines. Two of these
differences have a name of their own (`encoded_expressed_gap`), since they say how far a model knows what it does not
say: against its answers, and against a classifier on its option scores that was fitted on the same questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from veridical.items import Suite
from veridical.judge.answering import Answering, answerings
from veridical.judge.comparison import with_holm
from veridical.judge.estimate import JudgeSettings, contrast, estimate
from veridical.judge.generic import balanced_accuracy
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity
from veridical.judge.registry import measure_set
from veridical.judge.table import SuiteTable
from veridical.readouts.answers import MODE, OPTION_LOGITS, READOUT

GAP = "encoded_expressed_gap"
DIFFERING = ("answerer", "input", "mode")


def readout_measures(
    suite: Suite, frame: pl.DataFrame, settings: JudgeSettings, against: Mapping[tuple[str, str], str] | None = None
) -> list[Measure]:
    """Balanced accuracy of everything under a prompt that was read out, and the readout less each of the others.

    `frame` holds responses of models and of their readouts (`veridical.judge.frame.SCHEMA`). Differences are paired by
    set, with Holm's adjustment over those of one readout. `against` is the mode of the answers that the readout of a
    (model, prompt) is set against, `loglikelihood` where it is not named.
    """
    records: list[Measure] = []
    found = list(answerings(SuiteTable(suite), frame))
    readouts = [one for one in found if one.key["answerer"] == READOUT and one.key["input"] == "full"]
    for readout in readouts:
        modes = (MODE, (against or {}).get((readout.key["model"], readout.key["prompt"]), "loglikelihood"))
        others = [
            one
            for one in found
            if _same(one, readout, ("model", "prompt")) and one is not readout and one.key["mode"] in modes
        ]
        known = {quantity.measure for quantity in measure_set(suite.measures).quantities(readout, ())}
        if "balanced_accuracy" not in known:
            records += [estimate(q, settings) for one in (readout, *others) for q in balanced_accuracy(one)]
        records += with_holm(list(_differences(readout, others, settings)))
        records += list(_gaps(readout, others, settings))
    return records


def _differences(readout: Answering, others: Sequence[Answering], settings: JudgeSettings) -> Iterator[Measure]:
    for other in others:
        for mine, theirs in zip(_compared(readout), _compared(other), strict=True):
            yield contrast(mine, theirs, _against(readout, other), settings)


def _compared(answering: Answering) -> list[Quantity]:
    """Balanced accuracy, and complete pairs where the suite has them."""
    own = [q for q in measure_set(answering.table.suite.measures).compared(answering) if q.measure == "pair_recovery"]
    return [*balanced_accuracy(answering), *own]


def _gaps(readout: Answering, others: Sequence[Answering], settings: JudgeSettings) -> Iterator[Measure]:
    for other in others:
        if other.key["input"] == "full" and other.key["answerer"] in ("model", OPTION_LOGITS):
            for mine, theirs in zip(balanced_accuracy(readout), balanced_accuracy(other), strict=True):
                record = contrast(mine, theirs, _against(readout, other), settings)
                yield record.model_copy(update={"measure": GAP})


def _same(one: Answering, other: Answering, fields: Sequence[str]) -> bool:
    return all(one.key[field] == other.key[field] for field in fields)


def _against(one: Answering, other: Answering) -> dict[str, str]:
    return {field: other.key[field] for field in DIFFERING if other.key[field] != one.key[field]}
