"""Each entry of a GGUF file's metadata that changes the function, and how a configuration is made to say it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

EPSILONS = ("rms_norm_eps", "layer_norm_epsilon", "layer_norm_eps", "norm_epsilon", "norm_eps")

MetadataRule = Callable[[Any, Any], bool]
"""Whether a configuration says the value of an entry, once the rule has put it there if need be."""


def whole_rope(rope: Any) -> dict[str, Any] | None:
    """The rotary parameters of layers that see everything, where kinds of layers have parameters of their own."""
    if not isinstance(rope, dict):
        return None
    inner = rope.get("full_attention", rope)
    return inner if isinstance(inner, dict) else None


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
    whole = whole_rope(getattr(config, "rope_parameters", None))
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
    whole = whole_rope(getattr(config, "rope_parameters", None))
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


RULES: dict[str, MetadataRule] = {
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
