"""What plain greedy decoding is among transformers' settings of generation, and where a stop ends a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_WITHOUT_EFFECT = frozenset(
    {"temperature", "top_p", "top_k", "min_p", "top_h", "typical_p", "epsilon_cutoff", "eta_cutoff"}
    | {"length_penalty", "early_stopping", "num_beam_groups", "diversity_penalty"}
    | {"max_gen_toks", "max_length", "max_new_tokens", "until", "eos_token_id", "bos_token_id", "pad_token_id"}
    | {"decoder_start_token_id", "use_cache", "cache_implementation", "cache_config", "return_dict_in_generate"}
    | {"return_legacy_cache", "output_attentions", "output_hidden_states", "output_scores", "output_logits"}
    | {"num_return_sequences", "generation_kwargs", "transformers_version", "_from_model_config"}
    | {"remove_invalid_values", "renormalize_logits", "prefill_chunk_size", "disable_compile", "compile_config"}
)
"""Settings that do not change which token greedy decoding without beams takes next, or that are minded elsewhere."""

_NEUTRAL_AT_ONE = frozenset({"num_beams", "repetition_penalty", "encoder_repetition_penalty", "guidance_scale"})


def is_plain_greedy(checkpoint: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether `model.generate` would take the arg max of the model's logits at every step.

    `checkpoint` are the settings that came with the model, over which `wanted` goes. A setting that is not known here
    counts as one that changes the text. `max_length` in `wanted` counts the prompt in, so it is not plain.
    """
    if wanted.get("max_length") is not None:
        return False
    settings = {**checkpoint, **wanted}
    return all(
        name in _WITHOUT_EFFECT
        or value in (None, False, 0, [], {}, ())
        or (name in _NEUTRAL_AT_ONE and value == 1)
        or (name.startswith(("assistant", "num_assistant", "prompt_lookup", "is_assistant", "target_lookbehind")))
        for name, value in settings.items()
    )


_LOOK_BACK = 2
"""Tokens more than a stop has of its own: the model may write it in other pieces, as the harness minds too."""


class StopText:
    """Whether the last of some tokens, as text, hold one of the stops."""

    def __init__(self, tokenizer: Any, stops: Sequence[str]) -> None:
        self._tokenizer = tokenizer
        self._stops = [stop for stop in stops if stop]
        lengths = [len(tokenizer(stop, add_special_tokens=False)["input_ids"]) for stop in self._stops]
        self._n_tokens = max(lengths, default=0) + _LOOK_BACK

    def __call__(self, tokens: Sequence[int]) -> bool:
        if not self._stops:
            return False
        text = self._tokenizer.decode(tokens[-self._n_tokens :])
        return any(stop in text for stop in self._stops)
