"""Tiny GGUF files, written with the gguf package from models of transformers, as llama.cpp's converter does."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from transformers import PreTrainedModel

_NAMES = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "self_attn.qkv_proj": "attn_qkv",
    "mlp.gate_up_proj": "ffn_up",
}
_WHOLE = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def written(
    file: Path,
    model: PreTrainedModel,
    tokenizer: Any,
    architecture: str,
    metadata: Mapping[str, Any] | None = None,
    tensors: Mapping[str, np.ndarray[Any, Any] | None] | None = None,
) -> Path:
    """The model as a GGUF file. `metadata` is added, by full name; so are `tensors`, or left out where None."""
    config = model.config
    writer = gguf.GGUFWriter(file, architecture)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_block_count(config.num_hidden_layers)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    _add_tokenizer(writer, tokenizer)
    for key, value in (metadata or {}).items():
        add = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32, str: writer.add_string}
        add[type(value)](key, value)  # type: ignore[operator]
    changed = dict(tensors or {})
    for name, weight in model.state_dict().items():
        stored = _name(name)
        values = weight.float().numpy()
        if architecture == "llama" and ("attn_q." in stored or "attn_k." in stored):
            values = _interleaved(values, config.num_attention_heads if "_q." in stored else config.num_key_value_heads)
        if stored not in changed and not (name == "lm_head.weight" and config.tie_word_embeddings):
            changed[stored] = values
    for name, values in changed.items():
        if values is not None:
            writer.add_tensor(name, np.ascontiguousarray(values, dtype=np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return file


def _name(name: str) -> str:
    module, _, suffix = name.rpartition(".")
    if module in _WHOLE:
        return f"{_WHOLE[module]}.{suffix}"
    _, _, number, inner = module.split(".", 3)
    return f"blk.{number}.{_NAMES[inner]}.{suffix}"


def _interleaved(values: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """llama.cpp turns neighbours, transformers the two halves of a head: rows are laid out anew."""
    halves = values.reshape(heads, 2, values.shape[0] // heads // 2, *values.shape[1:])
    return halves.swapaxes(1, 2).reshape(values.shape)


def _add_tokenizer(writer: gguf.GGUFWriter, tokenizer: Any) -> None:
    state = json.loads(tokenizer.backend_tokenizer.to_str())
    size = len(tokenizer)
    tokens = sorted(tokenizer.get_vocab(), key=tokenizer.get_vocab().__getitem__)
    special = {entry["content"] for entry in state["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([3 if token in special else 1 for token in tokens])
    writer.add_token_merges(
        [merge if isinstance(merge, str) else " ".join(merge) for merge in state["model"]["merges"]]
    )
    writer.add_bos_token_id(tokenizer.bos_token_id)
    writer.add_eos_token_id(tokenizer.eos_token_id)
    assert len(tokens) == size


def logits(model: PreTrainedModel, length: int = 40) -> torch.Tensor:
    """Logits of the model on token ids drawn with a fixed seed, [length, vocabulary]."""
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, model.config.vocab_size, (1, length), generator=generator)
    with torch.inference_mode():
        found: torch.Tensor = model.eval()(input_ids=ids).logits[0]
    return found
