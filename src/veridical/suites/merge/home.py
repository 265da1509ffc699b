"""Home advantage: whether a model does better on the variants that it proposed itself."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from veridical.items import Factor
from veridical.judge.answering import Answering
from veridical.judge.estimate import SIGN_FLIP, JudgeSettings, slice_contrast
from veridical.judge.measure import Measure
from veridical.judge.quantity import Quantity
from veridical.stats.permutation import cluster_contributions, sign_flip_p
from veridical.suites.merge.seeds import SeedAnswers, all_variants, seeds_with

HOME, PROPOSER = "home_advantage", "proposer"

_SIZES = frozenset({"tiny", "mini", "small", "medium", "base", "large", "xl", "xxl", "xlarge"})


def own_proposer(model: str, proposers: Sequence[str], base: str = "") -> str | None:
    """Which of the proposers the model is, or was trained from; None where none.

    `base` is the model that it was fine-tuned from, where that is known; else it is inferred from names, where they say
    it.

    The same name, or one whose last part goes on where the proposer's ends (`bert-base-uncased-snli` from
    `bert-base-uncased`), unless it goes on with a size (`gpt2-medium` is not made from `gpt2`).
    """
    if model in proposers:
        return model
    if base and (found := own_proposer(base, proposers)):
        return found
    words = _words(model)

    def begins(proposer: str) -> bool:
        start = _words(proposer)
        rest = words[len(start) :]
        return words[: len(start)] == start and not (rest and (rest[0] in _SIZES or re.fullmatch(r"\d+[mb]", rest[0])))

    return max(filter(begins, proposers), key=lambda proposer: len(_words(proposer)), default=None)


def _words(name: str) -> list[str]:
    return [word for word in re.split(r"[^a-z0-9]+", name.rstrip("/").rsplit("/", 1)[-1].casefold()) if word]


def home_advantage(answering: Answering, settings: JudgeSettings) -> Iterator[Measure]:
    """The model's own variants less another proposer's, paired by seed: mean over seeds that have both.

    Of a seed counts the share of each proposer's variants that is right. A record for each other proposer, slice
    `{"proposer": own}` against `{"proposer": other}`, where the model is one of them (`own_proposer`).
    """
    table, variants = answering.table, all_variants(answering)
    column = table.factor(PROPOSER)[table.member_item]
    proposers = [str(value) for value in dict.fromkeys(column[variants].tolist()) if value is not None]
    model = answering.key["model"]
    asked = answering.key["answerer"] == "model"
    own = own_proposer(model, proposers, settings.bases.get(model, "")) if asked else None
    for other in proposers:
        if own is None or other == own:
            continue
        by = {name: variants & (column == name).astype(bool) for name in (own, other)}
        both = np.intersect1d(table.member_set[by[own]], table.member_set[by[other]])
        shared = np.isin(table.member_set, both)
        mine, theirs = (seeds_with(answering, by[name] & shared, {PROPOSER: name}) for name in (own, other))
        if mine is not None and theirs is not None:
            yield _less(mine, theirs, {PROPOSER: other}, settings)


def _less(mine: SeedAnswers, theirs: SeedAnswers, against: dict[str, Factor], settings: JudgeSettings) -> Measure:
    one = Quantity(mine.answering, HOME, mine.shares(), slice=mine.slice)
    other = Quantity(theirs.answering, HOME, theirs.shares(), slice=theirs.slice)
    record = slice_contrast(one, other, against, settings)
    rng = settings.generator("sign flip", sorted(mine.answering.key.items()), HOME, sorted(against.items()))
    terms = (one.plus.term(), other.plus.term(-1.0))
    p = sign_flip_p(cluster_contributions(terms), rng, settings.draws)
    return record.model_copy(update={"slice": dict(mine.slice), "p": p, "null": SIGN_FLIP, "test": "sign_flip"})
