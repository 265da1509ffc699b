"""Logits of masked places, and of no others.

Besides the projection onto the vocabulary (`veridical.engine.logits`), the feed-forward layer of the last block is
needed at the masked places alone: nothing after it mixes places. In the architectures built as BERT is, that is a tenth
of a pass that need not run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import nn
from transformers import PreTrainedModel

from veridical.engine.logits import only_rows

BUILT_AS_BERT = ("BertLayer", "RobertaLayer", "XLMRobertaLayer", "CamembertLayer", "ElectraLayer", "MPNetLayer")
"""Blocks of attention, then `intermediate(x)` and `output(intermediate, x)`, which mix no places."""


@contextmanager
def only_places(model: PreTrainedModel, places: torch.Tensor) -> Iterator[None]:
    """Within this context the model's logits are [1, len(places), vocabulary].

    `places` are places in the flattened [batch * sequence].
    """

    def pick(states: torch.Tensor) -> torch.Tensor:
        return states.reshape(-1, states.shape[-1]).index_select(0, places).unsqueeze(0)

    def before_feed_forward(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        return (pick(arguments[0]),)

    def before_residual(_: nn.Module, arguments: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        inner, attended = arguments
        return inner, pick(attended)

    block = _last_block(model)
    with ExitStack() as stack:
        if block is None:
            stack.enter_context(only_rows(model, places))
        else:
            for name, hook in (("intermediate", before_feed_forward), ("output", before_residual)):
                stack.callback(block.get_submodule(name).register_forward_pre_hook(hook).remove)
        yield


def _last_block(model: PreTrainedModel) -> nn.Module | None:
    """The last block, where it is one of BERT's and runs its feed-forward layer in one piece."""
    blocks = getattr(getattr(model.base_model, "encoder", None), "layer", None)
    if not isinstance(blocks, nn.ModuleList) or getattr(model.config, "chunk_size_feed_forward", None):
        return None
    return blocks[-1] if type(blocks[-1]).__name__ in BUILT_AS_BERT else None
