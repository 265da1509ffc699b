"""Random requests that share prefixes, and their scores by the plainest means there is."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch
from transformers import PreTrainedModel

from veridical.models.protocol import TokenSequence


def draw(n: int, vocabulary: int, source: random.Random) -> tuple[int, ...]:
    return tuple(source.randrange(vocabulary) for _ in range(n))


def suite_like(vocabulary: int, seed: int = 0, n_sets: int = 6) -> list[TokenSequence]:
    """A system prompt, premises that begin alike, several continuations each; some requests twice."""
    source = random.Random(seed)
    system = draw(20, vocabulary, source)
    sequences: list[TokenSequence] = []
    for _ in range(n_sets):
        premise = draw(source.randint(3, 8), vocabulary, source)
        for _ in range(source.randint(1, 3)):
            context = system + premise + draw(source.randint(1, 12), vocabulary, source)
            choices = [draw(source.randint(1, 6), vocabulary, source) for _ in range(source.randint(1, 3))]
            sequences.extend(TokenSequence(context, choice) for choice in choices)
    alone = TokenSequence(draw(1, vocabulary, source), draw(30, vocabulary, source))
    return [*sequences, alone, sequences[0]]


@torch.no_grad()
def one_at_a_time(model: PreTrainedModel, sequences: Sequence[TokenSequence]) -> list[float]:
    """Every sequence on its own through the whole model, log-softmax over all logits in float64."""
    sums = []
    for sequence in sequences:
        ids = torch.tensor([[*sequence.context, *sequence.continuation]])
        log_probabilities = torch.log_softmax(model(ids).logits[0].double(), dim=-1)
        start = len(sequence.context)
        steps = range(start, start + len(sequence.continuation))
        sums.append(float(sum(log_probabilities[step - 1, ids[0, step]] for step in steps)))
    return sums


def tolerance(sequence: TokenSequence) -> float:
    return 1e-4 * max(1.0, len(sequence.continuation) / 20)
