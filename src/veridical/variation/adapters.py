"""Low-rank adapters (LoRA, arXiv 2106.09685): what a frozen model learns, in a file of a hundredth of its size.

A linear layer y = W x + b becomes y = W x + b + U D x, where D is [rank, in] and U is [out, rank]. Added to W, U D
costs nothing when the model is used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import nn
from torch.nn import functional

DOWN = "down"
UP = "up"


class Adapted(nn.Module):
    """A frozen linear layer with an adapter that is being trained. U begins at zero, so nothing changes at first."""

    def __init__(self, linear: nn.Linear, rank: int) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.down = nn.Parameter(torch.empty(rank, linear.in_features))
        self.up = nn.Parameter(torch.zeros(linear.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        """The layer's output with the adapter's added; shapes are those of the frozen layer."""
        low = functional.linear(values, self.down)
        return self.linear(values) + functional.linear(low, self.up)  # type: ignore[no-any-return]


def adapt(module: nn.Module, rank: int) -> None:
    """Give every linear layer below `module` an adapter, in place."""
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Linear):
            setattr(module, name, Adapted(child, rank))
        else:
            adapt(child, rank)


def adapters(module: nn.Module) -> dict[str, torch.Tensor]:
    """What the adapters below `module` have learned, by the name of their linear layer: `NAME.down`, `NAME.up`."""
    learned = {}
    for name, child in module.named_modules():
        if isinstance(child, Adapted):
            learned[f"{name}.{DOWN}"], learned[f"{name}.{UP}"] = child.down.detach(), child.up.detach()
    return learned


@torch.no_grad()
def merge(module: nn.Module, learned: Mapping[str, torch.Tensor]) -> None:
    """Add U D to the weights of the linear layers below `module`, in place: the inverse of `adapters`.

    Raises KeyError for an adapter that lacks its other half or its layer, ValueError where they do not fit.
    """
    layers = {name: child for name, child in module.named_modules() if isinstance(child, nn.Linear)}
    for key, down in learned.items():
        name, _, half = key.rpartition(".")
        if half != DOWN:
            continue
        change = learned[f"{name}.{UP}"].float() @ down.float()
        weight = layers[name].weight
        if change.shape != weight.shape:
            raise ValueError(f"the adapter of {name} is for {tuple(change.shape)}, the layer {tuple(weight.shape)}")
        weight += change.to(weight)
