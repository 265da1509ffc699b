"""From the engine's sums of log-probabilities to the outcome of a request."""

from __future__ import annotations

import math
from collections.abc import Mapping

from veridical.models.protocol import ChoiceScore, Outcome, Request, TokenSequence
from veridical.status import Status


def bare(sequence: TokenSequence) -> TokenSequence:
    """The ids alone: what makes two sequences the same to the engine."""
    return TokenSequence(sequence.context, sequence.continuation)


def scored(request: Request, sums: Mapping[TokenSequence, float]) -> Outcome:
    """The outcome of a request whose sequences have these sums."""
    alone: list[float | None] = [sums[bare(sequence)] for sequence in request.unconditional]
    alone = alone or [None] * len(request.sequences)
    scores = tuple(
        ChoiceScore(
            sums[bare(sequence)],
            len(sequence.continuation),
            sequence.n_chars,
            sequence.n_bytes,
            unconditional,
            sequence.joined,
        )
        for sequence, unconditional in zip(request.sequences, alone, strict=True)
    )
    finite = all(math.isfinite(value) for s in scores for value in (s.total, s.unconditional or 0.0))
    return Outcome(Status.OK if finite else Status.NON_FINITE, scores)
