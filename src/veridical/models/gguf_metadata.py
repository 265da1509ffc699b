"""Whether a model says what its GGUF file says: metadata that change the function are met, or the file is refused.

transformers reads some of the metadata of each architecture and leaves the rest, so that a model without soft caps, or
with another width of rotary positions, runs in the place of the one in the file. Here every entry of the architecture
is either compared with the configuration, put into it, known to be harmless, or refused by its name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from veridical.errors import UserError
from veridical.models.gguf_rope import LEGACY_LINEAR, SCALING, TENSORS, Divisors, rope_scaling

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

EPSILONS = ("rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps")


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
        rule = _RULES.get(name)
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
    rope = getattr(config, "rope_parameters", None)
    scaled = any(name.startswith(SCALING) or name == LEGACY_LINEAR for name in header.own) or header.divisors
    if not scaled:
        return
    whole = _whole(rope)
    if whole is None:
        raise UserError(f"it scales rotary positions, which {type(config).__name__} does not have")
    base = float(header.own.get("rope.freq_base", whole.get("rope_theta", 10_000.0)))
    length = int(header.own.get("context_length", 0) or getattr(config, "max_position_embeddings", 0) or 0)
    found = rope_scaling(header.own, header.divisors, context_length=length, base=base)
    for name in [name for name in whole if name not in ("rope_theta", "partial_rotary_factor", "mrope_section")]:
        del whole[name]
    whole |= found or {"rope_type": "default"}
    if found and hasattr(config, "original_max_position_embeddings"):
        config.original_max_position_embeddings = found.get("original_max_position_embeddings", length)


def _whole(rope: Any) -> dict[str, Any] | None:
    """The rotary parameters of layers that see everything, where kinds of layers have parameters of their own."""
    if not isinstance(rope, dict):
        return None
    inner = rope.get("full_attention", rope)
    return inner if isinstance(inner, dict) else None


def _unread_elsewhere(header: Header) -> tuple[str, ...]:
    spaces = {key: key.partition(".")[0] for key in header.metadata if not key.startswith(f"{header.architecture}.")}
    for key, space in spaces.items():
        if space in OTHER_MODELS:
            raise UserError(f"its metadata has {key}, so it is not a plain language model, and cannot be loaded here")
    unread = sorted(key for key, space in spaces.items() if space not in PROVENANCE)
    return (f"its metadata has entries that nothing reads: {', '.join(unread[:6])}",) if unread else ()


MetadataRule = Callable[[Any, Any], bool]
"""Whether a configuration says the value of an entry, once the rule has put it there if need be."""


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list) or isinstance(other, list):
        return bool(one == other)
    return math.isclose(float(one), float(other), rel_tol=1e-6, abs_tol=1e-12)


def _is(*attributes: str, off: tuple[Any, ...] = ()) -> MetadataRule:
    """The first of these attributes that the configuration has is the value, or is set to it. `off` means nothing."""

    def rule(config: Any, value: Any) -> bool:
        if value in off:
            return True
        for attribute in attributes:
            current = getattr(config, attribute, None)
            if current is not None and not isinstance(value, list):
                if not _same(current, value):
                    setattr(config, attribute, type(current)(value))
                return True
        return False

    return rule


def _equals(*attributes: str, off: tuple[Any, ...] = ()) -> MetadataRule:
    """One of these attributes is the value already."""

    def rule(config: Any, value: Any) -> bool:
        found = [getattr(config, name, None) for name in attributes]
        return value in off or any(one is not None and _same(one, value) for one in found)

    return rule


def _only(*values: Any) -> MetadataRule:
    """The entry changes nothing at these values, and is not computed at others."""
    return lambda config, value: value in values


def _head_size(config: Any) -> int:
    return int(getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads)


def _key_length(config: Any, value: Any) -> bool:
    if value in (getattr(config, "global_head_dim", None), getattr(config, "d_kv", None)):
        return True
    if value != _head_size(config) and hasattr(config, "head_dim"):
        config.head_dim = int(value)
    return bool(value == _head_size(config))


def _value_length(config: Any, value: Any) -> bool:
    return value in (_head_size(config), getattr(config, "global_head_dim", None), getattr(config, "d_kv", None))


def _base(config: Any, value: Any) -> bool:
    whole = _whole(getattr(config, "rope_parameters", None))
    if whole is None:
        return False
    whole["rope_theta"] = float(value)
    return True


def _sliding_base(config: Any, value: Any) -> bool:
    inner = (getattr(config, "rope_parameters", None) or {}).get("sliding_attention")
    if not isinstance(inner, dict):
        return False
    inner["rope_theta"] = float(value)
    return True


def _rotary_width(config: Any, value: Any) -> bool:
    whole = _whole(getattr(config, "rope_parameters", None))
    if whole is None:
        return False
    if "partial_rotary_factor" in whole:
        whole["partial_rotary_factor"] = value / _head_size(config)
    rotated = round(_head_size(config) * float(whole.get("partial_rotary_factor", 1.0)))
    return value in (rotated, getattr(config, "rotary_dim", None), getattr(config, "global_head_dim", None))


def _window(config: Any, value: Any) -> bool:
    if not value or value >= (getattr(config, "max_position_embeddings", None) or math.inf):
        return True
    if getattr(config, "use_sliding_window", True) is False or not hasattr(config, "sliding_window"):
        return False
    config.sliding_window = int(value)
    return True


def _window_pattern(config: Any, value: Any) -> bool:
    kinds = [kind == "sliding_attention" for kind in getattr(config, "layer_types", None) or ()]
    every = [(n + 1) % value != 0 for n in range(len(kinds))] if isinstance(value, int) and value else []
    wanted = [bool(one) for one in value] if isinstance(value, list) else every
    return bool(kinds) and kinds == wanted[: len(kinds)]


def _attention_scale(config: Any, value: Any) -> bool:
    if not value:
        return True
    if hasattr(config, "query_pre_attn_scalar"):
        if not _same(config.query_pre_attn_scalar**-0.5, value):
            config.query_pre_attn_scalar = value**-2
        return True
    return math.isclose(value, _head_size(config) ** -0.5, rel_tol=1e-5)


def _kv_heads(config: Any, value: Any) -> bool:
    heads = getattr(config, "num_key_value_heads", None) or getattr(config, "num_kv_heads", None)
    return bool(
        (heads or config.num_attention_heads) == value or (getattr(config, "multi_query", False) and value == 1)
    )


_RULES: dict[str, MetadataRule] = {
    "attention.head_count": _equals("num_attention_heads"),
    "attention.head_count_kv": _kv_heads,
    "attention.key_length": _key_length,
    "attention.value_length": _value_length,
    "attention.key_length_swa": _equals("head_dim"),
    "attention.value_length_swa": _equals("head_dim"),
    "attention.layer_norm_rms_epsilon": _is(*EPSILONS),
    "attention.layer_norm_epsilon": _is(*EPSILONS),
    "attention.sliding_window": _window,
    "attention.sliding_window_pattern": _window_pattern,
    "attention.scale": _attention_scale,
    "attention.output_scale": _only(0, 1),
    "attention.clamp_kqv": _only(0),
    "attention.max_alibi_bias": lambda config, value: not value or config.model_type == "bloom",
    "attention.causal": _only(True),
    "attention.shared_kv_layers": _equals("num_kv_shared_layers", off=(0,)),
    "attention.relative_buckets_count": _equals("relative_attention_num_buckets"),
    "attn_logit_softcapping": _is("attn_logit_softcapping", off=(0,)),
    "final_logit_softcapping": _is("final_logit_softcapping", off=(0,)),
    "logit_scale": _only(0, 1),
    "embedding_scale": _only(0, 1),
    "residual_scale": _only(0, 1),
    "rope.freq_base": _base,
    "rope.freq_base_swa": _sliding_base,
    "rope.dimension_count": _rotary_width,
    "use_parallel_residual": _equals("use_parallel_residual", off=(False,)),
    "expert_count": _equals("num_experts", "num_local_experts", off=(0,)),
    "expert_used_count": _equals("num_experts_per_tok", off=(0,)),
    "expert_shared_count": _only(0),
    "expert_group_count": _only(0, 1),
    "expert_group_used_count": _only(0, 1),
    "expert_weights_scale": _only(0, 1),
    "expert_weights_norm": _equals("norm_topk_prob"),
    "expert_gating_func": lambda config, value: value in (0, 1) or hasattr(config, "scoring_func"),
    "leading_dense_block_count": _only(0),
    "nextn_predict_layers": _only(0),
    "decoder_start_token_id": _equals("decoder_start_token_id"),
    "decoder_block_count": _equals("num_decoder_layers"),
    "ssm.conv_kernel": _equals("conv_kernel"),
    "ssm.state_size": _equals("state_size"),
    "ssm.inner_size": _equals("intermediate_size"),
    "ssm.time_step_rank": _equals("time_step_rank"),
    "ssm.dt_b_c_rms": _only(False),
}


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
