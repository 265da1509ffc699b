"""What plain greedy decoding is among transformers' settings of generation, and where a stop ends a text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lm_eval.models.utils import normalize_gen_kwargs

from veridical.errors import UserError

_WITHOUT_EFFECT = frozenset(
    {"temperature", "top_p", "top_k", "min_p", "top_h", "typical_p", "epsilon_cutoff", "eta_cutoff"}
    | {"length_penalty", "early_stopping", "num_beam_groups", "diversity_penalty"}
    | {"max_gen_toks", "max_length", "until", "eos_token_id", "bos_token_id", "pad_token_id"}
    | {"decoder_start_token_id", "use_cache", "cache_implementation", "cache_config", "return_dict_in_generate"}
    | {"return_legacy_cache", "output_attentions", "output_hidden_states", "output_scores", "output_logits"}
    | {"generation_kwargs", "transformers_version", "_from_model_config"}
    | {"remove_invalid_values", "renormalize_logits", "prefill_chunk_size", "disable_compile", "compile_config"}
)
"""Settings that do not change which token greedy decoding without beams takes next, or that are minded elsewhere."""

_NEUTRAL_AT_ONE = frozenset(
    {"num_beams", "num_return_sequences", "repetition_penalty", "encoder_repetition_penalty", "guidance_scale"}
)

_NOT_FROM_A_TASK = frozenset({"max_length", "eos_token_id"})
"""Read from the checkpoint alone: from a task the one is a length with the prompt, the other ends of a text's own."""


def normalized(settings: Mapping[str, Any], limit: int) -> dict[str, Any]:
    """A task's settings as the harness reads them; `limit` counts where they have none.

    Raises UserError for a value that it cannot read.
    """
    shown = f"generation with {json.dumps(settings, sort_keys=True, default=str)[:200]}"
    try:
        wanted: dict[str, Any] = dict(normalize_gen_kwargs(dict(settings), limit))
    except (TypeError, ValueError) as error:
        raise UserError(
            f"{shown}: a value is of the wrong type; change --gen-kwargs or the task's generation_kwargs"
        ) from error
    if wanted["max_gen_toks"] < 1:
        raise UserError(f"{shown}: give max_gen_toks=N with N of 1 or more")
    if not all(isinstance(stop, str) for stop in wanted["until"]):
        raise UserError(f"{shown}: 'until' must be a text or a list of texts")
    return wanted


def is_plain_greedy(checkpoint: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether `model.generate` would take the arg max of the model's logits at every step.

    `checkpoint` are the settings that came with the model, over which `wanted` goes. A setting that is not known here
    counts as one that changes the text. So does a checkpoint's `max_new_tokens`, which transformers puts before the
    harness's limit.
    """
    if any(wanted.get(name) is not None for name in _NOT_FROM_A_TASK):
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
        self._stops = list(stops)  # an empty one is in every text: the harness ends there at the first token
        lengths = [len(tokenizer(stop, add_special_tokens=False)["input_ids"]) for stop in self._stops]
        self._n_tokens = max(lengths, default=0) + _LOOK_BACK

    def __call__(self, tokens: Sequence[int]) -> bool:
        """Whether the text of the last tokens contains a stop."""
        text = self._tokenizer.decode(tokens[-self._n_tokens :])
        return any(stop in text for stop in self._stops)
