"""A twin of a model: the same configuration and tokenizer, with weights that are random."""

from __future__ import annotations

import copy
from typing import Any

import torch

from veridical.errors import UserError
from veridical.models.hf import HuggingFaceModel
from veridical.models.protocol import LanguageModel
from veridical.models.twin_names import twin_of


def twin(model: LanguageModel, seed: int = 0, batch_tokens: int | None = None) -> HuggingFaceModel:
    """The model with its weights initialised anew, as the architecture begins training, from `seed`.

    What a readout of its hidden states recovers is what the architecture and the text give without any training.

    Raises UserError where the model has no weights here.
    """
    if not isinstance(model, HuggingFaceModel):
        raise UserError(f"--twin: model {model.name!r} has no weights to make random: give smollm2, hf/... or gguf/...")
    given: Any = model.engine.model
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made: Any = type(given)(copy.deepcopy(given.config))
    made.generation_config = given.generation_config
    made = made.to(dtype=given.dtype, device=given.device).eval()
    return HuggingFaceModel(
        twin_of(model.name),
        made,
        model.encoder.tokenizer,
        weights=f"random, seed {seed}, of {model.fingerprint.digest}",
        batch_tokens=batch_tokens,
        template_args=model.template_args,
    )
