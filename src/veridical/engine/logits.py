"""Logits at the positions that are needed, and at no others.

The projection onto the vocabulary is where memory goes (a batch of 32 prompts of 200 tokens over 50,000 words is
1.3 GB). A hook picks the rows that are needed before the projection, so whatever the model does with its
logits afterwards (a scale, a soft cap) still happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from transformers import PreTrainedModel


@contextmanager
def only_rows(model: PreTrainedModel, rows: torch.Tensor) -> Iterator[None]:
    """Within this context the model's logits are [1, len(rows), vocabulary].

    `rows` are places in the flattened [batch * sequence] of hidden states.
    """
    projection = _projection(model)

    def pick(module: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        hidden = arguments[0]
        return (
            hidden.reshape(-1, hidden.shape[-1]).index_select(0, rows.to(hidden.device)).unsqueeze(0),
            *arguments[1:],
        )

    handle = projection.register_forward_pre_hook(pick)
    try:
        yield
    finally:
        handle.remove()


def target_log_probabilities(logits: torch.Tensor, rows: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """log p(tokens[i]) at logits[rows[i]], in float32: the logit less the log-sum-exp of its row.

    `logits` is [n, vocabulary]; `rows` and `tokens` are [k], and so is the result. Subtracting in float32 keeps
    apart what a half-precision log-softmax would round into ties.
    """
    rows, tokens = rows.to(logits.device), tokens.to(logits.device)
    normaliser = torch.logsumexp(logits.float(), dim=1)
    return logits[rows, tokens].float() - normaliser[rows]


def rows_that_fit(model: PreTrainedModel, memory: int = 256 * 2**20) -> int:
    """How many rows of float32 logits `memory` bytes hold."""
    vocabulary = model.config.get_text_config().vocab_size
    return max(1, memory // (4 * int(vocabulary)))


def _projection(model: PreTrainedModel) -> torch.nn.Module:
    projection = model.get_output_embeddings()  # type: ignore[no-untyped-call]
    if not isinstance(projection, torch.nn.Module):
        raise TypeError(f"{type(model).__name__} has no output embeddings to take logits from")
    return projection
