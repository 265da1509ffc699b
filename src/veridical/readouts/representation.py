"""How alike a model represents "was building a gazebo" and "built a gazebo", and whether that goes with bias.

The states of a verb phrase's own tokens (auxiliary, verb and complement) are averaged, and the cosine of the
progressive and the simple-past phrase of an item is taken at every layer. Means by verb class against the teleological
bias rate by class are those of arXiv 2601.09373, whose correlation is over its four telic classes; pooling over the
phrase, all layers and the rank correlation over items are Veridical's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from veridical.items import Item, Suite
from veridical.models.protocol import SpanReader
from veridical.readouts.record import Representation
from veridical.stats.units import Floats

GROUPS = ("C", "D")
"""Premises that end with the verb phrase: the ambiguous ones."""
TELIC = "C"
ACTIVITY = "Activity"


@dataclass(frozen=True, slots=True)
class Phrase:
    """A sentence and where its verb phrase is: characters [start, stop)."""

    text: str
    start: int
    stop: int


def phrases(item: Item) -> tuple[Phrase, Phrase]:
    """The progressive and the simple-past phrase of an item: what follows the subject that both sentences share.

    Raises ValueError where the two sentences begin differently.
    """
    premise, hypothesis = item.fields["premise"], item.fields["hypothesis"]
    shared = 0
    for one, other in zip(premise.split(" "), hypothesis.split(" "), strict=False):
        if one != other:
            break
        shared += len(one) + 1
    if shared == 0:
        raise ValueError(f"item {item.name!r}: premise and hypothesis have no subject in common")
    progressive, past = (Phrase(text, shared, len(text.rstrip(" ."))) for text in (premise, hypothesis))
    return progressive, past


def compared_items(suite: Suite) -> list[Item]:
    """The items whose phrases are compared."""
    return [item for item in suite.items if item.factors.get("group") in GROUPS]


def cosines(model: SpanReader, items: Sequence[Item]) -> Floats:
    """Cosine of the two phrases of each item at every layer, [items, layers]; layer 0 is the embedding."""
    found = [phrase for item in items for phrase in phrases(item)]
    states = model.read_spans(
        [one.text for one in found], [(one.start, one.stop) for one in found], range(model.n_blocks + 1)
    ).astype(np.float64)
    unit = states / np.linalg.norm(states, axis=-1, keepdims=True)
    return np.asarray((unit[0::2] * unit[1::2]).sum(-1))


def bias(frame: pl.DataFrame, suite: Suite) -> dict[str, float]:
    """Item of group C to the probability of True among its labels (softmax of the scores), where it was scored."""
    telic = {item.id for item in suite.items if item.factors.get("group") == TELIC}
    scored = frame.filter(pl.col("item").is_in(telic), pl.col("scores").is_not_null())
    found = {}
    for item, labels, scores in scored.select("item", "labels", "scores").rows():
        weights = np.exp(np.asarray(scores) - max(scores))
        if "True" in labels:
            found[item] = float(weights[labels.index("True")] / weights.sum())
    return found


def representations(suite: Suite, items: Sequence[Item], values: Floats, frame: pl.DataFrame) -> list[Representation]:
    """The analysis at every layer: `values` [items, layers] are cosines, `frame` the answers under one prompt."""
    said_true = dict(frame.select("item", pl.col("label") == "True").rows())
    leaning = bias(frame, suite)
    return [_at(layer, items, values[:, layer], said_true, leaning) for layer in range(values.shape[1])]


def _at(
    layer: int,
    items: Sequence[Item],
    values: Floats,
    said_true: Mapping[str, bool | None],
    leaning: Mapping[str, float],
) -> Representation:
    by_class: dict[str, list[float]] = {}
    biased: dict[str, list[bool]] = {}
    pairs = []
    for item, value in zip(items, values.tolist(), strict=True):
        verb_class = str(item.factors.get("verb_class", ""))
        telic = item.factors.get("group") == TELIC
        # Within a verb both phrases have its class: the atelic one is shown next to it and correlated with nothing.
        shown = verb_class if telic or verb_class == ACTIVITY else f"{verb_class}, atelic"
        by_class.setdefault(shown, []).append(value)
        if telic:
            biased.setdefault(verb_class, []).append(bool(said_true.get(item.id)))
            if item.id in leaning:
                pairs.append((value, leaning[item.id]))
    cosine = {name: float(np.mean(found)) for name, found in by_class.items()}
    tbr = {name: float(np.mean(found)) for name, found in biased.items()}
    classes = list(tbr)
    r, p = _correlated("pearsonr", [(cosine[name], tbr[name]) for name in classes])
    rho, rho_p = _correlated("spearmanr", pairs)
    return Representation(
        layer=layer, cosine=cosine, tbr=tbr, r=r, n=len(classes), p=p, rho=rho, rho_n=len(pairs), rho_p=rho_p
    )


def _correlated(name: str, pairs: Sequence[tuple[float, float]]) -> tuple[float | None, float | None]:
    """SciPy's correlation and its p; nothing where there are fewer than three pairs, or one side is constant."""
    if len(pairs) < 3:
        return None, None
    one, other = np.array(pairs).T
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return None, None
    found = getattr(stats, name)(one, other)
    return float(found.statistic), float(found.pvalue)
