"""From what came back for one question to an answer, or to the reason why there is none.

Scores are read by name under one normalisation; text is read by the parser. Nothing here picks a choice because
it stands first: choices that tie are `tied`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from veridical.errors import unknown
from veridical.models.protocol import ChoiceScore, FinishReason
from veridical.prompts.parsing import parse
from veridical.status import Status

TIE = 1e-6
"""Two best choices whose scores differ by no more than this (nats) tie. Our choice: below it float32 sums of
ordinary length cannot distinguish two choices."""

NO_UNCONDITIONAL = "normalisation 'unconditional' needs the unconditional scores: none were asked for"


@dataclass(frozen=True, slots=True)
class Normalisation:
    """A view over what is stored of a choice: its score, in nats (per token, character or byte)."""

    name: str
    score: Callable[[ChoiceScore], float]


def _gain(score: ChoiceScore) -> float:
    if score.unconditional is None:
        raise ValueError(NO_UNCONDITIONAL)
    return score.total - score.unconditional


NORMALISATIONS: Mapping[str, Normalisation] = {
    view.name: view
    for view in (
        Normalisation("sum", lambda score: score.total),
        Normalisation("token", lambda score: score.total / score.n_tokens),
        Normalisation("char", lambda score: score.total / score.n_chars),
        Normalisation("byte", lambda score: score.total / score.n_bytes),
        Normalisation("unconditional", _gain),
    )
}


@dataclass(frozen=True, slots=True)
class Reading:
    """What one question's outcome says. `label` is set exactly where `status` is `ok`.

    `scores` holds every choice's normalised score in the order of the labels, and is empty where one could not
    be scored. `margin` is the best score less the second (None with one choice); `label_mass` the probability
    of the choices together, from the summed log-likelihoods whatever the normalisation. (It can pass 1 where
    one continuation begins another.) Both are None where nothing was scored. `detail` says how text was read.
    """

    status: Status
    label: str | None = None
    margin: float | None = None
    label_mass: float | None = None
    scores: tuple[float, ...] = ()
    detail: str = ""


def read_scores(labels: Sequence[str], scores: Sequence[ChoiceScore], normalisation: str = "sum") -> Reading:
    """The answer of a model that scored every choice; `labels` and `scores` run in parallel.

    A choice without a token (or character) to score makes the question `empty`, one whose score is not finite
    makes it `non_finite`. Raises ValueError where the two do not run in parallel, or where the unconditional
    scores are missing, and UserError for an unknown normalisation.
    """
    if len(labels) != len(scores) or not labels:
        raise ValueError(f"{len(scores)} scores for {len(labels)} labels")
    if normalisation not in NORMALISATIONS:
        raise unknown("normalisation", normalisation, NORMALISATIONS)
    if any(min(score.n_tokens, score.n_chars, score.n_bytes) == 0 for score in scores):
        return Reading(Status.EMPTY)
    view = NORMALISATIONS[normalisation]
    values = tuple(view.score(score) for score in scores)
    if not all(map(math.isfinite, (*values, *(score.total for score in scores)))):
        return Reading(Status.NON_FINITE)
    mass = math.fsum(math.exp(min(score.total, 0.0)) for score in scores)
    if len(values) == 1:
        return Reading(Status.OK, labels[0], None, mass, values)
    best, second = sorted(values, reverse=True)[:2]
    margin = best - second
    if margin <= TIE:
        return Reading(Status.TIED, None, margin, mass, values)
    return Reading(Status.OK, labels[values.index(best)], margin, mass, values)


def read_text(
    labels: Sequence[str], text: str | None, finish: FinishReason = "stop", *, thinking_open: bool = False
) -> Reading:
    """The answer of a model that wrote text; see `veridical.prompts.parsing.parse`. No text is `empty`."""
    parsed = parse(text or "", labels, finish, thinking_open=thinking_open)
    return Reading(parsed.status, parsed.label, detail=parsed.form)
