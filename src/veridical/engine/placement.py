"""On which devices a model's weights lie, and where its inputs go."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from transformers import PreTrainedModel


def input_device(model: PreTrainedModel) -> torch.device:
    """Where token ids go: the device that the model's embedding computes on.

    Weights that accelerate keeps elsewhere until they are needed are on no device (`meta`); its hook knows where they
    are brought to.
    """
    embedding = model.get_input_embeddings()
    hook = getattr(embedding, "_hf_hook", None)
    execution = getattr(hook, "execution_device", None)
    if execution is not None:
        return torch.device(execution)
    weight = getattr(embedding, "weight", None)
    if isinstance(weight, torch.Tensor) and weight.device.type != "meta":
        return weight.device
    return model.device


def places(model: PreTrainedModel) -> tuple[str, ...]:
    """The devices that the weights were mapped to (`cuda:0`, `cpu`, `disk`), sorted; one where nothing was mapped."""
    return tuple(sorted({_named(place) for place in _mapped(model)})) or (str(input_device(model)),)


def is_spread(model: PreTrainedModel) -> bool:
    """Whether a pass goes from device to device, or fetches weights on its way."""
    return len(places(model)) > 1 or "disk" in places(model)


def device_kinds(model: PreTrainedModel) -> str:
    """The kinds of device that the weights are on, for the fingerprint: `cuda`, or `cpu+cuda`."""
    return "+".join(sorted({place.partition(":")[0] for place in places(model)}))


def _mapped(model: PreTrainedModel) -> Iterable[object]:
    return (getattr(model, "hf_device_map", None) or {}).values()


def _named(place: object) -> str:
    return f"cuda:{place}" if isinstance(place, int) else str(place)
