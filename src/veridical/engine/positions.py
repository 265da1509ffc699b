"""What a model makes of positions, where that is more than one number a token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from transformers import PreTrainedModel


def turning_points(model: PreTrainedModel) -> tuple[int, ...]:
    """Lengths past which LongRoPE turns every position of a batch by other frequencies, in rising order.

    transformers looks at the largest position of the batch. So two sequences on different sides of such a length
    cannot run together, and a prefix cached below it is not a prefix of a sequence that goes past it.
    """
    config = model.config.get_text_config()
    found = {
        int(rope.get("original_max_position_embeddings") or getattr(config, "original_max_position_embeddings", 0) or 0)
        for rope in _rope_parameters(config)
        if rope.get("rope_type") == "longrope" and not _same_for_all_lengths(rope)
    }
    return tuple(sorted(found))


def _same_for_all_lengths(rope: dict[str, Any]) -> bool:
    """Whether one list of factors is given for both lengths (a GGUF file's own divisors): then nothing changes."""
    return rope.get("long_factor") is not None and rope["long_factor"] == rope.get("short_factor")


def _rope_parameters(config: Any) -> Iterator[dict[str, Any]]:
    """The rotary parameters of a configuration, one dictionary a kind of layer where these differ."""
    given = getattr(config, "rope_parameters", None)
    if isinstance(given, dict):
        yield given
        yield from (part for part in given.values() if isinstance(part, dict))
