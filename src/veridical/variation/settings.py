"""What the filters ask of a replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

TagEquality = Literal["fine", "coarse"]
TAG_EQUALITIES: tuple[TagEquality, ...] = get_args(TagEquality)

MAX_DROP = 3.0
"""How much a text's log-likelihood may fall under a judge, in nats: chosen by reading, see docs/variation.md."""
MIN_JOINT = 0.004
"""What P(r) must be once it is lowered by a judge's drop: chosen by reading, see docs/variation.md."""


@dataclass(frozen=True, slots=True)
class VariationSettings:
    """A replacement r of a word o is kept where P(r) > min_ratio · P(o) and P(r) >= min_probability.

    `top` candidates are asked for at each occurrence. `tag` says which tags the two words share: the fine one (NN, NNS,
    VBD, ...), which keeps the inflection, or the word class alone (`coarse`). Where a judge reads the sentences, the
    log-likelihood of none (natural log, summed over its tokens) may fall by more than `max_drop`, and P(r) times the
    factor by which the likelihood falls must reach `min_joint`: what the one model finds doubtful the other must find
    likely. `seed` draws the variants of a seed that has more than `max_variants`.
    """

    top: int = 100
    min_probability: float = 0.001
    min_ratio: float = 1.0
    tag: TagEquality = "fine"
    max_drop: float = MAX_DROP
    min_joint: float = MIN_JOINT
    max_variants: int = 20
    seed: int = 0
