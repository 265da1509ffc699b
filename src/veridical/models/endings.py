"""Where a model's text begins and ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import PreTrainedModel

from veridical.engine.seq2seq import decoder_start
from veridical.errors import UserError, excerpt
from veridical.prompts.chat import end_of_turn


def settle_start(name: str, model: PreTrainedModel) -> None:
    """Have the decoder begin with the token that the model's config names, where its generation config names none."""
    own = model.generation_config
    if own.decoder_start_token_id is None:
        own.decoder_start_token_id = getattr(model.config, "decoder_start_token_id", None)
    try:
        decoder_start(model)
    except ValueError as error:
        raise UserError(f"model {name!r}: {error}: set decoder_start_token_id in its config.json") from error


def stop_tokens(
    model: PreTrainedModel, tokenizer: Any, template_args: Mapping[str, object] | None = None
) -> frozenset[int]:
    """Tokens that end an answer: the model's and the tokenizer's end of text, and the template's end of turn.

    Raises UserError where a configuration names something else than a token's number.
    """
    ends: set[int] = set()
    configured = {
        "generation_config.json": getattr(model.generation_config, "eos_token_id", None),
        "config.json": model.config.eos_token_id,
        "the tokenizer's files": tokenizer.eos_token_id,
    }
    for place, found in configured.items():
        for token in found if isinstance(found, list | tuple) else [] if found is None else [found]:
            if not isinstance(token, int) or isinstance(token, bool) or token < 0:
                raise UserError(
                    f"model {model.name_or_path or type(model).__name__!r}: eos_token_id in {place} is "
                    f"{excerpt(repr(token), 60)}, which is not a token id: correct it, or copy the file again"
                )
            ends.add(token)
    if after := tokenizer(end_of_turn(tokenizer, template_args), add_special_tokens=False)["input_ids"]:
        added = tokenizer.added_tokens_decoder.get(after[0])
        if after[0] in tokenizer.all_special_ids or (added is not None and added.special):
            ends.add(after[0])
    return frozenset(ends)
