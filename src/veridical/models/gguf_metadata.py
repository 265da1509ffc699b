"""Whether a model says what its GGUF file says: metadata that change the function are met, or the file is refused.

transformers reads some of the metadata of each architecture and leaves the rest, so that a model without soft caps, or
with another width of rotary positions, runs in the place of the one in the file. Here every entry of the architecture
is either compared with the configuration, put into it, known to be harmless, or refused by its name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from veridical.errors import UserError
from veridical.models.gguf_rope import (
    LEGACY_LINEAR,
    SCALING,
    TENSORS,
    Divisors,
    check_divisors,
    check_metadata,
    rope_scaling,
)
from veridical.models.gguf_rules import RULES, whole_rope

PROVENANCE = ("general", "tokenizer", "split", "quantize", "imatrix", "GGUF")
"""What stands before the first dot of entries that say nothing of the network."""
OTHER_MODELS = ("adapter", "clip", "diffusion", "xielu")
"""And of those that say the file holds something else, or more than a plain language model."""

SHAPES = frozenset(
    {"context_length", "embedding_length", "feed_forward_length", "block_count", "vocab_size", "pooling_type"}
    | {"tensor_data_layout", "expert_feed_forward_length", "expert_shared_feed_forward_length"}
)
"""Entries that the shapes or names of tensors repeat (these refuse a model of others), or that change no logit."""

NEW_READER = frozenset({"lfm2", "qwen35", "qwen35moe"})
"""Architectures whose metadata transformers maps one by one, and refuses where one is missing."""
_READ_THERE = frozenset(
    {"attention.head_count", "attention.head_count_kv", "attention.key_length", "attention.value_length"}
    | {"attention.layer_norm_rms_epsilon", "rope.freq_base", "rope.dimension_count", "rope.dimension_sections"}
    | {"full_attention_interval", "nextn_predict_layers", "shortconv.l_cache", "expert_count", "expert_used_count"}
    | {f"ssm.{name}" for name in ("conv_kernel", "state_size", "group_count", "time_step_rank", "inner_size")}
)


@dataclass(frozen=True, slots=True)
class Header:
    """What stands before the weights. `divisors` are the tensors of rotary frequencies; arrays of text are left out."""

    architecture: str
    metadata: Mapping[str, Any]
    tensors: tuple[str, ...]
    divisors: Divisors

    @property
    def own(self) -> dict[str, Any]:
        """The architecture's entries, by name without its prefix."""
        prefix = f"{self.architecture}."
        return {key.removeprefix(prefix): value for key, value in self.metadata.items() if key.startswith(prefix)}


def read_header(file: Path) -> Header:
    """Raises whatever the reader does where the file is damaged, UserError where it is not a model."""
    from gguf import GGUFReader, GGUFValueType

    reader = GGUFReader(file)
    text_arrays = [GGUFValueType.ARRAY, GGUFValueType.STRING]
    metadata = {key: field.contents() for key, field in reader.fields.items() if field.types[:2] != text_arrays}
    kind = metadata.get("general.type", "model")
    if kind != "model":
        raise UserError(f"general.type is {kind!r}: it holds no model")
    divisors = {
        name: np.asarray(tensor.data, dtype=np.float32).reshape(-1)
        for tensor in reader.tensors
        if (name := rope_tensor(tensor.name)) is not None
    }
    names = tuple(tensor.name for tensor in reader.tensors)
    return Header(str(metadata.get("general.architecture", "")), metadata, names, divisors)


def rope_tensor(name: str) -> str | None:
    """Which of the rotary tensors this is; a file may repeat one for every block."""
    return next((known for known in TENSORS if name == known or name.endswith(f".{known}")), None)


def settle(config: Any, header: Header) -> tuple[str, ...]:
    """Have `config` (as transformers reads it) say what the header says; gives remarks on what nothing reads.

    Raises UserError, naming the entry, where it cannot.
    """
    _settle_rope(config, header)
    if header.architecture not in NEW_READER and "attention.key_length" not in header.own:
        _settle_head_size(config)
    # What is said of a head's size comes before what is measured by it.
    for name, value in sorted(header.own.items(), key=lambda entry: entry[0] != "attention.key_length"):
        if name in SHAPES or name.startswith(SCALING) or name == LEGACY_LINEAR:
            continue
        if header.architecture in NEW_READER and name in _READ_THERE:
            continue
        rule = RULES.get(name)
        if rule is None:
            raise UserError(
                f"its metadata has {header.architecture}.{name} ({_short(value)}), which nothing here reads: the model "
                "that would run may not be the one in the file; give it in safetensors"
            )
        if not rule(config, value):
            raise UserError(
                f"its metadata has {header.architecture}.{name} ({_short(value)}), which {type(config).__name__} "
                "cannot be given: another model than that of the file would run; give it in safetensors"
            )
    return _unread_elsewhere(header)


def _settle_head_size(config: Any) -> None:
    """Heads share the width unless the file says otherwise: transformers takes the rotary width for it."""
    heads = config.num_attention_heads
    if getattr(config, "head_dim", None) is not None and isinstance(heads, int):
        config.head_dim = config.hidden_size // heads


def _settle_rope(config: Any, header: Header) -> None:
    check_metadata(header.own)
    rope = getattr(config, "rope_parameters", None)
    scaled = any(name.startswith(SCALING) or name == LEGACY_LINEAR for name in header.own) or header.divisors
    if not scaled:
        return
    whole = whole_rope(rope)
    if whole is None:
        raise UserError(f"it scales rotary positions, which {type(config).__name__} does not have")
    base = float(header.own.get("rope.freq_base", whole.get("rope_theta", 10_000.0)))
    length = int(header.own.get("context_length", 0) or getattr(config, "max_position_embeddings", 0) or 0)
    head = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    rotated = header.own.get("rope.dimension_count") or head * whole.get("partial_rotary_factor", 1)
    check_divisors(header.divisors, int(rotated))
    found = rope_scaling(header.own, header.divisors, context_length=length, base=base)
    for name in [name for name in whole if name not in ("rope_theta", "partial_rotary_factor", "mrope_section")]:
        del whole[name]
    whole |= found or {"rope_type": "default"}
    if found and hasattr(config, "original_max_position_embeddings"):
        config.original_max_position_embeddings = found.get("original_max_position_embeddings", length)


def _unread_elsewhere(header: Header) -> tuple[str, ...]:
    spaces = {key: key.partition(".")[0] for key in header.metadata if not key.startswith(f"{header.architecture}.")}
    for key, space in spaces.items():
        if space in OTHER_MODELS:
            raise UserError(f"its metadata has {key}, so it is not a plain language model, and cannot be loaded here")
    unread = sorted(key for key, space in spaces.items() if space not in PROVENANCE)
    return (f"its metadata has entries that nothing reads: {', '.join(unread[:6])}",) if unread else ()


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
