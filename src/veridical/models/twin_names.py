"""How a twin of a model, the same but for its weights, which are random, is named."""

from __future__ import annotations

TWIN = " (random weights)"


def twin_of(model: str) -> str:
    """The name of a model's twin."""
    return model + TWIN


def is_twin(model: str) -> bool:
    """Whether a model of this name has random weights by design."""
    return model.endswith(TWIN)
